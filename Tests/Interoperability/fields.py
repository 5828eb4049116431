"""What the bodies of frames are made of: section 2 of Documentation/wire-format.md."""
import struct
from typing import NamedTuple

LARGEST_INTEGER = (1 << 62) - 1
LARGEST_REASON = 65_535
LARGEST_NUMBER = 16_383  # of a transfer or a stream


class FormatError(Exception):
    """Bytes that the format forbids."""


class Incomplete(Exception):
    """A frame of which more has yet to come."""


def integer(value: int) -> bytes:
    """A variable-length integer in its shortest form, the only legal one."""
    for size, bits in ((1, 6), (2, 14), (4, 30), (8, 62)):
        if value < 1 << bits:
            return (value | (size.bit_length() - 1) << (8 * size - 2)).to_bytes(size, "big")
    raise FormatError(f"{value} does not fit into 62 bits")


def word(value: int) -> bytes:
    return struct.pack(">Q", value)


class Reader:
    """Takes fields from the front of a body."""

    def __init__(self, data: bytes, is_whole: bool = True):
        """`is_whole`: whether what is missing will never come."""
        self.data, self.place, self.is_whole = data, 0, is_whole

    @property
    def left(self) -> int:
        return len(self.data) - self.place

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise FormatError(f"cut off: {count} bytes are wanted, {self.left} are left") if self.is_whole else Incomplete()
        self.place += count
        return self.data[self.place - count:self.place]

    def rest(self) -> bytes:
        return self.take(self.left)

    def byte(self) -> int:
        return self.take(1)[0]

    def word(self) -> int:
        return struct.unpack(">Q", self.take(8))[0]

    def integer(self) -> int:
        first = self.byte()
        size = 1 << (first >> 6)
        value = int.from_bytes(bytes([first & 0x3F]) + self.take(size - 1), "big")
        if len(integer(value)) != size:
            raise FormatError(f"{value} in {size} bytes is not its shortest form")
        return value

    def end(self) -> None:
        if self.left:
            raise FormatError(f"{self.left} bytes too many")


class Field:
    """How one field is written."""

    def write(self, value) -> bytes:
        raise NotImplementedError

    def read(self, reader: Reader):
        raise NotImplementedError


class Integer(Field):
    def __init__(self, largest: int = LARGEST_INTEGER, smallest: int = 0):
        self.largest, self.smallest = largest, smallest

    def write(self, value: int) -> bytes:
        return integer(value)

    def read(self, reader: Reader) -> int:
        value = reader.integer()
        if value > self.largest:
            raise FormatError(f"{value} is above {self.largest}")
        if value < self.smallest:
            raise FormatError(f"{value} is below {self.smallest}")
        return value


class Word(Field):
    def write(self, value: int) -> bytes:
        return word(value)

    def read(self, reader: Reader) -> int:
        return reader.word()


class Octets(Field):
    """A fixed number of bytes."""

    def __init__(self, count: int):
        self.count = count

    def write(self, value: bytes) -> bytes:
        return value

    def read(self, reader: Reader) -> bytes:
        return reader.take(self.count)


class Rest(Field):
    """All that is left of the body."""

    def __init__(self, least: int = 0, most: int | None = None):
        self.least, self.most = least, most

    def write(self, value: bytes) -> bytes:
        return value

    def read(self, reader: Reader) -> bytes:
        value = reader.rest()
        if len(value) < self.least or self.most is not None and len(value) > self.most:
            raise FormatError(f"{len(value)} bytes, and not {self.least} to {self.most}")
        return value


class TextRest(Field):
    """UTF-8 to the end of the body."""

    def __init__(self, most: int):
        self.most = most

    def write(self, value: str) -> bytes:
        return value.encode()

    def read(self, reader: Reader) -> str:
        return text(reader.rest(), self.most)


class Only(Field):
    """An integer with few legal values."""

    def __init__(self, *values: int):
        self.values = values

    def write(self, value: int) -> bytes:
        return integer(value)

    def read(self, reader: Reader) -> int:
        value = reader.integer()
        if value not in self.values:
            raise FormatError(f"{value} is none of {self.values}")
        return value


