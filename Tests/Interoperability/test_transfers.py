"""Transfers both ways, against imagesend and imagerecv: section 8 of the document."""
import hashlib
import os
import socket

import hello
import meetings
import transfers
from association import joined, resumed
from fields import integer
from frames import Abandon, Comparing, Offer, Position, Refuse, Restart
from identity import Identity
from link import Link, Node
from place import Place
from reasons import Reason
from transfers import Incoming, Outgoing

MiB = 1 << 20
IDENTITY = b"of these very bytes"


def test_send(place: Place):
    """imagerecv stores what we send, under its name, and says so; also nothing at all, and in small frames"""
    receiver = place.receiver("--count", 3)
    member = joined(receiver.address)
    big = os.urandom(3 * MiB + 17)
    for number, (name, data) in enumerate((("photo.jpg", big), ("empty.jpg", b""), ("one.jpg", b"1"))):
        outcome = transfers.send(member, data, name, number=number)
        assert outcome.path == name.encode(), outcome
        assert (place.folder / "received" / name).read_bytes() == data
        told = receiver.event("stored")
        assert (told["bytes"], told["sha256"]) == (len(data), hashlib.sha256(data).hexdigest()), told
    assert receiver.wait() == 0


def test_side_by_side(place: Place):
    """several transfers at once, in turns, each come whole"""
    receiver = place.receiver()
    member = joined(receiver.address)
    parts = [Outgoing(member, os.urandom(300_000 + number), f"{number}.jpg", number=number) for number in range(4)]
    for part in parts:
        assert part.start() is None
    for stop in range(50_000, 300_000, 50_000):
        for part in parts:
            assert part.send_until(stop) is None
    for part in parts:
        assert part.finish().is_stored
        assert (place.folder / "received" / f"{part.number}.jpg").read_bytes() == part.data


def test_wrong_digest(place: Place):
    """a wrong digest is refused with reason 37, and nothing is stored"""
    receiver = place.receiver()
    member = joined(receiver.address)
    outgoing = Outgoing(member, b"photo" * 1_000, "photo.jpg")
    assert outgoing.start() is None
    outcome = outgoing.finish(digest=bytes(32))
    assert outcome.reason == Reason.DIGEST_MISMATCH, outcome
    assert not os.listdir(place.folder / "received")


def test_too_few_bytes(place: Place):
    """fewer bytes than offered are refused with reason 38"""
    receiver = place.receiver()
    member = joined(receiver.address)
    outgoing = Outgoing(member, b"photo" * 1_000, "photo.jpg", size=6_000)
    assert outgoing.start() is None
    assert outgoing.finish().reason == Reason.SIZE_MISMATCH
    assert not os.listdir(place.folder / "received")


