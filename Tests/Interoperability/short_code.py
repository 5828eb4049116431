"""The short code that two people compare: section 7 of Documentation/wire-format.md."""
import hashlib

LABEL = b"EXPORTER-piconet-short-code"


def commitment(nonce: bytes) -> bytes:
    return hashlib.sha256(b"piconet short code commitment\0" + nonce).digest()


def code(exported: bytes, inviter: bytes, invited: bytes, inviters_nonce: bytes, inviteds_nonce: bytes) -> str:
    """`inviter` and `invited` are ids."""
    digest = hashlib.sha256(b"piconet short code\0" + exported + inviter + invited + inviters_nonce + inviteds_nonce).digest()
    digits = f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06d}"
    return digits[:3] + " " + digits[3:]