class Counted(Field):
    """Bytes after their length."""

    def __init__(self, most: int):
        self.most = most

    def write(self, value: bytes) -> bytes:
        return integer(len(value)) + value

    def read(self, reader: Reader) -> bytes:
        count = reader.integer()
        if count > self.most:
            raise FormatError(f"{count} bytes are above {self.most}")
        return reader.take(count)


class CountedText(Field):
    """UTF-8 after its length."""

    def __init__(self, most: int):
        self.bytes = Counted(most)

    def write(self, value: str) -> bytes:
        return self.bytes.write(value.encode())

    def read(self, reader: Reader) -> str:
        value = self.bytes.read(reader)
        return text(value, len(value))


class Address(NamedTuple):
    """Where a node may be dialled, as somebody else says it."""
    transport: int
    host: bytes
    port: int

    @property
    def is_known(self) -> bool:
        """False for those that a receiver skips."""
        return len(self.host) in {1: (4, 16), 2: (6,), 3: (6,), 4: (6,)}.get(self.transport, ())


OVER_INTRODUCER = Address(5, b"", 1)  # in place of an address: the sender passes tunnels on


class Addresses(Field):
    """All that is left: addresses, those that a receiver skips among them."""

    host = Counted(16)
    most = 8

    def write(self, value: list[Address]) -> bytes:
        return b"".join(bytes([one.transport]) + self.host.write(one.host) + integer(one.port) for one in value)

    def read(self, reader: Reader) -> list[Address]:
        found = []
        while reader.left:
            one = Address(reader.byte(), self.host.read(reader), reader.integer())
            if not 1 <= one.port <= 65_535:
                raise FormatError(f"port {one.port}")
            found.append(one)
        if len(found) > self.most:
            raise FormatError(f"{len(found)} addresses are above {self.most}")
        return found


class Ports(Field):
    """All that is left: pairs of a transport and a port, in the order of the transports."""

    def write(self, value: dict[int, int]) -> bytes:
        return b"".join(bytes([transport]) + integer(port) for transport, port in sorted(value.items()))

    def read(self, reader: Reader) -> dict[int, int]:
        ports: dict[int, int] = {}
        while reader.left:
            transport, port = reader.byte(), reader.integer()
            if ports and transport <= max(ports):
                raise FormatError("transports out of order")
            if not 1 <= port <= 65_535:
                raise FormatError(f"port {port}")
            ports[transport] = port
        if len(ports) > 8:
            raise FormatError("more than 8 ports")
        return ports


class Words(Field):
    """All that is left: words in strictly ascending order."""

    def __init__(self, most: int):
        self.most = most

    def write(self, value: list[int]) -> bytes:
        return b"".join(word(item) for item in value)

    def read(self, reader: Reader) -> list[int]:
        words: list[int] = []
        while reader.left:
            words.append(reader.word())
        if any(first >= second for first, second in zip(words, words[1:])):
            raise FormatError("words out of order")
        if len(words) > self.most:
            raise FormatError(f"more than {self.most} words")
        return words


class Parameters(Field):
    """Numbered values to the end of a hello or an offer, in ascending order; unknown ones are skipped."""

    most = 64

    def write(self, value: dict[int, bytes]) -> bytes:
        return b"".join(integer(key) + integer(len(value[key])) + value[key] for key in sorted(value))

    def read(self, reader: Reader) -> dict[int, bytes]:
        values: dict[int, bytes] = {}
        while reader.left:
            key = reader.integer()
            if values and key <= max(values):
                raise FormatError(f"parameter {key} is out of its order")
            values[key] = reader.take(reader.integer())
        if len(values) > self.most:
            raise FormatError(f"{len(values)} parameters are above {self.most}")
        return values


def text(data: bytes, most: int) -> str:
    if len(data) > most:
        raise FormatError(f"a text of {len(data)} bytes is above {most}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError("a text is not UTF-8") from error
