"""The frames of Documentation/wire-format.md, one class each, with its fields in their order."""
import dataclasses
from typing import Annotated, ClassVar, get_type_hints

import fields
from fields import (
    Address, Addresses, Counted, CountedText, Field, FormatError, Incomplete, Integer, Octets, Only, Parameters, Ports, Reader, Rest, TextRest,
    Word, Words)

OPTIONAL, SEQUENCED = 0x80, 0x40
LEAST_FRAME_LIMIT, LARGEST_BODY = 8_272, 1_048_576

Number = Annotated[int, Integer(fields.LARGEST_NUMBER)]
Count = Annotated[int, Integer()]
Reason = Annotated[int, Integer(fields.LARGEST_REASON)]
Detail = Annotated[str, TextRest(255)]
Nonce = Annotated[bytes, Octets(32)]
Share = Annotated[bytes, Octets(65)]
Confirmation = Annotated[bytes, Octets(32)]
PeerId = Annotated[bytes, Octets(32)]
Incarnation = Annotated[int, Word()]
Flag = Annotated[int, Only(0, 1)]
Channel = Annotated[int, Only(*range(1, 64))]
SomeBytes = Annotated[bytes, Rest(least=1)]


class Frame:
    TYPE: ClassVar[int]
    # Whether its body keeps to the receiver's frame limit, however small that is.
    KEEPS_TO_FRAME_LIMIT: ClassVar[bool] = False

    @classmethod
    def layout(cls) -> list[tuple[str, Field]]:
        found = cls.__dict__.get("_layout")
        if found is None:
            hints = get_type_hints(cls, include_extras=True)
            found = [(field.name, hints[field.name].__metadata__[0]) for field in dataclasses.fields(cls)]
            cls._layout = found
        return found

    @property
    def type(self) -> int:
        return self.TYPE

    @property
    def is_sequenced(self) -> bool:
        return bool(self.type & SEQUENCED)

    def body(self) -> bytes:
        return b"".join(field.write(getattr(self, name)) for name, field in self.layout())

    def encode(self) -> bytes:
        body = self.body()
        return bytes([self.type]) + fields.integer(len(body)) + body

    @classmethod
    def read(cls, reader: Reader) -> "Frame":
        frame = cls(**{name: field.read(reader) for name, field in cls.layout()})
        reader.end()
        frame.check()
        return frame

    def check(self) -> None:
        """Refuses what is wrong although each field by itself is legal."""


@dataclasses.dataclass
class Unknown(Frame):
    """A frame of a type that this version does not know, and may skip."""
    number: int
    data: bytes

    @property
    def type(self) -> int:
        return self.number

    def body(self) -> bytes:
        return self.data


BY_TYPE: dict[int, type[Frame]] = {}


def frame(number: int, keeps_to_frame_limit: bool = False):
    def register(cls):
        cls = dataclasses.dataclass(cls)
        cls.TYPE, cls.KEEPS_TO_FRAME_LIMIT = number, keeps_to_frame_limit
        BY_TYPE[number] = cls
        return cls
    return register


def header(data: bytes, frame_limit: int) -> tuple[int, int, int]:
    """The type, the place of the body and its length; refused as soon as it is too long for this receiver."""
    reader = Reader(data, is_whole=False)
    number = reader.byte()
    count = reader.integer()
    known = BY_TYPE.get(number)
    limit = frame_limit if known is not None and known.KEEPS_TO_FRAME_LIMIT else max(frame_limit, LEAST_FRAME_LIMIT)
    if count > limit:
        raise FormatError(f"a body of {count} bytes is above {limit}")
    if known is None and not number & OPTIONAL:
        raise FormatError(f"unknown required type {number:#x}")
    return number, reader.place, count


def decode(data: bytes, frame_limit: int = LARGEST_BODY) -> tuple[Frame, int]:
    """The first frame in these bytes, and how many bytes it has.
    - Raises: `Incomplete` if more has to come, `FormatError` if nothing can help."""
    number, place, count = header(data, frame_limit)
    if len(data) < place + count:
        raise Incomplete()
    body = bytes(data[place:place + count])
    known = BY_TYPE.get(number)
    found = Unknown(number, body) if known is None else known.read(Reader(body))
    return found, place + count


# The link's frames: section 4.

@frame(0x01)
class Hello(Frame):
    """`hello.py` reads and makes its parameters."""
    lowest: Annotated[int, Octets(1)]
    highest: Annotated[int, Octets(1)]
    parameters: Annotated[dict[int, bytes], Parameters()]
    rest: bytes = b""  # of a version that is not shared, unread

    VERSION: ClassVar[int] = 1

    def body(self) -> bytes:
        return bytes([self.lowest, self.highest]) + (self.rest or Parameters().write(self.parameters))

    @classmethod
    def read(cls, reader: Reader) -> "Hello":
        lowest, highest = reader.byte(), reader.byte()
        if lowest > highest:
            raise FormatError("the lowest version is above the highest")
        if not lowest <= cls.VERSION <= highest:
            return cls(lowest, highest, {}, reader.rest())
        frame = cls(lowest, highest, Parameters().read(reader))
        from hello import check
        check(frame.parameters)
        return frame


