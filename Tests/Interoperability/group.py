"""A member of a group: groups, places, removals and introductions of section 7 of Documentation/wire-format.md."""
import contextlib
import dataclasses
import ipaddress
import random
import select
import socket
import time

import hello
from association import Association
from fields import Address
from frames import (
    Accept, Admit, AskToIntroduce, CodeReveal, Decline, Frame, GroupView, Introduce, Introduced, IntroductionFailed, Invite, Leave, Listening,
    Message, Pong, Removed, RemoveMember, Withdraw, WithdrawIntroduction)
from identity import Identity
from link import Late, Link, LinkEnded, Node
from reasons import Reason
from tls import HandshakeError

Order = tuple[bytes, int]  # a node, and its place among others

TCP = 1
CAPABILITIES = hello.RESUME | hello.STREAMS | hello.REMOVAL | hello.INTRODUCTIONS | hello.GROUP
# Something was in the way of an invitation, which may be made again; 23 as well.
IN_THE_WAY = {2, 3, 7, 9, 14, 15, 16, 20, 21, 23}
INTRODUCTION_TIME = 30.0
DIAL_AFTER = 0.5  # as the larger node
TRY_AGAIN_AFTER = 1.0
BEYOND_AFTER = 0.5
SENIOR_AFTER = 60.0
# Of a node that has told nothing, and of one that is in no group.
ANY_NUMBER, LAST = 1 << 62, 1 << 62
ASKED_AT_MOST = 4


def scope(host: str) -> str | None:
    """Where an IP address means the same device; None for addresses that nobody may be sent to."""
    address = ipaddress.ip_address(host)
    if address.is_loopback or address.is_unspecified or address.is_multicast or getattr(address, "ipv4_mapped", None):
        return None
    if address.is_link_local:
        return "link"
    sites = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
    return "site" if any(address in ipaddress.ip_network(site) for site in sites) else "global"


class Peer:
    """Another node with which there is an association."""

    def __init__(self, association: Association, port: int | None):
        """`port`: where it was dialled."""
        self.association = association
        self.order: Order = (association.peer, association.greeting.incarnation)
        self.host: str = association.link.socket.getpeername()[0]
        self.dialled_port = port
        self.view: GroupView | None = None  # what it has said last
        self.told: GroupView | None = None  # what we have
        # Ours and its invitation, while they wait for an answer, and the accepts of invitations that cross.
        self.ours: Invite | None = None
        self.theirs: Invite | None = None
        self.has_accepted = self.is_accepted = False
        self.since: float | None = None  # a member from then on
        self.admitted_rank = 0  # until it has told its rank
        self.introducers: set[Order] = set()
        self.leaves_with: int | None = None  # the reason of our goodbye
        self.messages: list[bytes] = []

    @property
    def is_leaving(self) -> bool:
        return self.leaves_with is not None

    @property
    def is_member(self) -> bool:
        return self.since is not None and not self.is_leaving

    @property
    def rank(self) -> int:
        """Behind all others where it is in no group."""
        return (self.view.rank if self.view is not None else 0) or self.admitted_rank or LAST

    @property
    def is_in_group(self) -> bool:
        return self.is_member and self.has(hello.GROUP) and self.has(hello.INTRODUCTIONS)

    @property
    def is_promised(self) -> bool:
        """It has a place here, and is no member yet."""
        return self.has_accepted and not self.is_member and not self.is_leaving

    def has(self, bit: int) -> bool:
        return bool(self.association.greeting.number(hello.CAPABILITIES) & bit)

    @property
    def addresses(self) -> list[Address]:
        port = (self.association.listening or {}).get(TCP, self.dialled_port)
        return [Address(TCP, ipaddress.ip_address(self.host).packed, port)] if port else []


@dataclasses.dataclass
class Wanted:
    """A node that members have introduced, and that is to become a member."""
    addresses: list[Address]
    until: float
    dials_at: float
    # Who waits for an answer.
    introducers: dict[Order, float] = dataclasses.field(default_factory=dict)
    told: set[Order] = dataclasses.field(default_factory=set)  # who has introduced it
    last: int = Reason.TIMED_OUT


