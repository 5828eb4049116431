"""Compact record headers: section 1 of Documentation/wire-format.md. This stands between OpenSSL and the socket."""
APPLICATION_DATA = b"\x17\x03\x03"


class RecordError(Exception):
    """Not a record of TLS, or a compact header where none is legal."""


class Records:
    """Takes bytes apart into records, each with a TLS header."""

    def __init__(self):
        self.waiting = bytearray()
        self.compact_headers = 0

    def take(self, data: bytes, compact_is_legal: bool) -> bytes:
        self.waiting += data
        whole = bytearray()
        while self.waiting:
            if self.waiting[0] & 0x80:
                if not compact_is_legal:
                    raise RecordError("a compact header on a link that has not agreed to them")
                if len(self.waiting) < 2:
                    break
                head, count = 2, int.from_bytes(self.waiting[:2], "big") & 0x7FFF
                start = APPLICATION_DATA + count.to_bytes(2, "big")
            else:
                if len(self.waiting) < 5:
                    break
                head, count = 5, int.from_bytes(self.waiting[3:5], "big")
                start = bytes(self.waiting[:5])
            if len(self.waiting) < head + count:
                break
            self.compact_headers += head == 2
            whole += start + self.waiting[head:head + count]
            del self.waiting[:head + count]
        return bytes(whole)


def compacted(data: bytes) -> bytes:
    """Gives these whole records compact headers."""
    short, place = bytearray(), 0
    while place < len(data):
        count = int.from_bytes(data[place + 3:place + 5], "big")
        if data[place:place + 3] == APPLICATION_DATA:
            short += (0x8000 | count).to_bytes(2, "big")
        else:
            short += data[place:place + 5]
        short += data[place + 5:place + 5 + count]
        place += 5 + count
    return bytes(short)
