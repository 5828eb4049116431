"""What a peer can make a program keep: nothing without a bound."""
import socket
import time

import frames
import hello
from association import Association, joined
from frames import (
    Abandon, DeclineOffer, EndStream, Frame, Invite, Offer, OpenStream, Ping, Pong, RemoveMember, ResetStream, StopStream, Withdraw)
from link import Late, Link, LinkEnded, Node
from place import Place, Program
from reasons import Reason

MiB = 1 << 20
# On top of what the program had after the handshake; a window and its buffers fit in.
SLACK = 24 * MiB
ALL = 24 * MiB  # the most bytes that are sent
LONGEST = 8.0  # seconds


def flood(program: Program, link: Link, *pattern: Frame, reads: bool = False) -> bool:
    """Sends these over and over, acknowledging nothing, until the program ends the link, all was sent or time is up.

    The program has to stay within its memory meanwhile. Returns whether it ended the link or stopped reading."""
    before = program.memory()
    once = b"".join(frame.encode() for frame in pattern)
    batch = once * max(1, 32_768 // len(once))
    has_end, until = False, time.monotonic() + LONGEST
    try:
        for _ in range(ALL // len(batch)):
            if time.monotonic() > until:
                break
            link.send_bytes(batch, patience=2)
            if reads:
                take(link)
            grown = program.memory() - before
            assert grown < SLACK, f"{grown >> 20} MiB more in memory"
    except Late:
        has_end = True  # it takes nothing more
    except LinkEnded as ended:
        # Its reason may be lost: what it has not read of ours makes the kernel reset the connection.
        assert ended.reason in (None, Reason.PROTOCOL_BROKEN, Reason.LIMIT_EXCEEDED), ended
        has_end = True
    program.check_alive()
    grown = program.memory() - before
    assert grown < SLACK, f"{grown >> 20} MiB more in memory"
    return has_end


def take(link: Link) -> None:
    """Reads what has come, and answers nothing."""
    try:
        while True:
            link.receive(0.001)
    except Late:
        pass


def stranger(program: Program) -> Link:
    """One whom --accept known would not let in: it has an association, and is no member."""
    return Association(Link.dial(program.address, Node())).link


def test_invite_withdraw(place: Place):
    """a stranger who invites and withdraws without end is ended, within a bound of memory"""
    receiver = place.receiver(accept="known")
    assert flood(receiver, stranger(receiver), Invite(1_000, 0, bytes(32)), Withdraw(Reason.CANCELLED))


def test_invite_withdraw_reading(place: Place):
    """the same from one who reads all answers and acknowledges none"""
    receiver = place.receiver(accept="known")
    assert flood(receiver, stranger(receiver), Invite(1_000, 0, bytes(32)), Withdraw(Reason.CANCELLED), reads=True)


def test_streams(place: Place):
    """a member who opens and resets streams without end is ended, within a bound of memory"""
    program, address = place.listener("ping")
    assert flood(program, joined(address).link, OpenStream(1, "x"), ResetStream(1, Reason.CANCELLED), reads=True)


def test_empty_streams(place: Place):
    """so is one who opens and ends streams"""
    program, address = place.listener("ping")
    assert flood(program, joined(address).link, *[frame for number in range(64) for frame in (OpenStream(number, "n" * 1_000), EndStream(number))])


def test_offers(place: Place):
    """a member who offers and abandons without end is ended, within a bound of memory"""
    receiver = place.receiver()
    assert flood(receiver, joined(receiver.address).link, Offer(1, 1 << 30, b"photo.jpg"), Abandon(1, Reason.CANCELLED), reads=True)


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


def test_offers_unanswered(place: Place):
    """more offers than the limit break the protocol"""
    receiver = place.receiver()
    member = joined(receiver.address)
    limit = member.greeting.number(hello.TRANSFER_LIMIT)
    # All in one write, so that none is answered before the last has come.
    member.link.send(*[Offer(number, 1 << 30, b"x" * 200) for number in range(limit + 40)])
    assert member.link.end().reason in (Reason.PROTOCOL_BROKEN, Reason.LIMIT_EXCEEDED)


def test_removals(place: Place):
    """the 1,025th removal of an unknown node ends the association with reason 11"""
    receiver = place.receiver()
    member = joined(receiver.address)
    member.send(*[RemoveMember(bytes(32), 1, Reason.REMOVED)] * 1_024)
    member.link.send(Ping(7))
    member.wait_for(Pong)
    member.send(RemoveMember(bytes(32), 1, Reason.REMOVED))
    assert member.link.end().reason == Reason.LIMIT_EXCEEDED


def test_unknown_frames(place: Place):
    """unknown optional frames, counted and not, go on, within a bound of memory"""
    receiver = place.receiver()
    assert not flood(receiver, joined(receiver.address).link, frames.Unknown(0xFF, bytes(8_000)), frames.Unknown(0xA0, bytes(8_000)))


def test_pings(place: Place):
    """who pings without end and reads no answer is ended, or read no more, within a bound of memory"""
    receiver = place.receiver(accept="known")
    assert flood(receiver, stranger(receiver), Ping((1 << 62) - 1))


def test_answers_without_questions(place: Place):
    """answers to what was never asked end the link with reason 10"""
    for frame in (DeclineOffer(3, 1), StopStream(3, 1), frames.Accept(), frames.Stored(1, b"x"), frames.TransferCredit(1, 0, 5),
                  frames.Position(1, 0), frames.Chunk(1, b"x"), frames.Refuse(1, 1), frames.Acknowledge(1 << 60), EndStream(9)):
        receiver = place.receiver(state="one")
        member = joined(receiver.address)
        member.link.send(frame)
        reason = member.link.end().reason
        assert reason in (Reason.PROTOCOL_BROKEN, Reason.LIMIT_EXCEEDED), (frame, reason)
        receiver.end()


def test_messages_beyond_credit(place: Place):
    """messages beyond the window end the link, within a bound of memory"""
    receiver = place.receiver()
    assert flood(receiver, joined(receiver.address).link, frames.Message(bytes(16_000)))


def test_endless_message(place: Place):
    """a message in fragments that never ends breaks a limit"""
    receiver = place.receiver()
    assert flood(receiver, joined(receiver.address).link, frames.Fragment(bytes(16_000)))


def test_many_links(place: Place):
    """hundreds of links that say nothing keep nobody out, and are within a bound of memory"""

    receiver = place.receiver()
    address, before = receiver.address, receiver.memory()
    silent = [socket.create_connection(address, 5, ("127.0.0.2", 0)) for _ in range(400)]
    joined(address).leave()
    assert receiver.memory() - before < 60 * MiB, receiver.memory() - before
    for one in silent:
        one.close()