class GroupNode(Node):
    """A node that holds its associations when a further link comes for one."""
    associations: dict[bytes, Association]

    def held_with(self, peer: bytes) -> dict[int, bytes]:
        held = self.associations.get(peer)
        return held.held() if held else super().held_with(peer)


class GroupMember:
    """A node with the bit of groups, that runs while a `Scene` waits for something.

    What a test may change: whether it lets in who invites it (`lets_in`), and whether it follows introductions (`follows`)."""

    def __init__(self, host: str, capacity: int = 8, identity: Identity | None = None, name: str = "", hides: bool = False,
                 capabilities: int = CAPABILITIES):
        self.host, self.capacity, self.hides = host, capacity, hides
        self.node = GroupNode(identity or Identity(), capabilities=capabilities, **({"name": name} if name else {}))
        self.node.associations = {}
        self.listener = socket.create_server((host, 0))
        self.peers: dict[Order, Peer] = {}
        self.wanted: dict[Order, Wanted] = {}
        self.tombstones: set[Order] = set()
        self.rank = 0
        self.lets_in = self.follows = True
        # Introductions of ours: to whom and whose, until the answer.
        self.unanswered: set[tuple[Order, Order]] = set()
        self.answers: list[tuple[Order, Introduced | IntroductionFailed]] = []
        self.due: list[tuple[float, Order, Order]] = []  # introductions to be made
        self.full: set[tuple[Order, Order]] = set()  # those that had no place
        self.failures: dict[tuple[Order, Order], int] = {}
        self.heard: list[tuple[Order, Frame]] = []  # every frame that concerns groups and members
        self.ends: list[tuple[Order, int | None]] = []  # why members are lost
        self.removers: dict[Order, Order] = {}  # whose wish a farewell was
        self.beyond_since: float | None = None

    @property
    def order(self) -> Order:
        return self.node.order

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def address(self) -> str:
        return "%s:%d" % self.listener.getsockname()

    @property
    def members(self) -> set[Order]:
        return {order for order, peer in self.peers.items() if peer.is_member}

    @property
    def group(self) -> list[Peer]:
        return [peer for peer in self.peers.values() if peer.is_in_group]

    def close(self) -> None:
        for peer in list(self.peers.values()):
            peer.association.link.close()
        self.listener.close()

    # Running

    def step(self, patience: float = 0.02) -> None:
        sockets = {peer.association.link.socket: peer for peer in self.peers.values()}
        ready, _, _ = select.select([*sockets, self.listener], [], [], patience)
        for one in ready:
            if one is self.listener:
                self.welcome()
            elif self.peers.get(sockets[one].order) is sockets[one]:
                self.hear(sockets[one])
        now = time.monotonic()
        for order, wanted in list(self.wanted.items()):
            self.pursue(order, wanted, now)
        for one in [one for one in self.due if one[0] <= now]:
            self.due.remove(one)
            self.introduce(*one[1:])
        self.keep_places(now)

    def hear(self, peer: Peer) -> None:
        """Deals with all that has come from it."""
        try:
            while self.peers.get(peer.order) is peer:
                self.take(peer, peer.association.receive(0.0))
        except Late:
            pass
        except LinkEnded as end:
            self.lose(peer, end.reason)

    def send(self, peer: Peer, *many: Frame) -> None:
        if self.peers.get(peer.order) is peer:
            with contextlib.suppress(LinkEnded):  # which is heard when it is read
                peer.association.send(*many)

    # Links

    def dial(self, address: tuple[str, int]) -> Peer:
        """Dials and begins an association.
        - Raises: `LinkEnded`, `HandshakeError`, `Late`, `OSError`."""
        link = Link.dial(address, self.node, source=self.host)
        return self.begin(Association(link), address[1])

    def welcome(self) -> None:
        with contextlib.suppress(LinkEnded, HandshakeError):
            link = Link.accept(self.listener, self.node)
            order = (link.peer, link.greeting.incarnation)
            peer = self.peers.get(order)
            if self.hides and peer is None and order not in self.wanted:
                link.close(Reason.NOT_AVAILABLE)
            elif peer is None:
                self.begin(Association(link), None)
            elif not link.is_smaller:
                self.offer(link, peer)
            else:
                held = link.greeting.held
                is_held = held is not None and held[0] == peer.association.name
                assert is_held or link.greeting.number(hello.BEGUN) < peer.association.begun, "the other side has lost the association"
                link.close(Reason.DUPLICATE_LINK)

    def offer(self, link: Link, peer: Peer) -> None:
        """The other side, the smaller one, decides whether our association goes on over this link, or ends it."""
        former = peer.association.link
        try:
            peer.association.resume(link)
        except LinkEnded:
            peer.association.link = former
        else:
            former.drop()

    def begin(self, association: Association, port: int | None) -> Peer:
        peer = Peer(association, port)
        self.peers[peer.order] = peer
        self.node.associations[association.peer] = association
        self.hear(peer)
        return peer

    # Invitations

    def invite(self, address: tuple[str, int]) -> Peer:
        """Invites whoever is there, without waiting for the answer."""
        peer = self.dial(address)
        self.open(peer)
        return peer

    def open(self, peer: Peer) -> None:
        """Sends an invitation, with what we know of our group before it."""
        self.tell(peer)
        peer.ours = peer.association.invitation(int(INTRODUCTION_TIME * 1_000))
        self.send(peer, peer.ours)

    def take_invite(self, peer: Peer, invite: Invite) -> None:
        assert not peer.is_member and peer.theirs is None, f"an invitation of a member, or a second one: {invite}"
        assert not invite.terms & Invite.COMPARES_CODES, "nobody is at a screen here"
        peer.theirs = invite
        if peer.is_leaving:
            self.decline(peer, peer.leaves_with)
        elif peer.ours is None and not self.lets_in and peer.order not in self.wanted:
            self.decline(peer, Reason.DECLINED)
        elif not self.has_place(peer):
            self.decline(peer, Reason.FULL)
            if peer.ours is not None:
                peer.ours = None
                self.send(peer, Withdraw(Reason.FULL))
        else:
            if peer.ours is None and peer.order in self.wanted:
                self.open(peer)
            peer.has_accepted = True
            self.tell(peer)
            self.send(peer, Accept())
            if peer.is_accepted:
                self.become_member(peer)

    def decline(self, peer: Peer, reason: int) -> None:
        peer.theirs, peer.has_accepted = None, False
        if reason == Reason.FULL:
            self.tell(peer)
        self.send(peer, Decline(reason))

    def take_accept(self, peer: Peer) -> None:
        if peer.ours is None:
            return  # withdrawn
        if peer.theirs is not None:
            # The two have crossed.
            peer.is_accepted = True
            if peer.has_accepted:
                self.become_member(peer)
        elif self.has_place(peer):
            # With the place where we listen: the other side introduces us at once.
            self.become_member(peer, Admit())
        else:
            peer.ours = None
            self.send(peer, Withdraw(Reason.FULL))

    def become_member(self, peer: Peer, *words: Frame) -> None:
        peer.ours = peer.theirs = None
        peer.has_accepted = peer.is_accepted = False
        peer.since = time.monotonic()
        peer.association.is_member = True
        if peer.is_in_group:
            by_order = (1, 2) if self.order < peer.order else (2, 1)
            if self.rank == 0:
                is_in_group = peer.view is not None and peer.view.rank > 0
                self.rank, peer.admitted_rank = (peer.view.highest + 1, 0) if is_in_group else by_order
            else:
                peer.admitted_rank = peer.told.highest + 1 if peer.told is not None and peer.told.rank > 0 else by_order[1]
        self.send(peer, *words, Listening({TCP: self.listener.getsockname()[1]}))
        wanted = self.wanted.pop(peer.order, None)
        if wanted is not None:
            peer.introducers = wanted.told
            for introducer in wanted.introducers:
                self.answer(introducer, Introduced(*peer.order))
        self.tell_group()
        if peer.is_in_group:
            # Who was introduced to us is introduced to the others by whoever did that.
            at = time.monotonic() + (0 if wanted is None else random.uniform(1, 2))
            for other in self.group:
                if other is not peer:
                    self.due += [(at, peer.order, other.order), (at, other.order, peer.order)]

    # Introductions to us

    def answer(self, introducer: Order, frame: Introduced | IntroductionFailed) -> None:
        peer = self.peers.get(introducer)
        if peer is not None and peer.is_member:
            self.send(peer, frame)

    def take_introduce(self, peer: Peer, told: Introduce) -> None:
        order = (told.peer, told.incarnation)
        assert order not in (peer.order, self.order), f"an introduction of its sender or of us: {told}"
        known, wanted = self.peers.get(order), self.wanted.get(order)
        assert wanted is None or peer.order not in wanted.introducers, f"a second introduction before the answer: {told}"
        if known is not None and known.is_member:
            known.introducers.add(peer.order)
            self.send(peer, Introduced(*order))
        elif order in self.tombstones:
            self.send(peer, IntroductionFailed(*order, Reason.REMOVED))
        elif not self.follows:
            self.send(peer, IntroductionFailed(*order, Reason.DECLINED))
        else:
            now = time.monotonic()
            if wanted is None:
                wanted = self.wanted[order] = Wanted([], now, now + (0 if self.order < order else DIAL_AFTER))
            until = now + told.timeout / 1_000
            wanted.until = max(wanted.until, until)
            wanted.introducers[peer.order] = until
            wanted.told.add(peer.order)
            allowed = [one for one in told.addresses if one.transport == TCP and one.is_known
                       and scope(peer.host) is not None and scope(str(ipaddress.ip_address(one.host))) == scope(peer.host)]
            wanted.addresses += [one for one in allowed if one not in wanted.addresses]

    def pursue(self, order: Order, wanted: Wanted, now: float) -> None:
        for introducer in [introducer for introducer, until in wanted.introducers.items() if until <= now]:
            del wanted.introducers[introducer]
            self.answer(introducer, IntroductionFailed(*order, wanted.last))
        if wanted.until <= now:
            self.wanted.pop(order, None)
        elif now >= wanted.dials_at:
            wanted.dials_at = now + TRY_AGAIN_AFTER
            peer = self.peers.get(order)
            if peer is None:
                for address in wanted.addresses:
                    with contextlib.suppress(LinkEnded, HandshakeError, Late, OSError):
                        found = self.dial((str(ipaddress.ip_address(address.host)), address.port))
                        peer = found if found.order == order else None
                        break
                else:
                    wanted.last = Reason.UNREACHABLE
            if peer is not None and peer.ours is None and peer.theirs is None and not peer.is_member and not peer.is_leaving:
                self.open(peer)

    def give_up(self, order: Order, reason: int) -> None:
        wanted = self.wanted.pop(order, None)
        for introducer in wanted.introducers if wanted is not None else ():
            self.answer(introducer, IntroductionFailed(*order, reason))

    # Introductions of ours

    def introduce(self, to: Order, whom: Order) -> None:
        one, other = self.peers.get(to), self.peers.get(whom)
        if one is None or other is None or not one.is_in_group or not other.is_in_group or (to, whom) in self.unanswered:
            return
        self.unanswered.add((to, whom))
        name = other.association.greeting.name
        self.send(one, Introduce(int(INTRODUCTION_TIME * 1_000), *whom, name, other.addresses))

    def take_answer(self, peer: Peer, answer: Introduced | IntroductionFailed) -> None:
        pair = (peer.order, (answer.peer, answer.incarnation))
        assert pair in self.unanswered, f"an answer to nothing: {answer}"
        self.unanswered.remove(pair)
        self.answers.append((peer.order, answer))
        if isinstance(answer, Introduced):
            self.failures.pop(pair, None)
        elif answer.reason == Reason.FULL:
            self.full.add(pair)
        elif answer.reason in IN_THE_WAY:
            count = self.failures[pair] = self.failures.get(pair, 0) + 1
            self.due.append((time.monotonic() + 2.0 ** min(count - 1, 5), *pair))

    # Places

    def view_for(self, peer: Peer) -> GroupView:
        group = self.group
        capacity = max(2, self.capacity - sum(one.is_member and not one.is_in_group for one in self.peers.values()))
        told = [one.view for one in group if one.view is not None]
        held = [one for one in self.peers.values() if one.is_in_group or one.is_promised and not peer.is_member]
        return GroupView(capacity, min([capacity, *(view.capacity for view in told)]), self.rank,
                         max([self.rank, *(view.highest for view in told)]), sorted({one.order[1] for one in held}))

    def tell(self, peer: Peer) -> None:
        """Says what is known of our group, unless the last word was the same."""
        view = self.view_for(peer)
        if peer.has(hello.GROUP) and view != peer.told:
            peer.told = view
            self.send(peer, view)

    def tell_group(self) -> None:
        for peer in self.group:
            self.tell(peer)

    def take_view(self, peer: Peer, view: GroupView) -> None:
        is_news, peer.view = view != peer.view, view
        self.tell_group()
        for pair in [pair for pair in self.full if is_news and peer.order in pair]:
            self.full.discard(pair)
            self.due.append((time.monotonic(), *pair))

    def has_place(self, peer: Peer) -> bool:
        own = [one for one in self.peers.values() if one.is_in_group or one.is_promised and one is not peer]
        if not peer.has(hello.GROUP):
            return sum(one.is_member or one.is_promised for one in self.peers.values() if one is not peer) + 2 <= self.capacity
        views = [one.view for one in own if one.view is not None]
        if peer.order in self.wanted or any(peer.order[1] in view.members for view in views):
            return peer.order not in self.beyond([peer])
        seen = {self.order[1], peer.order[1], *(one.order[1] for one in own), *(wanted[1] for wanted in self.wanted)}
        views += [peer.view] if peer.view is not None else []
        for view in views:
            seen.update(view.members)
        return len(seen) <= min([self.view_for(peer).smallest, *(min(view.capacity, view.smallest) for view in views)])

    def beyond(self, further: list[Peer] = []) -> set[Order]:
        """Who of the group, with ourselves and these, is beyond the places."""
        now = time.monotonic()
        others = self.group + [one for one in further if not one.is_in_group]
        capacity = {one.order: one.view.capacity if one.view is not None else ANY_NUMBER for one in others}
        rank = {one.order: one.rank for one in others}
        seniors = {one.order for one in others if one.since is not None and now - one.since > SENIOR_AFTER}
        capacity[self.order], rank[self.order] = self.view_for(others[0]).capacity if others else self.capacity, self.rank or LAST
        if seniors:
            seniors.add(self.order)  # as long as the oldest of them
            highest = max(capacity[order] for order in seniors)
            capacity = {order: min(count, highest) for order, count in capacity.items()}
        row = sorted(capacity, key=lambda order: (-capacity[order], order not in seniors, rank[order], order))
        return {order for place, order in enumerate(row) if place >= capacity[order]}

    def keep_places(self, now: float) -> None:
        beyond = self.beyond()
        if not beyond:
            self.beyond_since = None
        elif self.beyond_since is None:
            self.beyond_since = now
        elif now - self.beyond_since > BEYOND_AFTER:
            self.beyond_since = None
            for peer in self.group:
                if (peer.order in beyond) != (self.order in beyond):
                    self.leave(peer, Reason.FULL)

    # Ends

    def leave(self, peer: Peer, reason: int = Reason.LEFT) -> None:
        """Says goodbye; the other side closes the link."""
        peer.leaves_with = reason
        self.send(peer, Leave(reason))
        self.forget_membership(peer)

    def remove(self, order: Order) -> None:
        """Removes a member from the whole group."""
        for peer in self.group:
            if peer.order != order and peer.has(hello.REMOVAL):
                self.send(peer, RemoveMember(*order, Reason.REMOVED))
        self.tombstones.add(order)
        self.leave(self.peers[order], Reason.REMOVED)

    def take_removal(self, peer: Peer, asked: RemoveMember) -> None:
        order = (asked.peer, asked.incarnation)
        assert order not in (peer.order, self.order), f"a removal of its sender or of us: {asked}"
        named = self.peers.get(order)
        if named is not None and named.is_member and peer.order in named.introducers:
            self.tombstones.add(order)
            if named.has(hello.REMOVAL):
                self.send(named, Removed(*peer.order))
            self.leave(named, Reason.REMOVED)
        elif order in self.wanted and peer.order in self.wanted[order].told:
            self.tombstones.add(order)
            self.give_up(order, Reason.REMOVED)

    def lose(self, peer: Peer, reason: int | None) -> None:
        """The association is over: the other side has left (reason of its `leave`), or its link has ended."""
        was_member = peer.is_member
        self.peers.pop(peer.order, None)
        self.node.associations.pop(peer.order[0], None)
        peer.association.link.close()
        if was_member:
            peer.since = None
            self.ends.append((peer.order, reason))
            self.forget_membership(peer)
            if reason in (None, Reason.TIMED_OUT, Reason.LINK_FAILED):
                for other in self.group[:ASKED_AT_MOST]:
                    self.send(other, AskToIntroduce(*peer.order))
        elif peer.order in self.wanted and reason not in (None, *IN_THE_WAY):
            self.give_up(peer.order, reason)

    def forget_membership(self, peer: Peer) -> None:
        self.unanswered = {pair for pair in self.unanswered if pair[0] != peer.order}
        self.due = [one for one in self.due if peer.order not in one[1:]]
        self.full = {pair for pair in self.full if peer.order not in pair}
        for wanted in self.wanted.values():
            wanted.introducers.pop(peer.order, None)
        if not self.group:
            self.rank = 0
        self.tell_group()

    # Frames

    def take(self, peer: Peer, frame: Frame) -> None:
        if not isinstance(frame, (Message, Pong)):
            self.heard.append((peer.order, frame))
        if isinstance(frame, (Introduce, Introduced, IntroductionFailed, WithdrawIntroduction, AskToIntroduce, RemoveMember, Removed, Message)):
            assert peer.since is not None, f"{frame} of a node that is no member"
            if peer.is_leaving:
                return
        if isinstance(frame, GroupView):
            self.take_view(peer, frame)
        elif isinstance(frame, Invite):
            self.take_invite(peer, frame)
        elif isinstance(frame, Accept):
            self.take_accept(peer)
        elif isinstance(frame, Admit):
            assert peer.has_accepted and peer.ours is None, "nothing of the other side waits to be admitted"
            self.become_member(peer)
        elif isinstance(frame, Decline):
            peer.ours = None
            if peer.order in self.wanted and frame.reason not in IN_THE_WAY:
                self.give_up(peer.order, frame.reason)
        elif isinstance(frame, Withdraw):
            if peer.theirs is not None and not peer.has_accepted:
                self.send(peer, Decline(Reason.CANCELLED))
            peer.theirs, peer.has_accepted = None, False
        elif isinstance(frame, Leave):
            self.lose(peer, frame.reason)
        elif isinstance(frame, Introduce):
            self.take_introduce(peer, frame)
        elif isinstance(frame, (Introduced, IntroductionFailed)):
            self.take_answer(peer, frame)
        elif isinstance(frame, WithdrawIntroduction):
            wanted = self.wanted.get((frame.peer, frame.incarnation))
            if wanted is not None and wanted.introducers.pop(peer.order, None):
                self.send(peer, IntroductionFailed(frame.peer, frame.incarnation, Reason.CANCELLED))
                if not wanted.introducers:
                    del self.wanted[(frame.peer, frame.incarnation)]
        elif isinstance(frame, AskToIntroduce):
            self.introduce(peer.order, (frame.peer, frame.incarnation))
            self.introduce((frame.peer, frame.incarnation), peer.order)
        elif isinstance(frame, RemoveMember):
            self.take_removal(peer, frame)
        elif isinstance(frame, Removed):
            self.removers[peer.order] = (frame.peer, frame.incarnation)
        elif isinstance(frame, Message):
            peer.messages.append(frame.part)
        else:
            assert isinstance(frame, (Pong, CodeReveal)), f"{frame} in a group"
