"""Keys, and the certificates that show them: the beginning of Documentation/wire-format.md."""
import datetime
import hashlib
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from OpenSSL import crypto

PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def id_of(holder: "x509.Certificate | PrivateKey") -> bytes:
    """The SHA-256 of the SubjectPublicKeyInfo of a certificate or a key."""
    info = holder.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(info).digest()


def key_where(is_wanted) -> PrivateKey:
    """A new key whose id is wanted. Without certificates, which take a hundred times as long: beside an id that begins with
    zeros one needs thousands."""
    while True:
        key = ec.generate_private_key(ec.SECP256R1())
        if is_wanted(id_of(key)):
            return key


class Identity:
    """A key with its self-signed certificate."""

    def __init__(self, key: PrivateKey | None = None, valid_for: datetime.timedelta = datetime.timedelta(days=3_650),
                 issuer: str = "piconet", extensions: list[x509.ExtensionType] = []):
        """`extensions`: critical ones that the certificate has."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("piconet", issuer)]
        end = datetime.datetime.now(datetime.timezone.utc) + valid_for
        builder = (
            x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1]).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(end - datetime.timedelta(days=3_651)).not_valid_after(end))
        for extension in extensions:
            builder = builder.add_extension(extension, critical=True)
        self.certificate = builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
        self.id = id_of(self.certificate)
        self.openssl_key = crypto.PKey.from_cryptography_key(key)
        self.openssl_certificate = crypto.X509.from_cryptography(self.certificate)

    @property
    def fingerprint(self) -> str:
        return self.id.hex()

    @classmethod
    def below(cls, other: bytes) -> "Identity":
        """An identity with a smaller id than this."""
        return cls(key_where(lambda found: found < other))

    @classmethod
    def above(cls, other: bytes) -> "Identity":
        return cls(key_where(lambda found: found > other))

    @classmethod
    def of_state(cls, state: pathlib.Path) -> "Identity":
        """The key of the programs that use this state."""
        data = (state / "piconet/identity.pem").read_bytes()
        return cls(serialization.load_pem_private_key(data, None))
