"""The short code that two people compare: `codeReveal` in section 4 of Documentation/wire-format.md."""
import hashlib

LABEL = b"EXPORTER-piconet-short-code"


def commitment(nonce: bytes) -> bytes:
    return hashlib.sha256(b"piconet short code commitment\0" + nonce).digest()


def code(exported: bytes, first_nonce: bytes, second_nonce: bytes) -> str:
    """`first_nonce` is that of the side which committed to it."""
    digest = hashlib.sha256(b"piconet short code\0" + exported + first_nonce + second_nonce).digest()
    digits = f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06d}"
    return digits[:3] + " " + digits[3:]