def test_abandon(place: Place):
    """what we abandon is refused in answer, leaves nothing, and its number serves again"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for _ in range(2):
        outgoing = Outgoing(member, bytes(2 * MiB), "photo.jpg", number=9)
        assert outgoing.start() is None
        outgoing.send_until(100_000)
        member.send(Abandon(9, Reason.CANCELLED))
        assert member.wait_for(Refuse).reason == Reason.CANCELLED
    assert transfers.send(member, b"x", "photo.jpg", number=9).is_stored
    assert os.listdir(place.folder / "received") == ["photo.jpg"]


def interrupted(place: Place, data: bytes, count: int):
    """A receiver that has stored `count` bytes of these, with nobody to send the rest; and our node."""
    receiver, node = place.receiver(), Node()
    member = joined(receiver.address, node)
    outgoing = Outgoing(member, data, "photo.jpg", identity=IDENTITY)
    assert outgoing.start() is None
    outgoing.send_until(count)
    # Everything is on the receiver's disk once it has gone in good order.
    member.link.ping()
    return receiver, node, member, outgoing


def test_resume_upon_another_link(place: Place):
    """a transfer goes on in the middle after its link has died, on another one"""
    data = os.urandom(3 * MiB)
    receiver, _, member, outgoing = interrupted(place, data, MiB + 5)
    member.link.drop()
    resumed(member, receiver.address)
    outgoing.go_on()
    assert 0 < outgoing.place <= MiB + 5
    assert outgoing.finish().is_stored
    assert (place.folder / "received/photo.jpg").read_bytes() == data


def test_resume_after_a_kill(place: Place):
    """what a killed receiver had of a file is not sent again"""
    data = os.urandom(5 * MiB)
    receiver, node, member, outgoing = interrupted(place, data, 4 * MiB)
    receiver.kill()
    member.link.drop()
    receiver = place.receiver()
    outcome = transfers.send(joined(receiver.address, Node(node.identity)), data, "photo.jpg", identity=IDENTITY)
    assert outcome.is_stored, outcome
    assert outcome.offset >= MiB, outcome
    assert receiver.event("stored")["resumedFrom"] == outcome.offset
    assert os.listdir(place.folder / "received") == ["photo.jpg"]
    assert (place.folder / "received/photo.jpg").read_bytes() == data


def offered(place: Place, server: socket.socket, data: bytes, node: Node | None = None, name: str = "photo.jpg"):
    """imagesend offers us this file."""
    path = place.path("photos") / name
    if not path.exists():
        path.write_bytes(data)
    sender, member = meetings.called_by(place, server, path, node=node)
    member.let_in()
    return sender, Incoming(member)


def test_receive(place: Place):
    """we store what imagesend offers, and it ends with 0"""
    data = os.urandom(2 * MiB + 3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, data, Node(parameters={hello.FRAME_LIMIT: integer(5_000)}))
        assert (incoming.offer.name, incoming.size) == (b"photo.jpg", len(data))
        incoming.accept(credit=10_000)
        assert incoming.finish() == data
        incoming.association.see_off()
        assert sender.wait() == 0
        assert sender.event("stored")["sha256"] == hashlib.sha256(data).hexdigest()


def test_receive_the_rest(place: Place):
    """imagesend sends what lacks, and its digest is that of the whole"""
    data = os.urandom(2 * MiB)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, data)
        incoming.accept(have=data[:MiB + 77])
        assert incoming.finish() == data
        incoming.association.see_off()
        assert sender.wait() == 0


def test_receive_nothing_new(place: Place):
    """imagesend takes it for success that we have the file already, sends no byte of it, and says so"""
    data = os.urandom(MiB)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, data)
        incoming.association.send(Comparing(incoming.number, 1_000), Comparing(incoming.number, MiB))
        incoming.accept(have=data)
        assert incoming.finish() == data
        incoming.association.see_off()
        assert sender.wait() == 0
        assert sender.event("present")["sha256"] == hashlib.sha256(data).hexdigest()


def test_receive_after_a_wrong_guess(place: Place):
    """where we have another file of that size, imagesend begins anew when asked to"""
    data = os.urandom(2 * MiB)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, data)
        incoming.accept(have=bytes(len(data)))
        assert incoming.finish() == data
        incoming.association.see_off()
        assert sender.wait() == 0
        assert sender.event("stored")


def test_comparing_beyond(place: Place):
    """to have compared more than there is breaks the protocol"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, b"photo")
        incoming.association.send(Comparing(incoming.number, 6))
        assert incoming.association.link.end().reason == Reason.PROTOCOL_BROKEN
        assert sender.wait() == 5


def test_restart_at_another_time(place: Place):
    """a restart of what was not skipped breaks the protocol"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, b"photo" * 100)
        incoming.accept()
        incoming.read_until(incoming.size)
        incoming.association.send(Restart(incoming.number, 0, incoming.size))
        assert incoming.association.link.end().reason == Reason.PROTOCOL_BROKEN
        assert sender.wait() == 5


def test_folders(place: Place):
    """a resource with folders is stored below them, beside others of its name"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for number, folder in enumerate((None, "holiday", "holiday/2026")):
        outcome = transfers.send(member, b"%d" % number, "photo.jpg", number=number, folder=folder)
        path = (folder + "/" if folder else "") + "photo.jpg"
        assert outcome.path == path.encode(), outcome
        assert (place.folder / "received" / path).read_bytes() == b"%d" % number


def test_receive_after_another_link(place: Place):
    """imagesend goes on from our credit when it has found us again"""
    data = os.urandom(2 * MiB)
    node = Node(Identity.below(place.node_of("sender")))
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, data, node)
        incoming.accept(credit=MiB)
        incoming.read_until(MiB // 2)
        member = incoming.association
        member.link.drop()
        sender.event("suspended")
        node.parameters = member.held()
        member.resume(Link.accept(server, node))
        kept = len(incoming.data)
        member.send(transfers.TransferCredit(incoming.number, kept, incoming.limit))
        place_now = member.wait_for(Position, where=incoming.is_ours).offset
        del incoming.data[place_now:]
        assert incoming.finish() == data
        member.see_off()
        assert sender.wait() == 0


def test_decline(place: Place):
    """a declined offer makes imagesend end with 4"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, incoming = offered(place, server, b"photo")
        incoming.decline(Reason.NOT_WANTED)
        incoming.association.see_off()
        assert sender.wait() == 4


def test_offer_fields(place: Place):
    """imagesend tells media type, time and identity, the same each time"""
    identities, node = [], Node()
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as server:
            sender, incoming = offered(place, server, b"photo" * 100, node)
            identities.append(incoming.identity)
            assert len(incoming.offer.fields[Offer.MODIFIED]) == 8
            incoming.decline(Reason.NOT_WANTED)
            incoming.association.see_off()
            sender.wait()
    assert identities[0] == identities[1] is not None, identities
