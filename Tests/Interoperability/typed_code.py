"""The proof of a typed code: section 7 of Documentation/wire-format.md, SPAKE2 of RFC 9382 over P-256."""
import hashlib
import hmac
import secrets

LABEL = b"EXPORTER-piconet-typed-code"

PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
GENERATOR = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
             0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)

# None is the point at infinity.
Point = tuple[int, int] | None


def add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % PRIME == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, PRIME)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, PRIME)
    x = (slope * slope - one[0] - other[0]) % PRIME
    return x, (slope * (one[0] - x) - one[1]) % PRIME


def multiplied(factor: int, point: Point) -> Point:
    product = None
    while factor:
        if factor & 1:
            product = add(product, point)
        point = add(point, point)
        factor >>= 1
    return product


def negative(point: Point) -> Point:
    return None if point is None else (point[0], -point[1] % PRIME)


def decompressed(text: str) -> Point:
    x = int(text[2:], 16)
    y = pow((x**3 - 3 * x + B) % PRIME, (PRIME + 1) // 4, PRIME)
    return x, y if y % 2 == int(text[:2], 16) % 2 else PRIME - y


# RFC 9382, section 6.
M = decompressed("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f")
N = decompressed("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49")


def encoded(point: Point) -> bytes:
    assert point is not None
    return b"\4" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def factor(code: str, invited: bytes) -> int:
    """w: from the code's digits, for the device with this id."""
    wide = hashlib.scrypt(code.encode(), salt=b"piconet typed code\0" + invited, n=2**14, r=8, p=1, dklen=40)
    return int.from_bytes(wide, "big") % ORDER


def decoded(data: bytes) -> Point:
    """- Raises: `AssertionError` for what is no point of the curve."""
    assert len(data) == 65 and data[0] == 4, "a share is an uncompressed point"
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    assert x < PRIME and y < PRIME and (y * y - x**3 + 3 * x - B) % PRIME == 0, "the share is on no curve of ours"
    return x, y


def names(inviter: bytes, invited: bytes) -> tuple[bytes, bytes]:
    """A and B, of these ids."""
    return b"piconet inviter\0" + inviter, b"piconet invited\0" + invited


def proof(w: int, x: int, y: int, exported: bytes, inviter: bytes, invited: bytes) -> dict[str, bytes]:
    """Every value of a proof between these ids, under its name in the document."""
    return spake2(*names(inviter, invited), w, x, y, exported)


def spake2(a: bytes, b: bytes, w: int, x: int, y: int, associated: bytes) -> dict[str, bytes]:
    ours = add(multiplied(w, M), multiplied(x, GENERATOR))
    theirs = add(multiplied(w, N), multiplied(y, GENERATOR))
    shared = multiplied(x, add(theirs, negative(multiplied(w, N))))
    assert shared == multiplied(y, add(ours, negative(multiplied(w, M))))
    return {"pA": encoded(ours), "pB": encoded(theirs), **confirmations(a, b, encoded(ours), encoded(theirs), shared, w, associated)}


def confirmations(a: bytes, b: bytes, ours: bytes, theirs: bytes, shared: Point, w: int, associated: bytes) -> dict[str, bytes]:
    """What follows from both shares, pA and pB."""
    parts = (a, b, ours, theirs, encoded(shared), w.to_bytes(32, "big"))
    transcript = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    key = hashlib.sha256(transcript).digest()[16:]
    extracted = hmac.digest(bytes(32), key, "sha256")
    keys = hmac.digest(extracted, b"ConfirmationKeys" + associated + b"\1", "sha256")
    return {"K": encoded(shared), "Ka": key, "KcA": keys[:16], "KcB": keys[16:],
            "cA": hmac.digest(keys[:16], transcript, "sha256"), "cB": hmac.digest(keys[16:], transcript, "sha256")}


class Side:
    """One side of a proof, which knows its own secret only."""

    def __init__(self, code: str, exported: bytes, inviter: bytes, invited: bytes, invites: bool):
        self.exported, self.names, self.invites = exported, names(inviter, invited), invites
        self.w = factor(code, invited)
        self.secret = 1 + secrets.randbelow(ORDER - 1)
        self.share = encoded(add(multiplied(self.w, M if invites else N), multiplied(self.secret, GENERATOR)))

    def confirmations(self, share: bytes) -> tuple[bytes, bytes]:
        """cA and cB, from the other side's share."""
        mask = N if self.invites else M
        shared = multiplied(self.secret, add(decoded(share), negative(multiplied(self.w, mask))))
        shares = (self.share, share) if self.invites else (share, self.share)
        values = confirmations(*self.names, *shares, shared, self.w, self.exported)
        return values["cA"], values["cB"]