@frame(0x03)
class Associate(Frame):
    association: Annotated[bytes, Octets(16)]
    received: Count


@frame(0x04)
class Associated(Frame):
    received: Count
    begun: Count


@frame(0x05)
class Close(Frame):
    reason: Reason
    detail: Detail = ""


@frame(0x06)
class Ping(Frame):
    token: Count


@frame(0x07)
class Pong(Frame):
    token: Count


# The association's frames: sections 5 and 6.

@frame(0x08)
class Acknowledge(Frame):
    received: Count


@frame(0x09)
class MessageCredit(Frame):
    limit: Count


@frame(0x0D)
class ChannelCredit(Frame):
    channel: Channel
    limit: Count


@frame(0x8E)
class Listening(Frame):
    ports: Annotated[dict[int, int], Ports()]

    TCP: ClassVar[int] = 1


@frame(0x48, keeps_to_frame_limit=True)
class ChannelMessage(Frame):
    channel: Channel
    part: Annotated[bytes, Rest()]


@frame(0x49, keeps_to_frame_limit=True)
class ChannelFragment(Frame):
    channel: Channel
    part: SomeBytes


@frame(0x0A, keeps_to_frame_limit=True)
class UnreliableMessage(Frame):
    number: Count
    message: Annotated[bytes, Rest()]


@frame(0x40, keeps_to_frame_limit=True)
class Message(Frame):
    part: Annotated[bytes, Rest()]


@frame(0x41, keeps_to_frame_limit=True)
class Fragment(Frame):
    part: SomeBytes


# The session's frames: section 7.

@frame(0x42)
class Invite(Frame):
    timeout: Count
    terms: Count
    commitment: Nonce
    context: Annotated[bytes, Rest(most=8_192)] = b""

    COMPARES_CODES: ClassVar[int] = 1


@frame(0x43)
class Accept(Frame):
    pass


@frame(0x44)
class Decline(Frame):
    reason: Reason
    detail: Detail = ""


@frame(0x45)
class Withdraw(Frame):
    reason: Reason


@frame(0x46)
class Leave(Frame):
    reason: Reason
    detail: Detail = ""


@frame(0x47)
class Admit(Frame):
    pass


@frame(0x4A)
class InviteByCode(Frame):
    timeout: Count
    share: Share
    context: Annotated[bytes, Rest(most=8_192)] = b""


@frame(0x4B)
class CodeAnswer(Frame):
    share: Share
    confirmation: Confirmation
    left: Count


@frame(0x4C)
class CodeConfirm(Frame):
    confirmation: Confirmation


@frame(0x0B)
class CodeNonce(Frame):
    nonce: Nonce


@frame(0x0C)
class CodeReveal(Frame):
    nonce: Nonce


@frame(0x4D)
class AskToCompare(Frame):
    timeout: Count
    commitment: Nonce


@frame(0x0E)
class CompareNonce(Frame):
    nonce: Nonce


@frame(0x0F)
class CompareReveal(Frame):
    nonce: Nonce


@frame(0x4E)
class SameCode(Frame):
    pass


@frame(0x4F)
class EndComparison(Frame):
    reason: Reason
    detail: Detail


@frame(0x70)
class RemoveMember(Frame):
    peer: PeerId
    incarnation: Incarnation
    reason: Reason


@frame(0x71)
class Removed(Frame):
    peer: PeerId
    incarnation: Incarnation


@frame(0x72)
class Introduce(Frame):
    timeout: Count
    peer: PeerId
    incarnation: Incarnation
    name: Annotated[str, CountedText(127)] = ""
    addresses: Annotated[list[Address], Addresses()] = dataclasses.field(default_factory=list)


@frame(0x73)
class Introduced(Frame):
    peer: PeerId
    incarnation: Incarnation


@frame(0x74)
class IntroductionFailed(Frame):
    peer: PeerId
    incarnation: Incarnation
    reason: Reason
    detail: Detail = ""


@frame(0x75)
class WithdrawIntroduction(Frame):
    peer: PeerId
    incarnation: Incarnation
    reason: Reason


@frame(0x76)
class AskToIntroduce(Frame):
    peer: PeerId
    incarnation: Incarnation


@frame(0x77)
class GroupView(Frame):
    capacity: Annotated[int, Integer(smallest=2)]
    smallest: Annotated[int, Integer(smallest=2)]
    rank: Count
    highest: Count
    members: Annotated[list[int], Words(1_023)] = dataclasses.field(default_factory=list)

    def check(self) -> None:
        if self.highest < self.rank:
            raise FormatError("the highest rank is below the sender's")


# Frames about transfers: section 8.

@frame(0x10, keeps_to_frame_limit=True)
class Chunk(Frame):
    transfer: Number
    data: SomeBytes


