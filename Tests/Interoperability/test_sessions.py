"""Invitations, removals and second links: sections 5 and 7 of the document."""
import contextlib
import os
import select
import signal
import socket
import time

import hello
import meetings
import transfers
from association import Association, joined, resumed
from fields import integer
from frames import Accept, Associate, Decline, Invite, Leave, Listening, Ping, Pong, RemoveMember, Withdraw
from identity import Identity
from link import Late, Link, LinkEnded, Node
from place import Place
from reasons import Reason


def test_withdrawn_invitation(place: Place):
    """an invitation that is taken back is declined with reason 2, once"""
    receiver = place.receiver(accept="ask", terminal=True)
    association = Association(Link.dial(receiver.address, Node()))
    association.send(association.invitation())
    association.link.ping()
    association.send(Withdraw(Reason.CANCELLED))
    assert association.wait_for(Decline) == Decline(Reason.CANCELLED, ""), "the answer"
    association.settle()
    assert not association.inbox


def test_no_second_invitation(place: Place):
    """a second invitation while one is open, or from a member, breaks the protocol"""
    receiver = place.receiver(accept="ask", terminal=True)
    association = Association(Link.dial(receiver.address, Node()))
    association.send(association.invitation(), association.invitation())
    assert association.link.end().reason == Reason.PROTOCOL_BROKEN
    receiver = place.receiver(state="another")
    member = joined(receiver.address)
    member.send(member.invitation())
    assert member.link.end().reason == Reason.PROTOCOL_BROKEN


def test_crossing_invitations(place: Place):
    """invitations that cross make members of both"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        _, association = meetings.called_by(place, server, photo)
        association.wait_for(Invite)
        association.send(association.invitation(), Accept())
        association.is_member = True
        association.wait_for(Accept)
        association.leave()


def test_dialled_back(place: Place):
    """a program that has dialled tells where it listens, and is reached there when the link is lost"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(os.urandom(3_000_000))
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association = meetings.called_by(place, server, photo)
        association.let_in()
    # From here on nobody answers any more where it has dialled.
    incoming = transfers.Incoming(association)
    incoming.accept()
    incoming.read_until(1_000_000)
    address = ("127.0.0.1", association.listening[Listening.TCP])
    with contextlib.suppress(LinkEnded):
        joined(address)
        raise AssertionError("a stranger got in")
    association.link.drop()
    resumed(association, address)
    incoming.go_on()
    assert incoming.finish() == photo.read_bytes()
    association.see_off()
    assert sender.wait() == 0, sender.error_text()


def test_told_elsewhere(place: Place):
    """what a member says of where it listens is no reason to end its membership, whatever answers there"""
    receiver = place.receiver()
    with socket.create_server(("127.0.0.1", 0)) as server:
        member = joined(receiver.address)
        ports = {Listening.TCP: server.getsockname()[1], 3: 7, 200: 65_535}
        member.send(Listening(ports))
        outgoing = transfers.Outgoing(member, os.urandom(200_000), "photo.jpg")
        outgoing.start()
        outgoing.send_until(100_000)
        member.link.drop()
        # It looks for us, and finds somebody else.
        assert select.select([server], [], [], 10)[0], receiver.error_text()
        with contextlib.suppress(LinkEnded, OSError, Late):
            Link.accept(server, Node()).receive(2)
        resumed(member, receiver.address)
        outgoing.go_on()
        assert outgoing.finish().is_stored


def test_declined(place: Place):
    """imagesend whose invitation is declined ends with 4"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association = meetings.called_by(place, server, photo)
        association.wait_for(Invite)
        association.send(Decline(Reason.DECLINED, "not now"))
        association.link.end()
        assert sender.wait() == 4


def test_unknown_reason(place: Place):
    """a reason that nobody knows is a refusal as well, shown as its number"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association = meetings.called_by(place, server, photo)
        association.wait_for(Invite)
        association.send(Decline(6_911))
        association.link.end()
        assert sender.wait() == 4
        assert "6911" in sender.error_text()


def test_goodbye(place: Place):
    """a receiver that is told to end says goodbye to its members"""
    receiver = place.receiver()
    member = joined(receiver.address)
    receiver.process.terminate()
    assert member.wait_for(Leave).reason in (Reason.LEFT, Reason.SHUTTING_DOWN)
    member.link.close()
    assert receiver.wait() == -signal.SIGTERM


def test_removal(place: Place):
    """nobody whom a program has let in has another one thrown out of it"""
    receiver = place.receiver()
    first, second = joined(receiver.address), joined(receiver.address)
    first.send(RemoveMember(second.node.identity.id, second.node.incarnation, Reason.REMOVED))
    first.link.ping()
    second.link.ping()
    assert transfers.send(second, b"photo", "photo.jpg").is_stored


