"""Streams of bytes: section 9 of Documentation/wire-format.md."""
import time

import hello
from association import Association
from frames import EndStream, OpenStream, ResetStream, StopStream, StreamCredit, StreamData, StreamDone
from link import PATIENCE
from reasons import Reason


class OutgoingStream:
    def __init__(self, association: Association, number: int = 0, name: str = ""):
        self.association, self.number = association, number
        self.sent, self.limit = 0, association.greeting.number(hello.STREAM_WINDOW)
        association.send(OpenStream(number, name))

    def is_ours(self, frame) -> bool:
        return frame.stream == self.number

    def write(self, data: bytes, patience: float = PATIENCE) -> None:
        """Writes all of it, as credit comes."""
        piece, place = self.association.greeting.number(hello.FRAME_LIMIT) - 2, 0
        while place < len(data):
            if self.sent >= self.limit:
                self.limit = max(self.limit, self.association.wait_for(StreamCredit, patience=patience, where=self.is_ours).limit)
                continue
            part = data[place:place + min(piece, self.limit - self.sent)]
            self.association.send(StreamData(self.number, part))
            self.sent += len(part)
            place += len(part)

    def end(self, patience: float = PATIENCE) -> None:
        """Sends the end, and waits until everything has been read."""
        self.association.send(EndStream(self.number))
        self.association.wait_for(StreamDone, patience=patience, where=self.is_ours)


class IncomingStream:
    def __init__(self, association: Association, patience: float = PATIENCE):
        self.association = association
        opened = association.wait_for(OpenStream, patience=patience)
        self.number, self.name = opened.stream, opened.name
        self.window = hello.whole_integer(association.node.parameters[hello.STREAM_WINDOW]) \
            if hello.STREAM_WINDOW in association.node.parameters else hello.DEFAULTS[hello.STREAM_WINDOW]
        self.taken, self.limit = 0, self.window

    def is_ours(self, frame) -> bool:
        return frame.stream == self.number

    def read(self, patience: float = PATIENCE) -> bytes | None:
        """The next bytes, or None at the end, which is acknowledged; None also if the sender gave up."""
        frame = self.association.wait_for(StreamData, EndStream, ResetStream, patience=patience, where=self.is_ours)
        if isinstance(frame, StreamData):
            self.taken += len(frame.data)
            assert self.taken <= self.limit, "more bytes than were credited"
            if self.limit - self.taken < self.window // 2:
                self.limit = self.taken + self.window
                self.association.send(StreamCredit(self.number, self.limit))
            return frame.data
        self.association.send(StreamDone(self.number) if isinstance(frame, EndStream) else StopStream(self.number, Reason.CANCELLED))
        return None

    def read_all(self, patience: float = PATIENCE) -> bytes:
        until, data = time.monotonic() + patience, bytearray()
        while (part := self.read(max(0.001, until - time.monotonic()))) is not None:
            data += part
        return bytes(data)

    def stop(self, reason: int) -> None:
        self.association.send(StopStream(self.number, reason))
