"""What a peer can make a program keep: nothing without a bound."""
import dataclasses
import socket
import time

import frames
import hello
import meetings
import transfers
from association import Association, Forgotten, joined, resumed
from frames import (
    Abandon, DeclineOffer, EndStream, Frame, Invite, Leave, Offer, OpenStream, Ping, Pong, RemoveMember, ResetStream, StopStream, Withdraw)
from identity import Identity
from link import Late, Link, LinkEnded, Node
from place import Place, Program
from reasons import Reason

MiB = 1 << 20
# On top of what the program had after the handshake; a window and its buffers fit in.
SLACK = 24 * MiB
ALL = 24 * MiB  # the most bytes that are sent
LONGEST = 8.0  # seconds
LONGEST_READING = 25.0


@dataclasses.dataclass
class Flooded:
    """How a flood ended: the program ended the link, took no more of it, or neither."""
    was_ended: bool = False
    was_read_no_more: bool = False
    # Why it has ended the link, or the association. None if that has not come: what the program has not read of ours makes the kernel
    # reset the connection.
    reason: int | None = None

    def listen(self, link: Link, patience: float) -> None:
        """Reads what has come, and answers nothing; keeps the reason of a goodbye."""
        try:
            while True:
                found = link.receive(patience)
                if isinstance(found, Leave):
                    self.reason = found.reason
        except Late:
            pass
        except LinkEnded as ended:
            self.was_ended = True
            if ended.reason is not None:
                self.reason = ended.reason


