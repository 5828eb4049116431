"""Resources, sent and received: section 8 of Documentation/wire-format.md."""
import collections
import dataclasses
import hashlib
import time

import hello
from association import Association
from frames import (
    Abandon, AcceptOffer, Chunk, DeclineOffer, End, Offer, Position, Present, Refuse, Restart, Stored, TransferCredit)
from link import PATIENCE
from reasons import Reason


@dataclasses.dataclass
class Outcome:
    """How an offer of ours ended."""
    path: bytes | None = None  # where it is now
    was_present: bool = False  # and was before
    reason: int | None = None
    detail: str = ""
    offset: int = 0  # where the receiver began

    @property
    def is_stored(self) -> bool:
        return self.path is not None and not self.was_present


class Outgoing:
    """One resource that we offer."""

    def __init__(self, association: Association, data: bytes, name: str | bytes, number: int = 0, identity: bytes | None = None,
                 media_type: str = "image/jpeg", size: int | None = None, folder: str | bytes | None = None):
        self.association, self.data, self.number = association, data, number
        self.size = len(data) if size is None else size
        fields = {Offer.MEDIA_TYPE: media_type.encode()}
        if identity is not None:
            fields[Offer.IDENTITY] = identity
        if folder is not None:
            fields[Offer.FOLDER] = folder.encode() if isinstance(folder, str) else folder
        self.offer = Offer(number, self.size, name.encode() if isinstance(name, str) else name, fields)
        self.place = self.limit = self.offset = 0
        self.has_restarted = False

    def is_ours(self, frame) -> bool:
        return frame.transfer == self.number

    def start(self, patience: float = PATIENCE) -> Outcome | None:
        """Makes the offer, and returns an outcome if the answer is one."""
        self.association.send(self.offer)
        answer = self.association.wait_for(AcceptOffer, DeclineOffer, patience=patience, where=self.is_ours)
        if isinstance(answer, DeclineOffer):
            return Outcome(reason=answer.reason, detail=answer.detail)
        self.place = self.offset = answer.offset
        self.limit = answer.limit
        return None

    def send_until(self, stop: int, patience: float = PATIENCE) -> Outcome | None:
        """Sends chunks up to this offset, as credit allows."""
        piece = self.association.greeting.number(hello.FRAME_LIMIT) - 2
        while self.place < stop:
            if self.place >= self.limit:
                outcome = self.news(patience)
                if outcome is not None:
                    return outcome
                continue
            end = min(stop, self.limit, self.place + piece)
            self.association.send(Chunk(self.number, self.data[self.place:end]), patience=patience)
            self.place = end
        return None

    def news(self, patience: float = PATIENCE) -> Outcome | None:
        """Waits for what the receiver says next about this transfer."""
        frame = self.association.wait_for(TransferCredit, Stored, Present, Restart, Refuse, patience=patience, where=self.is_ours)
        if isinstance(frame, TransferCredit):
            self.limit = max(self.limit, frame.limit)
            return None
        if isinstance(frame, Restart):
            assert self.place == self.offset == self.size, "restart, and not all of it had been skipped"
            self.place, self.limit, self.has_restarted = frame.offset, frame.limit, True
            return None
        if isinstance(frame, (Stored, Present)):
            return Outcome(path=frame.path, was_present=isinstance(frame, Present), offset=self.offset)
        self.association.send(Abandon(self.number, Reason.CANCELLED))
        return Outcome(reason=frame.reason, detail=frame.detail, offset=self.offset)

    def finish(self, patience: float = PATIENCE, digest: bytes | None = None) -> Outcome:
        """Sends all that is left and its digest, and returns what the receiver says to that."""
        until = time.monotonic() + patience
        while True:
            outcome = self.send_until(len(self.data), patience)
            if outcome is None:
                self.association.send(End(self.number, len(self.data), 1, digest or hashlib.sha256(self.data).digest()))
            while outcome is None and self.place == len(self.data):
                outcome = self.news(max(0.001, until - time.monotonic()))
            if outcome is not None:
                return outcome

    def go_on(self) -> None:
        """Goes on after a resume, from what the receiver has stored."""
        credit = self.association.wait_for(TransferCredit, where=self.is_ours)
        self.place, self.limit = credit.stored, credit.limit
        self.association.send(Position(self.number, self.place))


def send(association: Association, data: bytes, name: str | bytes, **options) -> Outcome:
    outgoing = Outgoing(association, data, name, **options)
    return outgoing.start() or outgoing.finish()


class Incoming:
    """One resource that we are offered."""

    CREDIT = 1 << 20

    def __init__(self, association: Association, patience: float = PATIENCE):
        self.association = association
        self.offer: Offer = association.wait_for(Offer, patience=patience)
        self.number, self.size, self.offset = self.offer.transfer, self.offer.size, 0
        self.data = bytearray()
        self.limit = 0
        self.end: End | None = None

    def is_ours(self, frame) -> bool:
        return frame.transfer == self.number

    @property
    def identity(self) -> bytes | None:
        return self.offer.fields.get(Offer.IDENTITY)

    def decline(self, reason: int) -> None:
        self.association.send(DeclineOffer(self.number, reason))

    def accept(self, have: bytes = b"", credit: int | None = None) -> None:
        """`have`: what we have of it already."""
        self.data = bytearray(have)
        self.offset = len(have)
        self.limit = min(self.size, self.offset + (self.CREDIT if credit is None else credit))
        self.association.send(AcceptOffer(self.number, self.offset, self.limit))

    def go_on(self) -> None:
        """After a resume: from what we have."""
        self.association.send(TransferCredit(self.number, len(self.data), self.limit))
        position = self.association.wait_for(Position, where=self.is_ours)
        assert position.offset <= len(self.data), position
        # What came before it came over the former link.
        self.association.inbox = collections.deque(
            frame for frame in self.association.inbox if not (isinstance(frame, Chunk) and self.is_ours(frame)))
        del self.data[position.offset:]

    def read_until(self, stop: int, patience: float = PATIENCE) -> bool:
        """Reads chunks until there are so many bytes. False if the sender gave up."""
        while len(self.data) < stop:
            frame = self.association.wait_for(Chunk, Abandon, patience=patience, where=self.is_ours)
            if isinstance(frame, Abandon):
                self.association.send(Refuse(self.number, Reason.CANCELLED))
                return False
            self.data += frame.data
            assert len(self.data) <= self.limit, "more bytes than were credited"
            if self.limit < self.size and self.limit - len(self.data) < self.CREDIT // 2:
                self.limit = min(self.size, len(self.data) + self.CREDIT)
                self.association.send(TransferCredit(self.number, len(self.data), self.limit))
        return True

    def finish(self, patience: float = PATIENCE) -> bytes | None:
        """The whole resource, verified and answered with `stored` or `present`; None if the sender gave up."""
        while True:
            if not self.read_until(self.size, patience):
                return None
            self.end = self.association.wait_for(End, patience=patience, where=self.is_ours)
            assert self.end.size == self.size == len(self.data), (self.end.size, self.size, len(self.data))
            is_same = self.end.digest == hashlib.sha256(self.data).digest()
            had_all = 0 < self.size == self.offset
            if is_same:
                self.association.send((Present if had_all else Stored)(self.number, self.offer.name))
                return bytes(self.data)
            if not had_all:
                self.association.send(Refuse(self.number, Reason.DIGEST_MISMATCH))
                return None
            # What we had was another resource: we need all of it again.
            self.data.clear()
            self.offset, self.limit = 0, min(self.size, self.CREDIT)
            self.association.send(Restart(self.number, 0, self.limit))
