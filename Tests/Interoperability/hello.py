"""The hello's parameters: section 4 of Documentation/wire-format.md."""
import dataclasses

import fields
from fields import FormatError, Reader
from frames import Hello

SESSION_ID, NAME, INCARNATION, CAPABILITIES, MESSAGE_LIMIT, FRAME_LIMIT, MESSAGE_WINDOW, TRANSFER_LIMIT, SILENCE, BEGUN, HELD = range(1, 12)
STREAM_LIMIT, STREAM_WINDOW, GREETING, CHANNELS, CHANNEL_WINDOW = range(14, 19)
RESUME, STREAMS, RELAY, REMOVAL, TYPED_CODES, INTRODUCTIONS, GROUP, TUNNELS, COMPARISONS = 1, 2, 4, 8, 16, 32, 64, 128, 256
DEFAULTS = {CAPABILITIES: 0, MESSAGE_LIMIT: 97_280, FRAME_LIMIT: 16_381, MESSAGE_WINDOW: 1_048_576, TRANSFER_LIMIT: 64, SILENCE: 20_000,
            BEGUN: 0, STREAM_LIMIT: 64, STREAM_WINDOW: 65_536, CHANNELS: 1, CHANNEL_WINDOW: 65_536}


def whole_integer(data: bytes) -> int:
    reader = Reader(data)
    value = reader.integer()
    reader.end()
    return value


def check(parameters: dict[int, bytes]) -> None:
    """Refuses what a hello of version 1 must not say."""
    for key in (SESSION_ID, NAME):
        if key not in parameters:
            raise FormatError(f"parameter {key} is missing")
        fields.text(parameters[key], 127)
    if len(parameters.get(INCARNATION, b"")) != 8:
        raise FormatError("the incarnation is missing")
    values = {key: whole_integer(parameters[key]) for key in DEFAULTS if key in parameters}
    if values.get(FRAME_LIMIT, 1_024) < 1_024:
        raise FormatError("the frame limit is below 1,024")
    if not 1_000 <= values.get(SILENCE, 1_000) <= 86_400_000:
        raise FormatError("the silence is out of its range")
    if not 1 <= values.get(CHANNELS, 1) <= 64:
        raise FormatError("the number of channels is out of its range")
    if values.get(CHANNEL_WINDOW, 1_024) < 1_024:
        raise FormatError("the channel window is below 1,024")
    if len(parameters.get(GREETING, b"")) > 1_024:
        raise FormatError("the greeting is longer than 1,024 bytes")
    if HELD in parameters:
        reader = Reader(parameters[HELD])
        reader.take(16)
        reader.integer()
        reader.end()


@dataclasses.dataclass
class Greeting:
    """A hello as its reader understands it."""
    parameters: dict[int, bytes]

    def __init__(self, hello: Hello):
        self.parameters = hello.parameters

    def number(self, key: int) -> int:
        return whole_integer(self.parameters[key]) if key in self.parameters else DEFAULTS[key]

    @property
    def session_id(self) -> str:
        return self.parameters[SESSION_ID].decode()

    @property
    def name(self) -> str:
        return self.parameters[NAME].decode()

    @property
    def incarnation(self) -> int:
        return int.from_bytes(self.parameters[INCARNATION], "big")

    @property
    def held(self) -> tuple[bytes, int] | None:
        if HELD not in self.parameters:
            return None
        reader = Reader(self.parameters[HELD])
        return reader.take(16), reader.integer()