def test_removal_of_oneself(place: Place):
    """a removal that names its sender or its receiver breaks the protocol"""
    receiver = place.receiver()
    for who in ("sender", "receiver"):
        member = joined(receiver.address)
        named = (member.node.identity.id, member.node.incarnation) if who == "sender" else (member.peer, member.greeting.incarnation)
        member.send(RemoveMember(*named, Reason.REMOVED))
        assert member.link.end().reason == Reason.PROTOCOL_BROKEN, who


def test_removal_by_a_stranger(place: Place):
    """so does one from a node that is no member"""
    receiver = place.receiver(accept="known")
    association = Association(Link.dial(receiver.address, Node()))
    association.send(RemoveMember(bytes(32), 1, Reason.REMOVED))
    assert association.link.end().reason == Reason.PROTOCOL_BROKEN


def test_second_link(place: Place):
    """a second link of a node whose first one lives is closed with reason 9, and the first goes on"""
    receiver = place.receiver()
    member = joined(receiver.address, Node(Identity.above(receiver.node)))
    # Its hello names the association: the smaller node asks the first link for a sign of life.
    member.node.parameters = member.held()
    second = Link.dial(receiver.address, member.node)
    member.send(Pong(member.link.expect(Ping).token))
    assert second.end().reason == Reason.DUPLICATE_LINK
    # This one was sent before there was an association.
    member.node.parameters, member.node.begun = {}, {}
    assert Link.dial(receiver.address, member.node).end().reason == Reason.DUPLICATE_LINK
    member.link.ping()


def test_takeover(place: Place):
    """a second link takes the association over where the first gives no sign of life"""
    receiver = place.receiver()
    member = joined(receiver.address, Node(Identity.above(receiver.node)))
    resumed(member, receiver.address)
    member.link.ping()


def test_lost_association(place: Place):
    """a node that has lost its association and says so by its count gets a new one"""
    receiver = place.receiver()
    node = Node(Identity.above(receiver.node))
    former = joined(receiver.address, node)
    former.link.drop()
    link = Link.dial(receiver.address, node)
    asked = link.expect(Associate)
    assert asked.received == 0 and asked.association != former.name, asked


def test_association_of_another_key(place: Place):
    """another key that comes for a member's association gets none of it, whichever of the two begins, and the member goes on"""
    for order in (Identity.below, Identity.above):
        receiver = place.receiver(state=order.__name__, directory=order.__name__)
        member = joined(receiver.address)
        outgoing = transfers.Outgoing(member, os.urandom(2 << 20), "photo.jpg")
        assert outgoing.start() is None
        outgoing.send_until(1 << 20)
        member.link.drop()
        thief = Node(order(receiver.node), parameters=member.held())
        link = Link.dial(receiver.address, thief)
        if link.is_smaller:
            link.send(Associate(member.name, member.received))
            assert link.end().reason == Reason.NO_SUCH_ASSOCIATION
        else:
            asked = link.expect(Associate)
            assert asked.association != member.name and asked.received == 0, asked
        # For a new association it may use that name, which is then its own.
        thief.parameters, thief.begun = {}, {}
        link = Link.dial(receiver.address, thief)
        if link.is_smaller:
            link.send(Associate(member.name, 0))
        resumed(member, receiver.address)
        outgoing.go_on()
        assert outgoing.finish().is_stored
        receiver.kill()


def test_member_of_another_incarnation(place: Place):
    """a second node of the same key is a member of its own"""
    receiver = place.receiver()
    first = joined(receiver.address, Node(name="Ada"))
    second = joined(receiver.address, Node(first.node.identity, name="Ada"))
    first.link.ping()
    second.link.ping()


def test_short_silence(place: Place):
    """a silence below a second breaks the protocol; a second's gets the signs of life that it asks for, and no more"""
    receiver = place.receiver(accept="known")
    try:
        Link.dial(receiver.address, Node(parameters={hello.SILENCE: integer(999)}))
        raise AssertionError("a silence of 999 ms is taken")
    except LinkEnded as refused:
        assert refused.reason == Reason.PROTOCOL_BROKEN
    began, heard = time.monotonic(), 0
    link = Association(Link.dial(receiver.address, Node(parameters={hello.SILENCE: integer(1_000)}))).link
    try:
        # For 2 s; on a busy machine three may take longer.
        while (left := began + (2 if heard >= 3 else 10) - time.monotonic()) > 0:
            heard += isinstance(link.receive(left), Ping)
    except Late:
        pass
    seconds = time.monotonic() - began
    assert 3 <= heard <= 6 * seconds + 1, f"{heard} pings in {seconds:.1f} s"
