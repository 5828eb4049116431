"""A relay: introductions and tunnels, sections 7 and 9 of Documentation/wire-format.md. It is honest, but for what a test has it do
with the bytes that pass."""
import contextlib
import dataclasses
import select
import socket
import time

import hello
import mdns
import namespace
from association import Association
from fields import OVER_INTRODUCER
from frames import (
    Accept, Admit, CloseTunnel, Frame, Introduce, Introduced, IntroductionFailed, Invite, Leave, OfferTunnel, OpenTunnel, Pong, TunnelCredit,
    TunnelData, TunnelOpened, Withdraw)
from link import PATIENCE, Late, Link, LinkEnded, Node
from reasons import Reason
from tls import HandshakeError

FIRST_WINDOW = 8_192  # bytes of a tunnel before its first credit
WINDOW = 65_536  # bytes that one side may send ahead after that
CREDIT_AFTER, CREDIT_AT_REST_AFTER = 4_096, 1_024


class Records:
    """Cuts what one end says into records of TLS, with their headers: all of the inner link that somebody in between can see."""

    def __init__(self):
        self.waiting = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        self.waiting += data
        whole = []
        while len(self.waiting) >= 5:
            if self.waiting[0] & 0x80:
                count = 2 + (int.from_bytes(self.waiting[:2], "big") & 0x7FFF)
            else:
                count = 5 + int.from_bytes(self.waiting[3:5], "big")
            if len(self.waiting) < count:
                break
            whole.append(bytes(self.waiting[:count]))
            del self.waiting[:count]
        return whole


class Inside:
    """The relay's own end of a link in a tunnel, which `Link` takes for its socket: whoever should be there is not. The relay runs
    while this waits."""
    family = socket.AF_UNIX

    def __init__(self, relay: "Relay", half: "Half"):
        self.relay, self.half = relay, half
        self.arrived = bytearray()
        self.patience = PATIENCE
        half.inside = self

    def settimeout(self, seconds: float) -> None:
        self.patience = seconds

    def sendall(self, data: bytes) -> None:
        self.half.waiting += data
        self.relay.flush(self.half)

    def recv(self, most: int) -> bytes:
        try:
            self.relay.until(lambda: self.arrived or self.half.closed is not None, self.patience)
        except Late as late:
            raise TimeoutError() from late
        data = bytes(self.arrived[:most])
        del self.arrived[:most]
        return data

    def close(self) -> None:
        self.relay.close(self.half, Reason.LEFT)


class Half:
    """What lies between the relay and one end of a tunnel."""

    def __init__(self, member: "Member", number: int, is_diallers: bool):
        self.member, self.number, self.is_diallers = member, number, is_diallers
        self.other: Half | None = None
        self.inside: Inside | None = None
        self.is_open = False
        # From the end.
        self.records = Records()
        self.taken = self.gone = self.told = 0
        self.has_endless_credit = False
        self.count = 0  # records
        # To the end.
        self.waiting = bytearray()
        self.sent, self.credit = 0, FIRST_WINDOW
        # Closing: with which reason we shall, and with which we have; and the end's word.
        self.closes: tuple[int, str] | None = None
        self.has_closed = False
        self.closed: CloseTunnel | None = None

    @property
    def from_(self) -> str:
        return self.member.role

    @property
    def is_over(self) -> bool:
        return self.has_closed and self.closed is not None


class Member:
    """Somebody who has dialled the relay."""

    def __init__(self, association: Association):
        self.association = association
        self.greeting = association.greeting
        self.id = (association.peer, self.greeting.incarnation)
        self.role = "receiver" if self.greeting.parameters.get(hello.GREETING) == b"receiver" else "sender"
        self.is_member = False
        self.halves: dict[int, Half] = {}
        self.next_number = 0 if association.node.order < self.id else 1
        self.end: LinkEnded | Leave | None = None  # how it went away

    @property
    def name(self) -> str:
        return self.greeting.name

    def new_half(self) -> Half:
        """A half that the relay opens."""
        half = Half(self, self.next_number, False)
        self.next_number += 2
        self.halves[half.number] = half
        return half