def flood(program: Program, link: Link, *pattern: Frame, reads: bool = False, patience: float = 2.0) -> Flooded:
    """Sends these over and over, acknowledging nothing, until the program ends the link, takes no more, all was sent or time is up.

    The program has to stay within its memory meanwhile.

    - patience: after so long the program takes no more; who reads is more patient."""
    before = program.memory()
    once = b"".join(frame.encode() for frame in pattern)
    # Who reads sends little at a time, and looks for a goodbye in between.
    batch = once * max(4 if reads else 1, (1_024 if reads else 32_768) // len(once))
    flooded, until = Flooded(), time.monotonic() + (LONGEST_READING if reads else LONGEST)
    try:
        for _ in range(ALL // len(batch)):
            if time.monotonic() > until or flooded.was_ended:
                break
            link.send_bytes(batch, patience=10 if reads else patience)
            if reads:
                flooded.listen(link, 0.001)
            check_growth(program, before)
    except Late:
        flooded.was_read_no_more = True
    except LinkEnded:
        # What it had said before that is still there to be read.
        flooded.was_ended = True
        flooded.listen(link, 1)
    program.check_alive()
    check_growth(program, before)
    return flooded


def check_growth(program: Program, before: int) -> None:
    grown = program.memory() - before
    assert grown < SLACK, f"{grown >> 20} MiB more in memory"


def stranger(address: tuple[str, int]) -> Link:
    """One who is not let in, or has not asked: it has an association, and is no member."""
    return Association(Link.dial(address, Node())).link


def check_limit(flooded: Flooded, reads: bool = False) -> None:
    """Shows that the flood was ended for a limit; to one who reads nothing the reason may not get through, or it is read no more."""
    assert flooded.was_ended or flooded.was_read_no_more and not reads, flooded
    assert flooded.reason == Reason.LIMIT_EXCEEDED or flooded.reason is None and not reads, flooded


def test_invite_withdraw(place: Place):
    """a stranger who invites and withdraws without end, and reads nothing, is held back or ended, within a bound of memory"""
    receiver = place.receiver(accept="known")
    check_limit(flood(receiver, stranger(receiver.address), Invite(1_000, 0, bytes(32)), Withdraw(Reason.CANCELLED)))


def test_invite_withdraw_reading(place: Place):
    """who does the same, reads all answers and acknowledges none is ended with reason 11"""
    receiver = place.receiver(accept="known")
    pattern = Invite(1_000, 0, bytes(32)), Withdraw(Reason.CANCELLED)
    check_limit(flood(receiver, stranger(receiver.address), *pattern, reads=True), reads=True)


def test_invite_withdraw_of_a_person(place: Place):
    """so is who has a person asked in this way, with as much context as there may be, and the next one is asked about"""
    receiver = meetings.ask_receiver(place)
    pattern = Invite(60_000, 0, bytes(32), bytes(8_192)), Withdraw(Reason.CANCELLED)
    check_limit(flood(receiver, stranger(receiver.address), *pattern, reads=True), reads=True)
    meetings.asked(receiver, Node(name="Honest"), source="127.0.0.2")
    receiver.see("Honest")


def test_invitations_behind_a_question(place: Place):
    """a stranger who invites and withdraws without end while a person is asked about a known device, and acknowledges all, leaves nothing
    in memory, and the next one is asked about"""
    known = Node(name="Known")
    # Known, and not allowed to push.
    meetings.known_to_sender(place, known, state="receiver")
    receiver = meetings.ask_receiver(place)
    waiting = meetings.asked(receiver, known)
    association = Association(Link.dial(receiver.address, Node(), source="127.0.0.3"))
    before, count = receiver.memory(), 0
    while count < 3_000:
        association.send(*[Invite(60_000, 0, bytes(32), bytes(8_192)), Withdraw(Reason.CANCELLED)] * 16)
        association.settle()
        association.inbox.clear()
        count += 16
    grown = receiver.memory() - before
    # Each of them brings eight kilobytes.
    assert grown < 6 * MiB + 1_000 * count, f"{grown >> 10} KiB more in memory after {count} invitations"
    waiting.send(Withdraw(Reason.CANCELLED))
    meetings.asked(receiver, Node(name="Honest"), source="127.0.0.2")
    receiver.see("Honest")


def test_streams_of_a_stranger(place: Place):
    """streams of who is no member end the link with reason 10, from the first on"""
    program, address = place.listener("ping")
    flooded = flood(program, stranger(address), OpenStream(1, "n" * 1_000), ResetStream(1, Reason.CANCELLED), reads=True)
    assert flooded.was_ended and flooded.reason == Reason.PROTOCOL_BROKEN, flooded


def test_streams(place: Place):
    """a member who opens and resets streams without end, and acknowledges no answer, is ended with reason 11"""
    program, address = place.listener("ping")
    check_limit(flood(program, joined(address).link, OpenStream(1, "x"), ResetStream(1, Reason.CANCELLED), reads=True), reads=True)


def test_streams_beyond_the_limit(place: Place):
    """so is one who has one more stream open than the hello allows, also of those that are ended and that nobody has taken"""
    program, address = place.listener("ping")
    for ending in ([], [EndStream]):
        member = joined(address)
        limit = member.greeting.number(hello.STREAM_LIMIT)
        for number in range(limit):
            member.send(OpenStream(number, "n" * 1_000), *[kind(number) for kind in ending])
        member.settle()
        member.send(OpenStream(limit, "x"))
        assert member.link.end().reason == Reason.LIMIT_EXCEEDED, ending
    program.check_alive()


def test_offers(place: Place):
    """a member who offers and abandons without end, and acknowledges no answer, is ended with reason 11"""
    receiver = place.receiver()
    check_limit(flood(receiver, joined(receiver.address).link, Offer(1, 1 << 30, b"photo.jpg"), Abandon(1, Reason.CANCELLED), reads=True),
                reads=True)


def test_resumes_without_reading(place: Place):
    """who comes back over and over, has more kept for it each time, and reads and acknowledges nothing is ended where section 5 ends it,
    within a bound of memory, and the next one is let in"""
    node = place.node_of("listener")
    program, address = place.listener("ping")
    for order in (Identity.below, Identity.above):
        member = joined(address, Node(order(node)), acknowledges=False)
        before, count = program.memory(), 0
        # So many answers may be unacknowledged: two more for each transfer and each stream of its hello.
        limit = 2_048 + 2 * (member.greeting.number(hello.TRANSFER_LIMIT) + member.greeting.number(hello.STREAM_LIMIT))
        try:
            while count < 2 * limit:
                count += 16
                # Each of them is stopped, and that is kept until it is acknowledged.
                member.send(*[OpenStream(1, "x"), ResetStream(1, Reason.CANCELLED)] * 16)
                member.link.drop()
                resumed(member, address)
                check_growth(program, before)
            raise AssertionError("it may go on")
        except Forgotten:
            pass
        except LinkEnded as ended:
            # Its goodbye with reason 11 was on a link that is gone.
            assert ended.reason == Reason.NO_SUCH_ASSOCIATION, (order, count, ended)
        assert limit - 64 <= count <= limit + 64, (order, count)
        check_growth(program, before)
        joined(address).leave()


def test_declined_offers(place: Place):
    """a member whose offers are declined one after the other, without end, leaves nothing in memory"""
    receiver = place.receiver()
    member = joined(receiver.address)
    before, count, until = receiver.memory(), 0, time.monotonic() + LONGEST
    while time.monotonic() < until and count < 20_000:
        member.send(*[Offer(number, 5, b".\x01" + b"x" * 1_000) for number in range(16)])
        for _ in range(16):
            member.wait_for(DeclineOffer)
        count += 16
    grown = receiver.memory() - before
    # Each of them brings a kilobyte.
    assert grown < 4 * MiB + 400 * count, f"{grown >> 10} KiB more in memory after {count} offers"


def test_offers_of_who_has_left(place: Place):
    """members who come, offer all that they may and leave, while the one place for files is taken, leave nothing in memory, and the place is
    the next one's"""
    receiver = place.receiver("--count", 1, "--timeout", 240)
    holder = transfers.Outgoing(joined(receiver.address), bytes(1 << 20), "slow.jpg")
    assert holder.start() is None
    before = receiver.memory()
    for _ in range(rounds := 80):
        member = joined(receiver.address, source="127.0.0.2")
        limit = member.greeting.number(hello.TRANSFER_LIMIT)
        member.send(*[Offer(number, 5, b"%d.jpg" % number, {Offer.METADATA: bytes(4_096)}) for number in range(limit)])
        member.settle()
        member.leave()
    grown = receiver.memory() - before
    # Each round brings a quarter of a megabyte.
    assert grown < 8 * MiB + rounds * (MiB >> 4), f"{grown >> 10} KiB more in memory after {rounds} members with {limit} offers each"
    holder.association.leave()
    assert transfers.send(joined(receiver.address), b"photo", "photo.jpg").is_stored


def test_offers_unanswered(place: Place):
    """more offers than the limit break the protocol, with reason 10"""
    receiver = place.receiver()
    member = joined(receiver.address)
    limit = member.greeting.number(hello.TRANSFER_LIMIT)
    # All in one write, so that none is answered before the last has come.
    member.link.send(*[Offer(number, 1 << 30, b"x" * 200) for number in range(limit + 40)])
    assert member.link.end().reason == Reason.PROTOCOL_BROKEN


def test_removals(place: Place):
    """the 1,025th removal of an unknown node ends the association with reason 11"""
    receiver = place.receiver()
    member = joined(receiver.address)
    member.send(*[RemoveMember(bytes(32), 1, Reason.REMOVED)] * 1_024)
    member.link.send(Ping(7))
    member.wait_for(Pong)
    # While they are sent a few more are earned by time.
    member.send(*[RemoveMember(bytes(32), 1, Reason.REMOVED)] * 30)
    assert member.link.end().reason == Reason.LIMIT_EXCEEDED


def test_uncredited(place: Place):
    """sequenced frames that no credit bounds end the association with reason 11 after 4,096 of them, and eight for our invitation"""
    receiver = place.receiver()
    for frame in (frames.Withdraw(Reason.CANCELLED), frames.Abandon(7, Reason.CANCELLED), frames.Unknown(0xFF, b"x")):
        member = joined(receiver.address)
        member.send(*[frame] * 4_104)
        member.link.ping()
        # While they are sent a few more are earned by time.
        member.send(*[frame] * 600)
        assert member.link.end().reason == Reason.LIMIT_EXCEEDED, frame


def test_unknown_frames(place: Place):
    """some hundreds of unknown optional frames, sequenced and not, go on, within a bound of memory"""
    receiver = place.receiver()
    link = joined(receiver.address).link
    flooded = flood(receiver, link, frames.Unknown(0xFF, bytes(8_000)), frames.Unknown(0xA0, bytes(8_000)), patience=20)
    assert flooded == Flooded(), flooded
    link.ping()


def test_pings(place: Place):
    """who pings without end and reads no answer is held back or ended for the limit, within a bound of memory"""
    receiver = place.receiver(accept="known")
    check_limit(flood(receiver, stranger(receiver.address), Ping((1 << 62) - 1)))


def test_answers_without_questions(place: Place):
    """answers to what was never asked end the link with reason 10"""
    for frame in (DeclineOffer(3, 1), StopStream(3, 1), frames.Accept(), frames.Stored(1, b"x"), frames.TransferCredit(1, 0, 5),
                  frames.Position(1, 0), frames.Chunk(1, b"x"), frames.Refuse(1, 1), frames.Acknowledge(1 << 60), EndStream(9)):
        receiver = place.receiver(state="one")
        member = joined(receiver.address)
        member.link.send(frame)
        reason = member.link.end().reason
        assert reason == Reason.PROTOCOL_BROKEN, (frame, reason)
        receiver.end()


def test_messages_beyond_credit(place: Place):
    """messages beyond the window end the association with reason 11"""
    receiver = place.receiver()
    member = joined(receiver.address)
    # Empty ones cost 32 bytes of credit each: twice the window is so little that all of it comes at once, before any of it is taken.
    member.link.send(*[frames.Message(b"")] * (2 * member.greeting.number(hello.MESSAGE_WINDOW) // 32))
    assert member.link.end().reason == Reason.LIMIT_EXCEEDED
    receiver.check_alive()


def test_endless_message(place: Place):
    """a message in fragments that never ends breaks a limit, with reason 11, within a bound of memory"""
    receiver = place.receiver()
    check_limit(flood(receiver, joined(receiver.address).link, frames.Fragment(bytes(16_000)), reads=True), reads=True)


def test_many_links(place: Place):
    """hundreds of links that say nothing keep nobody out, and are within a bound of memory"""

    receiver = place.receiver()
    address, before = receiver.address, receiver.memory()
    silent = [socket.create_connection(address, 5, ("127.0.0.2", 0)) for _ in range(400)]
    joined(address).leave()
    assert receiver.memory() - before < 60 * MiB, receiver.memory() - before
    for one in silent:
        one.close()
