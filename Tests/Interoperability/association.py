"""What two peers share beyond a link: sections 5 to 7 of Documentation/wire-format.md."""
import collections
import os
import time

import hello
import short_code
from fields import integer
from frames import (
    Accept, Acknowledge, Admit, Associate, Associated, CodeNonce, CodeReveal, Decline, Fragment, Frame, Invite, Leave, Listening, Message,
    MessageCredit, Ping, Pong)
from link import PATIENCE, Link, LinkEnded, Node
from reasons import Reason

# Sent before the format asks for it.
ACKNOWLEDGE_AFTER = 16
MESSAGE_COST = 32


class Forgotten(AssertionError):
    """The other side has ended the association for which we have come back."""


class Association:
    """Sequence numbers, credit and membership, seen from one side.

    Frames are handed out in their order; `wait_for` keeps those that it was not asked for."""

    def __init__(self, link: Link, acknowledges: bool = True):
        """Begins a new association on the link: at once as the smaller node, otherwise when the other side does."""
        self.link, self.node, self.peer = link, link.node, link.peer
        self.greeting = link.greeting
        self.acknowledges = acknowledges
        self.inbox: collections.deque[Frame] = collections.deque()
        self.kept: collections.deque[Frame] = collections.deque()  # sent and not acknowledged
        self.sent = self.acknowledged = 0
        self.received = self.told = 0
        self.spent, self.credit = 0, self.greeting.number(hello.MESSAGE_WINDOW)
        self.window = hello.whole_integer(self.node.parameters.get(hello.MESSAGE_WINDOW, integer(hello.DEFAULTS[hello.MESSAGE_WINDOW])))
        self.taken, self.given = 0, self.window
        self.is_member = False
        # Where the other side listens, by transport; None until it has said so.
        self.listening: dict[int, int] | None = None
        # Of the invitation that is open: our nonce where we invite, and the code once both nonces are known.
        self.nonce = b""
        self.code: str | None = None
        self.begin()

    # Links

    def begin(self) -> None:
        begun = self.node.begun.get(self.peer, 0) + 1
        if self.link.is_smaller:
            self.name = os.urandom(16)
            self.link.send(Associate(self.name, 0))
            answer = self.link_expect(Associated)
            assert answer.received == 0, answer
        else:
            asked = self.link_expect(Associate)
            if asked.received:
                self.link.close(Reason.NO_SUCH_ASSOCIATION)
                raise LinkEnded(Reason.NO_SUCH_ASSOCIATION, f"there is no association here for {asked}")
            self.name = asked.association
            self.link.send(Associated(0, begun))
        self.node.begun[self.peer] = begun
        self.begun = begun

    def held(self) -> dict[int, bytes]:
        """What a hello says that comes for this association."""
        return {hello.HELD: self.name + integer(self.received), hello.BEGUN: integer(self.begun)}

    def resume(self, link: Link) -> None:
        """Goes on over another link, on which our hello has named this association."""
        self.link = link
        if link.is_smaller:
            link.send(Associate(self.name, self.received))
            there = self.link_expect(Associated).received
        else:
            asked = self.link_expect(Associate)
            if asked.association != self.name:
                raise Forgotten(f"it begins another association: {asked}")
            there = asked.received
            link.send(Associated(self.received, self.begun))
        assert self.acknowledged <= there <= self.sent, (self.acknowledged, there, self.sent)
        self.drop_kept(there)
        link.send(*self.kept, MessageCredit(self.given))

    def link_expect(self, kind: type):
        while True:
            found = self.link.receive()
            if isinstance(found, Ping):
                self.link.send(Pong(found.token))
            elif isinstance(found, kind):
                return found
            else:
                raise AssertionError(f"{kind.__name__} was expected, and {found} came")

    def drop_kept(self, received: int) -> None:
        assert received <= self.sent, f"{received} frames are acknowledged of {self.sent}"
        while self.acknowledged < received:
            self.kept.popleft()
            self.acknowledged += 1

    # Frames

    def send(self, *many: Frame, patience: float = PATIENCE) -> None:
        for frame in many:
            if frame.is_sequenced:
                self.sent += 1
                self.kept.append(frame)
        self.link.send(*many, patience=patience)

    def receive(self, patience: float = PATIENCE) -> Frame:
        """The next frame that concerns a test; credit, acknowledgements and pings are dealt with."""
        if self.inbox:
            return self.inbox.popleft()
        return self.next_frame(patience)

    def next_frame(self, patience: float) -> Frame:
        until = time.monotonic() + patience
        while True:
            found = self.link.receive(max(0.001, until - time.monotonic()))
            if not self.sees_to(found):
                return found

    def sees_to(self, found: Frame) -> bool:
        """True if the frame is dealt with here, and concerns nobody else."""
        if found.is_sequenced:
            self.count(found)
        if isinstance(found, Ping):
            self.link.send(Pong(found.token))
        elif isinstance(found, Acknowledge):
            self.drop_kept(found.received)
        elif isinstance(found, CodeNonce):
            # It says that the question is on the screen there.
            self.link.send(CodeReveal(self.nonce))
            self.code = self.code_of(self.node.identity.id, self.peer, self.nonce, found.nonce)
        elif isinstance(found, Listening):
            self.listening = found.ports
        elif isinstance(found, MessageCredit):
            self.credit = max(self.credit, found.limit)
        else:
            return False
        return True

    def count(self, frame: Frame) -> None:
        self.received += 1
        if isinstance(frame, (Message, Fragment)):
            self.taken += len(frame.part) + (MESSAGE_COST if isinstance(frame, Message) else 0)
            assert self.taken <= self.given, "more messages than were credited"
            if self.acknowledges and self.given - self.taken < self.window // 2:
                self.given = self.taken + self.window
                self.link.send(MessageCredit(self.given))
        if self.acknowledges and (self.received - self.told >= ACKNOWLEDGE_AFTER or len(frame.body()) > 4_096):
            self.acknowledge()

    def acknowledge(self) -> None:
        self.told = self.received
        self.link.send(Acknowledge(self.received))

    def wait_for(self, *kinds: type, patience: float = PATIENCE, where=lambda frame: True):
        """The first frame of these kinds; the others stay for `receive`."""
        for found in self.inbox:
            if isinstance(found, kinds) and where(found):
                self.inbox.remove(found)
                return found
        until = time.monotonic() + patience
        while True:
            found = self.next_frame(max(0.001, until - time.monotonic()))
            if isinstance(found, kinds) and where(found):
                return found
            if isinstance(found, Leave):
                raise AssertionError(f"{kinds} was waited for, and {found} came")
            self.inbox.append(found)

    def settle(self, patience: float = PATIENCE) -> None:
        """Makes a round trip; what else comes meanwhile is in `inbox`."""
        self.link.send(Ping(11))
        self.wait_for(Pong, patience=patience)

    # Messages

    def send_message(self, message: bytes, piece: int | None = None) -> None:
        """Sends it in fragments if the other side's frame limit, or `piece`, requires that; waits for credit."""
        piece = piece or self.greeting.number(hello.FRAME_LIMIT)
        parts = [message[place:place + piece] for place in range(0, len(message), piece)] or [b""]
        for index, part in enumerate(parts):
            is_last = index == len(parts) - 1
            cost = len(part) + (MESSAGE_COST if is_last else 0)
            until = time.monotonic() + PATIENCE
            while self.spent + cost > self.credit:
                found = self.link.receive(max(0.001, until - time.monotonic()))
                if not self.sees_to(found):
                    self.inbox.append(found)
            self.spent += cost
            self.send(Message(part) if is_last else Fragment(part))

    def receive_message(self, patience: float = PATIENCE) -> bytes:
        parts = []
        while True:
            found = self.wait_for(Message, Fragment, patience=patience)
            parts.append(found.part)
            if isinstance(found, Message):
                return b"".join(parts)

    # Membership

    def code_of(self, inviter: bytes, invited: bytes, inviters_nonce: bytes, inviteds_nonce: bytes) -> str:
        exported = self.link.channel.exported(short_code.LABEL, 32)
        return short_code.code(exported, inviter, invited, inviters_nonce, inviteds_nonce)

    def invitation(self, timeout: int = 60_000, context: bytes = b"", terms: int = 0) -> Invite:
        """An invitation with a commitment of its own; the nonce that answers it is dealt with as it comes."""
        self.nonce, self.code = os.urandom(32), None
        return Invite(timeout, terms, short_code.commitment(self.nonce), context)

    def invite(self, context: bytes = b"", timeout: int = 10_000, patience: float = PATIENCE) -> Frame:
        """Invites, and returns the answer."""
        self.send(self.invitation(timeout, context))
        answer = self.wait_for(Accept, Decline, patience=patience)
        if isinstance(answer, Accept):
            self.admit()
        return answer

    def get_in(self, patience: float = PATIENCE) -> None:
        """Waits until our invitation is accepted, and becomes a member."""
        self.wait_for(Accept, patience=patience)
        self.admit()

    def admit(self) -> None:
        self.send(Admit())
        self.is_member = True

    def let_in(self, patience: float = PATIENCE) -> Invite:
        """Waits for an invitation, learns the code, and accepts it."""
        invitation = self.wait_for(Invite, patience=patience)
        self.ask(invitation, patience)
        self.accept(patience)
        return invitation

    def accept(self, patience: float = PATIENCE) -> None:
        """Accepts, and waits until the other side admits us."""
        self.send(Accept())
        self.wait_for(Admit, patience=patience)
        self.is_member = True

    def ask(self, invitation: Invite, patience: float = PATIENCE) -> None:
        """Acts as if its question were on a screen here: gives our nonce for the inviter's, and computes the code."""
        own = os.urandom(32)
        self.link.send(CodeNonce(own))
        reveal = self.wait_for(CodeReveal, patience=patience)
        assert short_code.commitment(reveal.nonce) == invitation.commitment, "the reveal does not fit the commitment"
        self.code = self.code_of(self.peer, self.node.identity.id, reveal.nonce, own)

    def leave(self, reason: int = Reason.LEFT) -> None:
        """Says goodbye and waits for the other side to close the link."""
        self.send(Leave(reason))
        self.link.end()
        self.link.drop()

    def see_off(self, patience: float = PATIENCE) -> None:
        """Waits for the other side's goodbye, and closes the link, as its receiver must."""
        self.wait_for(Leave, patience=patience)
        self.link.close()


def joined(address: tuple[str, int], node: Node | None = None, acknowledges: bool = True, **options) -> Association:
    """Dials, begins an association, and becomes a member.
    - Raises: `AssertionError` if the invitation is declined."""
    association = Association(Link.dial(address, node or Node(), **options), acknowledges)
    answer = association.invite()
    assert association.is_member, answer
    return association


def resumed(association: Association, address: tuple[str, int]) -> None:
    """Dials again for this association and goes on with it, once the other side has missed the former link."""
    node = association.node
    before = dict(node.parameters)
    try:
        node.parameters = {**before, **association.held()}
        link = Link.dial(address, node)
    finally:
        node.parameters = before
    association.resume(link)
