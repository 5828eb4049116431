"""What a peer can do to files."""
import contextlib
import hashlib
import http.server
import os
import pathlib
import socket
import stat
import threading

import meetings
import transfers
from association import joined, resumed
from frames import AcceptOffer, Chunk, End, Position, Refuse
from identity import Identity
from link import Late, LinkEnded, Node
from place import Place, Program
from reasons import Reason
from transfers import Incoming, Outgoing

MiB = 1 << 20
IDENTITY = b"of these very bytes"


def partial(place: Place, data: bytes, node: Node, name: str = "photo.jpg") -> None:
    """Leaves all of these bytes in the directory without their end: the receiver is killed before that."""
    receiver = place.receiver()
    outgoing = Outgoing(joined(receiver.address, node), data, name, identity=IDENTITY)
    assert outgoing.start() is None
    outgoing.send_until(len(data))
    outgoing.association.link.ping()
    # A second transfer, of one byte, is stored after these bytes: once it is, they are on the disk.
    assert transfers.send(outgoing.association, b"x", "marker.jpg", number=1).is_stored
    receiver.kill()
    os.unlink(place.folder / "received/marker.jpg")


def test_all_there(place: Place):
    """a file of which all bytes were there when the receiver died is stored without being sent again"""
    data, node = os.urandom(2 * MiB), Node()
    partial(place, data, node)
    receiver = place.receiver()
    outcome = transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY)
    assert outcome.is_stored and outcome.offset >= MiB, outcome
    assert (place.folder / "received/photo.jpg").read_bytes() == data
    assert os.listdir(place.folder / "received") == ["photo.jpg"]


def test_daily(place: Place):
    """what has come of a stranger's broken file counts for its day, whatever name or content goes on under its name; what need not be sent
    does not"""
    receiver, node = place.receiver("--daily", "4190000"), Node()
    member = joined(receiver.address, node)
    broken = os.urandom(2 * MiB)
    outgoing = Outgoing(member, broken, "broken.jpg", identity=IDENTITY)
    assert outgoing.start() is None
    outgoing.send_until(2 * MiB - 1)
    # Stored after these bytes.
    assert transfers.send(member, b"x", "marker.jpg", number=1).is_stored
    # What has come of it is kept.
    member.leave(Reason.SHUTTING_DOWN)
    again = joined(receiver.address, node)
    for name, identity in (("other.jpg", None), ("broken.jpg", None), ("broken.jpg", b"another"), ("broken.jpg", b"and another")):
        refused = transfers.send(again, os.urandom(2 * MiB), name, identity=identity)
        assert refused.reason == Reason.DECLINED and "today" in refused.detail, refused
    went_on = transfers.send(again, broken, "broken.jpg", identity=IDENTITY)
    assert went_on.is_stored and went_on.offset >= MiB, went_on
    small = os.urandom(500_000)
    assert transfers.send(again, small, "small.jpg", identity=b"small").is_stored
    # Nothing of these is sent.
    for _ in range(5):
        assert transfers.send(again, small, "small.jpg", identity=b"small").was_present
    assert transfers.send(again, os.urandom(600_000), "last.jpg").reason == Reason.DECLINED


def test_daily_sent_again(place: Place):
    """what a stranger sends again after a resume counts for its day, whatever of it is here, and ends the transfer once nothing is left"""
    receiver, node = place.receiver("--daily", "4000000"), Node()
    member = joined(receiver.address, node)
    data = os.urandom(3 * MiB)
    outgoing = Outgoing(member, data, "photo.jpg", identity=IDENTITY)
    assert outgoing.start() is None
    outgoing.send_until(MiB)
    # Stored after these bytes.
    assert transfers.send(member, b"x", "marker.jpg", number=1).is_stored
    member.link.drop()
    resumed(member, receiver.address)
    outgoing.go_on()
    piece = 8 << 10
    for offset in range(0, MiB, piece):
        if offset % (256 << 10) == 0:
            member.send(Position(outgoing.number, MiB - (256 << 10)))
        member.send(Chunk(outgoing.number, data[:piece]))
    refused = member.wait_for(Refuse, where=outgoing.is_ours)
    assert refused.reason == Reason.DECLINED, refused
    assert receiver.event("failed")["reason"] == "daily-limit"
    assert "marker.jpg" in os.listdir(place.folder / "received")
    assert "photo.jpg" not in os.listdir(place.folder / "received")


@contextlib.contextmanager
def claiming_all(place: Place, *words):
    """imagesend sends a photo to a receiver that claims to have all of it; nothing but its digest comes."""
    data = os.urandom(MiB + 1)
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(data)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, member = meetings.called_by(place, server, *words, photo)
        member.let_in()
        incoming = Incoming(member)
        member.send(AcceptOffer(incoming.number, len(data), len(data)))
        end = member.wait_for(End)
        assert end.size == len(data) and end.digest == hashlib.sha256(data).digest(), end
        yield sender, member, incoming