@dataclasses.dataclass
class Passed:
    """One record that has come from an end."""
    half: Half
    number: int  # in this half, from 0
    record: bytes

    @property
    def from_(self) -> str:
        return self.half.from_

    def to(self, half: "Half | None" = None, record: bytes | None = None) -> tuple[Half, bytes]:
        """It goes on: by the other half of its tunnel and unchanged, if nothing else is said."""
        return half or self.half.other, self.record if record is None else record


class Relay:
    """Runs while `until` waits for something.

    What a test changes: `pass_on` says what becomes of a record, as pairs of a half and what is sent to its end; `answer_open` what
    becomes of an `openTunnel`."""

    def __init__(self, networks: dict[str, int], name: str = "Hall", node: Node | None = None):
        """A relay that listens in each of these networks."""
        self.node = node or Node(name=name)
        self.node.capabilities |= hello.RELAY
        self.node.parameters[hello.GREETING] = b"relay"
        self.listeners: dict[str, socket.socket] = {}
        self.neighbours: list[tuple[mdns.Neighbour, bytes]] = []
        for network, descriptor in networks.items():
            with namespace.within(descriptor):
                listener = self.listeners[network] = socket.create_server(("127.0.0.1", 0))
                service = mdns.service(self.node, listener.getsockname()[1], info={"role": "relay"})
                self.neighbours.append((mdns.Neighbour(), service))
        self.next_advertisement = 0.0
        self.members: list[Member] = []
        self.tunnels: list[tuple[Half, Half]] = []
        self.introduced: list[tuple[str, Frame]] = []  # the answers to introductions, with who has given them
        self.again: list[tuple[float, Member, Member]] = []  # introductions to be made again
        self.seen = bytearray()  # every frame that the members have sent, the tunnels' bytes in them
        self.passed: dict[str, bytearray] = {"sender": bytearray(), "receiver": bytearray()}
        self.be_honest()

    def be_honest(self) -> None:
        self.introduces = True
        self.pass_on = lambda passed: [passed.to()]
        self.answer_open = self.open_tunnel

    def address(self, network: str) -> str:
        return "%s:%d" % self.listeners[network].getsockname()

    def of(self, role: str) -> Member | None:
        """The member of this role that came last and is here."""
        return next((member for member in reversed(self.members) if member.role == role and member.end is None), None)

    # Running

    def until(self, condition, patience: float = PATIENCE, what: str = "what was waited for") -> None:
        """Relays until the condition is true.
        - Raises: `Late`."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise Late(f"{what} has not come")
            self.step()

    def step(self) -> None:
        here = [member for member in self.members if member.end is None]
        sockets = {member.association.link.socket: member for member in here}
        ready, _, _ = select.select([*sockets, *self.listeners.values()], [], [], 0.02)
        for one in ready:
            if one in sockets:
                self.hear(sockets[one])
            else:
                self.welcome(one)
        now = time.monotonic()
        if now >= self.next_advertisement:
            self.next_advertisement = now + 0.25
            for neighbour, packet in self.neighbours:
                neighbour.say(packet)
        for due in [due for due in self.again if due[0] <= now]:
            self.again.remove(due)
            self.introduce(due[1], due[2])

    def welcome(self, listener: socket.socket) -> None:
        # Who has dialled several times at once gives up all but one.
        with contextlib.suppress(LinkEnded, HandshakeError, Late, AssertionError):
            member = Member(Association(Link.accept(listener, self.node)))
            self.members.append(member)
            self.hear(member)

    def hear(self, member: Member) -> None:
        """Deals with all that has come from this member."""
        try:
            while member.end is None:
                self.take(member, member.association.receive(0.0))
        except Late:
            pass
        except LinkEnded as end:
            self.lose(member, end)

    def lose(self, member: Member, end: LinkEnded | Leave) -> None:
        member.end = end
        member.association.link.close()
        for half in member.halves.values():
            half.has_closed, half.closed = True, half.closed or CloseTunnel(half.number, Reason.LINK_FAILED)
            self.close(half.other, Reason.LINK_FAILED)

    def send(self, member: Member, *many: Frame) -> None:
        if member.end is None:
            try:
                member.association.send(*many)
            except LinkEnded as end:
                self.lose(member, end)

    # Members

    def take(self, member: Member, frame: Frame) -> None:
        self.seen += frame.encode()
        if isinstance(frame, Invite):
            if frame.terms & Invite.COMPARES_CODES:
                member.association.ask(frame)
            self.send(member, Accept())
        elif isinstance(frame, Admit):
            member.is_member = True
            if self.introduces:
                for other in [other for other in self.members if other.is_member and other.role != member.role and other.end is None]:
                    self.introduce(member, other)
                    self.introduce(other, member)
        elif isinstance(frame, (Introduced, IntroductionFailed)):
            self.introduced.append((member.role, frame))
            other = next((other for other in self.members if other.id == (frame.peer, frame.incarnation)), None)
            if isinstance(frame, IntroductionFailed) and other is not None:
                self.again.append((time.monotonic() + 0.5, member, other))
        elif isinstance(frame, Leave):
            self.lose(member, frame)
        elif isinstance(frame, (OpenTunnel, TunnelOpened, TunnelData, TunnelCredit, CloseTunnel)):
            self.take_of_tunnel(member, frame)
        elif not isinstance(frame, (Pong, Withdraw)):
            raise AssertionError(f"{member.name} has sent {frame} to a relay")

    def introduce(self, to: Member, whom: Member) -> None:
        """Tells one member of the other, without an address: there is no way but over us."""
        if to.end is None and whom.end is None:
            self.send(to, Introduce(30_000, *whom.id, whom.name, [OVER_INTRODUCER]))

    def lie(self, to: Member, node: Node) -> None:
        """Introduces a node of our own."""
        self.send(to, Introduce(30_000, node.identity.id, node.incarnation, node.name, [OVER_INTRODUCER]))

    # Tunnels

    def take_of_tunnel(self, member: Member, frame: Frame) -> None:
        if isinstance(frame, OpenTunnel):
            assert frame.tunnel not in member.halves, "the number is open"
            assert frame.tunnel % 2 != member.next_number % 2, "the number is not the member's to choose"
            half = Half(member, frame.tunnel, True)
            member.halves[half.number] = half
            self.answer_open(half, (frame.peer, frame.incarnation))
            return
        half = member.halves.get(frame.tunnel)
        if half is None:
            assert isinstance(frame, TunnelCredit), f"{frame} is about no tunnel"
        elif isinstance(frame, TunnelOpened):
            assert not half.is_diallers and not half.is_open, frame
            half.is_open = True
            if half.other is not None:
                self.confirm(half.other, frame.relays)
            self.flush(half)
        elif isinstance(frame, TunnelCredit):
            assert frame.consumed <= half.sent, "more has gone on than was sent"
            half.credit = max(half.credit, frame.limit)
            self.flush(half)
        elif isinstance(frame, TunnelData):
            half.taken += len(frame.data)
            assert half.taken <= (half.told + WINDOW if half.told else FIRST_WINDOW) or half.has_endless_credit, "more bytes than were credited"
            assert half.is_open and half.closed is None, "bytes of a tunnel that is not open"
            self.take_data(half, frame.data)
        else:
            half.closed = frame
            if half.other is not None:
                self.close(half.other, frame.reason, frame.detail)
            self.close(half, frame.reason)
            self.forget(half)

    def open_tunnel(self, half: Half, wanted: tuple[bytes, int]) -> None:
        other = next((member for member in self.members if member.id == wanted and member.is_member and member.end is None), None)
        if other is None:
            self.close(half, Reason.NO_SUCH_ASSOCIATION)
            return
        self.offer(half, other)

    def confirm(self, half: Half, relays: int = 1) -> None:
        """Says to the dialler that its tunnel is open."""
        half.is_open = True
        self.send(half.member, TunnelOpened(half.number, relays))

    def offer(self, half: Half, other: Member) -> None:
        """Brings the dialler's tunnel to this member."""
        half.other = self.offer_own(other, half.member.id)
        half.other.other = half
        self.tunnels.append((half, half.other))

    def offer_own(self, member: Member, named: tuple[bytes, int]) -> Half:
        """Offers a tunnel as one of this node, which knows nothing of it."""
        half = member.new_half()
        self.send(member, OfferTunnel(half.number, *named, 1))
        return half

    def take_data(self, half: Half, data: bytes) -> None:
        if half.inside is not None:
            half.inside.arrived += data
            self.give_credit(half)
            return
        for record in half.records.take(data):
            passed = Passed(half, half.count, record)
            half.count += 1
            self.passed[half.from_] += record
            for to, changed in self.pass_on(passed):
                self.put(to, changed)
        self.give_credit(half)

    def put(self, half: Half | None, data: bytes) -> None:
        """Sends this to the end of the half, unless that is over."""
        if half is not None and half.closes is None and not half.has_closed:
            half.waiting += data
            self.flush(half)

    def flush(self, half: Half) -> None:
        """Sends what the end's credit allows."""
        piece = half.member.greeting.number(hello.FRAME_LIMIT) - 2
        while half.is_open and not half.has_closed and half.waiting and half.sent < half.credit:
            data = bytes(half.waiting[:min(piece, half.credit - half.sent)])
            del half.waiting[:len(data)]
            half.sent += len(data)
            self.send(half.member, TunnelData(half.number, data))
        if half.closes is not None and not half.waiting:
            self.send_close(half)
        if half.other is not None:
            self.give_credit(half.other)

    def give_credit(self, half: Half) -> None:
        waiting = len(half.other.waiting) if half.other is not None else 0
        half.gone = max(half.gone, half.taken - len(half.records.waiting) - waiting)
        more = half.gone - half.told
        # None behind our own closeTunnel: the number may name another tunnel by then.
        if half.closed is None and not half.has_closed and (more >= CREDIT_AFTER or half.gone == half.taken and more >= CREDIT_AT_REST_AFTER):
            half.told = half.gone
            self.send(half.member, TunnelCredit(half.number, half.gone, half.gone + WINDOW))

    def close(self, half: Half | None, reason: int, detail: str = "") -> None:
        """Closes this half behind the bytes that are on their way to its end."""
        if half is not None and not half.has_closed and half.closes is None:
            half.closes = reason, detail
            if half.closed is not None or not half.is_open:
                half.waiting.clear()
            self.flush(half)

    def send_close(self, half: Half) -> None:
        if not half.has_closed:
            half.has_closed = True
            self.send(half.member, CloseTunnel(half.number, *half.closes))
            self.forget(half)

    def forget(self, half: Half) -> None:
        if half.is_over:
            half.member.halves.pop(half.number, None)

    def cut(self, reason: int = Reason.LINK_FAILED) -> None:
        """Ends all tunnels, with what waits in them."""
        for pair in self.tunnels:
            for half in pair:
                half.waiting.clear()
                self.close(half, reason)

    def inside(self, half: Half, node: Node, is_dialler: bool = False) -> Link:
        """TLS and both hellos with the end of this half, as somebody in its tunnel.
        - Raises: `HandshakeError`, `LinkEnded`."""
        if half.is_diallers:
            self.confirm(half)
        else:
            self.until(lambda: half.is_open or half.closed is not None, what="the answer to a tunnel")
        link = Link(Inside(self, half), node, is_dialler)
        link.shake_hands()
        link.greet()
        return link