@frame(0x11)
class Position(Frame):
    transfer: Number
    offset: Count


@frame(0x12)
class TransferCredit(Frame):
    transfer: Number
    stored: Count
    limit: Count

    def check(self) -> None:
        if self.stored > self.limit:
            raise FormatError("stored is above the limit")


@frame(0x13)
class End(Frame):
    transfer: Number
    size: Count
    algorithm: Annotated[int, Only(1)]
    digest: Annotated[bytes, Octets(32)]


@frame(0x50)
class Offer(Frame):
    transfer: Number
    size: Count
    name: Annotated[bytes, Counted(1_024)]
    fields: Annotated[dict[int, bytes], Parameters()] = dataclasses.field(default_factory=dict)

    MEDIA_TYPE: ClassVar[int] = 1
    MODIFIED: ClassVar[int] = 2
    METADATA: ClassVar[int] = 3
    IDENTITY: ClassVar[int] = 4
    FOLDER: ClassVar[int] = 5
    DISTANT_TIME: ClassVar[int] = 6
    GROUP: ClassVar[int] = 7

    def check(self) -> None:
        for key, most in ((self.METADATA, 4_096), (self.IDENTITY, 64), (self.FOLDER, 2_048), (self.GROUP, 512)):
            if len(self.fields.get(key, b"")) > most:
                raise FormatError(f"field {key} is above {most} bytes")
        fields.text(self.fields.get(self.MEDIA_TYPE, b""), 127)
        if len(self.fields.get(self.MODIFIED, bytes(8))) != 8:
            raise FormatError("modified is no word")
        if self.DISTANT_TIME in self.fields:
            reader = fields.Reader(self.fields[self.DISTANT_TIME])
            reader.word()
            if reader.integer() > 999_999_999:
                raise FormatError("more nanoseconds than a second has")
            reader.end()


@frame(0x51)
class AcceptOffer(Frame):
    transfer: Number
    offset: Count
    limit: Count

    def check(self) -> None:
        if self.offset > self.limit:
            raise FormatError("the offset is above the limit")


@frame(0x52)
class DeclineOffer(Frame):
    transfer: Number
    reason: Reason
    detail: Detail = ""


@frame(0x53)
class Stored(Frame):
    transfer: Number
    path: Annotated[bytes, Rest(most=4_096)]


@frame(0x54)
class Abandon(Frame):
    transfer: Number
    reason: Reason
    detail: Detail = ""


@frame(0x55)
class Refuse(Frame):
    transfer: Number
    reason: Reason
    detail: Detail = ""


@frame(0x56)
class Present(Frame):
    transfer: Number
    path: Annotated[bytes, Rest(most=4_096)]


@frame(0x57)
class Restart(Frame):
    transfer: Number
    offset: Count
    limit: Count

    def check(self) -> None:
        if self.offset > self.limit:
            raise FormatError("the offset is above the limit")


@frame(0x94)
class Comparing(Frame):
    transfer: Number
    compared: Count


@frame(0xD0)
class SenderPaused(Frame):
    transfer: Number
    is_paused: Flag


@frame(0xD1)
class ReceiverPaused(Frame):
    transfer: Number
    is_paused: Flag


# Frames about streams: section 9.

@frame(0x20)
class StreamCredit(Frame):
    stream: Number
    limit: Count


@frame(0x60)
class OpenStream(Frame):
    stream: Number
    name: Annotated[str, TextRest(1_024)] = ""


@frame(0x61, keeps_to_frame_limit=True)
class StreamData(Frame):
    stream: Number
    data: SomeBytes


@frame(0x62)
class EndStream(Frame):
    stream: Number


@frame(0x63)
class ResetStream(Frame):
    stream: Number
    reason: Reason
    detail: Detail = ""


@frame(0x64)
class StopStream(Frame):
    stream: Number
    reason: Reason
    detail: Detail = ""


@frame(0x65)
class StreamDone(Frame):
    stream: Number


# Tunnels: section 9.

Relays = Annotated[int, Only(1, 2, 3)]


@frame(0x30)
class TunnelCredit(Frame):
    tunnel: Number
    consumed: Count
    limit: Count

    def check(self) -> None:
        if self.consumed > self.limit:
            raise FormatError("consumed is above the limit")


@frame(0x78)
class OpenTunnel(Frame):
    tunnel: Number
    peer: PeerId
    incarnation: Incarnation


@frame(0x79)
class OfferTunnel(Frame):
    tunnel: Number
    peer: PeerId
    incarnation: Incarnation
    relays: Relays


@frame(0x7A)
class TunnelOpened(Frame):
    tunnel: Number
    relays: Relays


@frame(0x7B, keeps_to_frame_limit=True)
class TunnelData(Frame):
    tunnel: Number
    data: SomeBytes


@frame(0x7C)
class CloseTunnel(Frame):
    tunnel: Number
    reason: Reason
    detail: Detail = ""