def check_nothing_stored(sender: Program, status: int, reason: str) -> None:
    """Shows that imagesend ends with this and says of no file that it is there, neither to programs nor to people."""
    assert sender.wait() == status, (sender.process.returncode, sender.error_text())
    events = sender.new_events()
    assert not [event for event in events if event["event"] in ("stored", "present")], events
    assert [event["reason"] for event in events if event["event"] == "failed"] == [reason], events
    assert (events[-1]["stored"], events[-1]["present"], events[-1]["failed"], events[-1]["exitCode"]) == (0, 0, 1, status), events[-1]
    text = sender.error_text()
    assert "photo.jpg" in text and "stored" not in text.replace("what is stored is not sent again", "") and "already" not in text, text


def test_receiver_that_claims_all(place: Place):
    """imagesend believes a receiver nothing that claims to have all bytes and then does nothing: it ends with 5, and says of no file that
    it is stored or there already"""
    with claiming_all(place, "--timeout", "5") as (sender, member, _):
        # Alive, and silent about the file.
        while sender.is_running:
            try:
                member.receive(0.3)
            except Late:
                pass
            except LinkEnded:
                break
        check_nothing_stored(sender, 5, "timed-out")


def test_receiver_that_claims_all_and_refuses(place: Place):
    """nor one that then says that the digest is another one: the file is lost, with 5"""
    with claiming_all(place) as (sender, member, incoming):
        member.send(transfers.Refuse(incoming.number, Reason.DIGEST_MISMATCH))
        member.see_off()
        check_nothing_stored(sender, 5, "digest-mismatch")


def test_huge_offer(place: Place):
    """an offer of 2^62 - 1 bytes costs nobody else what he has begun"""
    data, node = os.urandom(3 * MiB), Node()
    partial(place, data, node)
    receiver = place.receiver()
    outcome = Outgoing(joined(receiver.address), b"", "huge.jpg", size=(1 << 62) - 1, identity=b"huge").start()
    assert outcome is not None and outcome.reason == Reason.DISK_FULL, outcome
    outcome = transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY)
    assert outcome.is_stored and outcome.offset >= MiB, outcome


def test_four_huge_offers(place: Place):
    """four offers that add up beyond 64 bits are four refusals"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for number in range(4):
        outcome = Outgoing(member, b"", f"huge{number}.jpg", number=number, size=1 << 61).start()
        assert outcome is not None and outcome.reason == Reason.DISK_FULL, outcome
    member.link.ping()
    receiver.check_alive()


def test_others_share(place: Place):
    """one sender's many beginnings cost another sender none of his"""
    data, node = os.urandom(2 * MiB), Node()
    partial(place, data, node)
    receiver, greedy = place.receiver(), Node()
    for number in range(20):
        member = joined(receiver.address, greedy)
        outgoing = Outgoing(member, bytes(2 * MiB), f"{number}.jpg", number=number, identity=b"%d" % number)
        assert outgoing.start() is None
        outgoing.send_until(MiB + 1)
        member.link.drop()
    receiver.end()
    receiver = place.receiver()
    outcome = transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY)
    assert outcome.is_stored and outcome.offset >= MiB, outcome


def test_never_stored(place: Place):
    """imagesend gives a receiver up that has credited all bytes and never says stored"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo" * 100)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, member = meetings.called_by(place, server, "--timeout", "5", photo)
        member.let_in()
        incoming = Incoming(member)
        incoming.accept()
        member.wait_for(End)
        # Alive, and silent about the file.
        while sender.is_running:
            try:
                member.receive(0.3)
            except Late:
                member.link.send(transfers.TransferCredit(incoming.number, incoming.size, incoming.size))
            except Exception:
                break
        assert sender.wait(10) == 5, sender.error_text()


class Endless(http.server.BaseHTTPRequestHandler):
    """Zeros without end, with an announced size or without one."""
    given = 0

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        if "announced" in self.path:
            self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(65_536))
                Endless.given += 65_536
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Held(threading.Thread):
    """The most bytes that a program has at a time in files without a name, wherever, and in files below a folder, and in memory."""

    def __init__(self, program: Program, folder: pathlib.Path):
        super().__init__(daemon=True)
        self.program, self.folder = program, folder
        self.in_files = self.in_memory = self.looks = 0
        self.is_over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.is_over.wait(0.01):
            self.look()

    def look(self) -> None:
        sizes = {}
        for path in [*pathlib.Path(f"/proc/{self.program.pid}/fd").glob("*"), *self.folder.rglob("*")]:
            try:
                found = path.stat()
            except OSError:
                continue  # gone meanwhile
            if stat.S_ISREG(found.st_mode) and (found.st_nlink == 0 or path.is_relative_to(self.folder)):
                # What it has given back of a file is a hole there.
                sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
        try:
            self.in_memory = max(self.in_memory, self.program.memory())
        except (AssertionError, OSError):
            return  # it has ended
        self.in_files = max(self.in_files, sum(sizes.values()))
        self.looks += 1

    def end(self) -> None:
        self.is_over.set()
        self.join()


def taken_of_a_url(place: Place, path: str) -> tuple[int, Held]:
    """How many bytes are taken from this URL for a receiver that gives a credit of 1 MiB, and what imagesend holds of them at a time."""
    temporary = place.path("temporary")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as web, socket.create_server(("127.0.0.1", 0)) as server:
        web.daemon_threads = True
        threading.Thread(target=web.serve_forever, daemon=True).start()
        sender, member = meetings.called_by(place, server, "--timeout", "5", f"http://127.0.0.1:{web.server_port}/{path}.jpg")
        held = Held(sender, temporary)
        member.let_in()
        try:
            incoming = Incoming(member, patience=3)
            incoming.accept(credit=MiB)
            incoming.read_until(MiB, patience=3)
        except (AssertionError, LinkEnded, Late):
            pass  # a file without an announced end may never be offered
        sender.wait(15)
        held.end()
        web.shutdown()
    assert not os.listdir(temporary), os.listdir(temporary)
    assert held.looks > 10, held.looks
    return Endless.given, held


def test_endless_url(place: Place):
    """a URL without an announced end is given up after 64 MiB: no more is in files at any time, and in memory there are a few"""
    given, held = taken_of_a_url(place, "endless")
    assert given < 96 * MiB, f"{given >> 20} MiB were taken"
    # At least some of it was seen on its way.
    assert MiB < held.in_files < 68 * MiB and held.in_memory < 64 * MiB, (held.in_files, held.in_memory)


def test_long_url(place: Place):
    """a URL with more than the receiver takes is held back: 4 MiB ahead of that are in files, and what is in sockets comes on top"""
    given, held = taken_of_a_url(place, "announced")
    assert given < 24 * MiB, f"{given >> 20} MiB were taken"
    assert MiB < held.in_files < 8 * MiB and held.in_memory < 64 * MiB, (held.in_files, held.in_memory)


def test_names(place: Place):
    """names that leave the directory, hide, deceive or start programs are refused with reason 32"""
    receiver = place.receiver()
    member = joined(receiver.address)
    names = ["../photo.jpg", "/etc/photo.jpg", "..", ".", "", ".hidden.jpg", "a\0b.jpg", "a\nb.jpg", "a\x1b[2Jb.jpg", "gpj.\u202eexe",
             "\u061cphoto.jpg", "photo\u200f.jpg", "pho\u200bto.jpg", "\ufeffphoto.jpg", "x.desktop", "x" * 300 + ".jpg", "a/b/../../../c.jpg"]
    for number, name in enumerate(names):
        outcome = Outgoing(member, b"photo", name, number=number).start()
        assert outcome is not None and outcome.reason == Reason.NAME_REFUSED, (name, outcome)
    outcome = Outgoing(member, b"photo", b"\xff\xfe.jpg", number=99).start()
    assert outcome is None or outcome.reason == Reason.NAME_REFUSED
    assert not [name for name in os.listdir(place.folder / "received") if not name.startswith(".")]
    beside = {"received", "receiver", "temporary", receiver.log.name, receiver.log.with_suffix(".output").name}
    assert set(os.listdir(place.folder)) == beside, os.listdir(place.folder)


def test_overwrite_within_one_command(place: Place):
    """two different files of one sender never meet, though the receiver overwrites what was there before"""
    receiver = place.receiver("--on-conflict", "overwrite")
    member = joined(receiver.address)
    for number, data in enumerate((b"holiday", b"other")):
        assert transfers.send(member, data, "strand.jpg", number=number).is_stored
    folder = place.folder / "received"
    assert sorted((folder / name).read_bytes() for name in os.listdir(folder)) == [b"holiday", b"other"]


def test_overwrite_of_what_is_there(place: Place):
    """a file that was there already under a number is not replaced by another one of the same sender"""
    receiver = place.receiver("--on-conflict", "overwrite")
    node, contents = Node(), [os.urandom(100_000) for _ in range(3)]
    member = joined(receiver.address, node)
    for number, data in enumerate(contents[:2]):
        assert transfers.send(member, data, "strand.jpg", number=number, identity=b"%d" % number).is_stored
    # Another run of the sender, whose first file is there as the number of another one.
    member = joined(receiver.address, Node())
    outcome = transfers.send(member, contents[1], "strand.jpg", number=0, identity=b"1")
    assert outcome.was_present, outcome
    assert transfers.send(member, contents[2], "strand (2).jpg", number=1, identity=b"2").is_stored
    folder = place.folder / "received"
    assert sorted((folder / name).read_bytes() for name in os.listdir(folder)) == sorted(contents)


def test_content_under_another_number(place: Place):
    """what is there already is recognised when its sender numbers its name otherwise"""
    receiver = place.receiver()
    node, data = Node(), os.urandom(100_000)
    assert transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY).is_stored
    outcome = transfers.send(joined(receiver.address, node), data, "photo (3).jpg", identity=IDENTITY)
    assert outcome.was_present and outcome.offset == len(data), outcome
    assert os.listdir(place.folder / "received") == ["photo.jpg"]


def test_known_content(place: Place):
    """what is there already under its name, or its name with a number, is recognised and not stored a second time"""
    receiver = place.receiver()
    node, data, other = Node(), os.urandom(100_000), os.urandom(100_000)
    assert transfers.send(joined(receiver.address, node), other, "photo.jpg").is_stored
    assert transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY).is_stored
    outcome = transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=IDENTITY)
    assert outcome.was_present and outcome.offset == len(data), outcome
    # A node that has another file of that size and name stores it again, whole.
    third = os.urandom(100_000)
    outgoing = Outgoing(joined(receiver.address, node), third, "photo.jpg", identity=b"another")
    assert outgoing.start() is None
    outcome = outgoing.finish()
    assert outcome.is_stored and outgoing.has_restarted == (outcome.offset > 0), outcome
    assert sorted(path.read_bytes() for path in (place.folder / "received").iterdir()) == sorted((data, other, third))


def test_folders_outside(place: Place):
    """folders that lead outside, hide, deceive or are none are refused with reason 32"""
    receiver = place.receiver()
    member = joined(receiver.address)
    folders = ["..", "a/../b", ".", "a/.", ".hidden", "a\x1bb", "\u202ea", "\u200f", "/", "a//b", "/etc", "a/", "/".join("a" * 17)]
    for number, folder in enumerate(folders):
        outcome = Outgoing(member, b"photo", "photo.jpg", number=number, folder=folder).start()
        assert outcome is not None and outcome.reason == Reason.NAME_REFUSED, (folder, outcome)
    assert not os.listdir(place.folder / "received")


def test_folder_that_is_a_link(place: Place):
    """nothing is stored through a link in the place of a folder"""
    outside, received = place.path("outside"), place.path("received")
    (received / "link").symlink_to(outside)
    (received / "file").write_bytes(b"")
    receiver = place.receiver()
    member = joined(receiver.address)
    for number, folder in enumerate(("link", "link/further", "file/further")):
        outcome = transfers.send(member, b"photo", "photo.jpg", number=number, folder=folder)
        if outcome.is_stored:
            assert not outcome.path.startswith(folder.split("/")[0].encode() + b"/"), outcome
            assert (received / outcome.path.decode()).read_bytes() == b"photo"
    assert not os.listdir(outside), os.listdir(outside)


def test_rename(place: Place):
    """another photo under a taken name is kept beside it"""
    receiver = place.receiver()
    member = joined(receiver.address)
    names = [transfers.send(member, data, "photo.jpg", number=number).path for number, data in enumerate((b"one", b"two"))]
    assert names[0] == b"photo.jpg" != names[1], names
    assert (place.folder / "received" / names[1].decode()).read_bytes() == b"two"


def test_skip(place: Place):
    """--on-conflict skip that has skipped a different photo ends with 6"""
    (place.path("received") / "photo.jpg").write_bytes(b"another")
    receiver = place.receiver("--on-conflict", "skip", "--count", 1)
    member = joined(receiver.address)
    assert not transfers.send(member, b"photo", "photo.jpg").is_stored
    assert transfers.send(member, b"photo", "second.jpg", number=1).is_stored
    assert receiver.wait() == 6


def test_link_in_a_folder(place: Place):
    """a link to a directory in a folder is not followed by imagesend"""
    album = place.path("album")
    (album / "inside.jpg").write_bytes(b"inside")
    (place.path("private") / "secret.jpg").write_bytes(b"secret")
    (album / "loop").symlink_to("../private")
    identity = Identity.below(place.node_of("sender"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, member = meetings.called_by(place, server, album, node=Node(identity))
        member.let_in()
        names = []
        try:
            while True:
                incoming = Incoming(member, patience=1 if names else 10)
                names.append(incoming.offer.name.rpartition(b"/")[2])
                incoming.accept()
                incoming.finish()
        except (Late, AssertionError):
            pass
        member.link.drop()
        sender.end()
    assert names == [b"inside.jpg"], names
