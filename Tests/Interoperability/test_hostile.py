"""Bytes that are no frames, handshakes that are none, and deaths at any moment: the programs stand."""
import contextlib
import hashlib
import os
import random
import socket
import time

import document
import frames
import tls
import transfers
from association import Association, joined
from link import Late, Link, LinkEnded, Node
from marks import may_take, times
from place import Place, Program

SEED = 11


def vectors() -> list[bytes]:
    return [data for kind in ("golden", "refused") for data in document.vectors(kind).values()]


def mutated(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randrange(0, 4)):
        kind = dice.randrange(4)
        at = dice.randrange(len(changed) + 1)
        if kind == 0 and at < len(changed):
            changed[at] = dice.randrange(256)
        elif kind == 1:
            changed[at:at] = dice.randbytes(dice.randrange(1, 5))
        elif kind == 2:
            del changed[at:at + dice.randrange(1, 5)]
        else:
            changed += changed[:at]
    return bytes(changed)


def torment(dice: random.Random, link: Link, batches: int, sent: bytearray | None = None) -> int:
    """Sends frames in any order, some of them broken, until the link is ended; adds them to `sent`.
    - Returns: how many."""
    choice, count = vectors(), 0
    try:
        for _ in range(batches):
            some = [mutated(dice, dice.choice(choice)) for _ in range(dice.randrange(1, 6))]
            if sent is not None:
                sent += b"".join(some)
            link.send_bytes(b"".join(some), patience=2)
            count += len(some)
            try:
                link.receive(0.002)
            except Late:
                pass
    except (LinkEnded, Late, frames.FormatError, tls.HandshakeError):
        pass
    link.drop()
    return count


def stands(program: Program, before: int) -> None:
    """Shows that the program serves the next honest node, and has not grown."""
    program.check_alive()
    member = joined(program.address)
    member.link.ping()
    member.leave()
    grown = program.memory() - before
    assert grown < 24 << 20, f"{grown >> 20} MiB more in memory"


@may_take(1_200)
def test_frames_of_strangers(place: Place):
    """hundreds of hostile frames, with --all twenty thousand, before and after a hello, end links and nothing else"""
    dice = random.Random(SEED)
    receiver = place.receiver()
    before = receiver.memory()
    count, links = 0, 0
    while count < times(700, 20_000):
        links += 1
        link = Link.secured(receiver.address, Node())
        if links % 2:
            try:
                link.greet()
            except (LinkEnded, frames.FormatError):
                continue
        count += torment(dice, link, 12)
    stands(receiver, before)


def let_in_again(receiver: Program) -> Association:
    """Joins as soon as there is a place again: members that died without a goodbye have theirs for `--timeout`."""
    until = time.monotonic() + 10
    while True:
        receiver.check_alive()
        try:
            return joined(receiver.address)
        except (AssertionError, LinkEnded) as refused:
            assert time.monotonic() < until, f"no place comes back: {refused}"
            time.sleep(0.1)


@may_take(1_200)
def test_frames_of_members(place: Place):
    """hundreds of hostile frames of members, with --all 22,000, end associations of one receiver, which lets the next one in, does not
    grow, and stores nothing whose digest nobody has stated, and nothing outside"""
    dice = random.Random(SEED + 1)
    receiver = place.receiver("--timeout", 1)
    before = receiver.memory()
    count, sent = 0, bytearray()
    while count < times(700, 22_000):
        count += torment(dice, let_in_again(receiver).link, 20, sent)
    honest = let_in_again(receiver)
    data = dice.randbytes(100_000)
    assert transfers.send(honest, data, "honest.jpg").is_stored
    honest.leave()
    grown = receiver.memory() - before
    assert grown < 24 << 20, f"{grown >> 20} MiB more in memory"
    for path in (place.folder / "received").rglob("[!.]*"):
        if path.is_file():
            content = path.read_bytes()
            assert content == data or hashlib.sha256(content).digest() in sent, (path, content[:100])
    assert (place.folder / "received/honest.jpg").read_bytes() == data
    assert {path.name for path in place.folder.iterdir()} <= {
        "received", "receiver", "temporary", *(path.name for path in place.folder.glob("*-[0-9]*.*"))}


def test_frames_to_a_sender(place: Place):
    """hostile frames to imagesend end it in time, and with no success"""
    dice = random.Random(SEED + 2)
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(bytes(200_000))
    count = 0
    for number in range(12):
        node = Node()
        with socket.create_server(("127.0.0.1", 0)) as server:
            sender = place.sender(server.getsockname(), "--fingerprint", node.identity.fingerprint, "--timeout", "1", photo,
                                  state=f"sender{number % 4}")
            # On a busy machine it may have given us up before the first frame.
            with contextlib.suppress(AssertionError, LinkEnded, Late):
                association = Association(Link.accept(server, node))
                if number % 2:
                    association.let_in()
                count += torment(dice, association.link, 30)
        # 7: it was asked to compare a code, and that came to nothing.
        assert sender.wait(20) in (4, 5, 7), (sender.process.returncode, sender.error_text())
    assert count, "no hostile frames were sent"


@may_take(1_200)
def test_broken_handshakes(place: Place):
    """hundreds of broken TLS handshakes, with --all 37,000, end their links and nothing else"""
    dice = random.Random(SEED + 3)
    receiver = place.receiver()
    before = receiver.memory()
    first = tls.Channel(Node().identity, True, [tls.PLAIN])
    first.advance()
    client_hello = first.outgoing()
    for number in range(times(400, 37_000)):
        with socket.create_connection(receiver.address, 5) as connection:
            data = mutated(dice, client_hello) if number % 4 else dice.randbytes(dice.randrange(1, 600))
            try:
                connection.sendall(data[:dice.randrange(1, len(data) + 1)] if number % 3 == 0 else data)
                if number % 5 == 0:
                    connection.settimeout(0.05)
                    connection.recv(4_096)
                    connection.sendall(dice.randbytes(200))
            except OSError:
                pass
    stands(receiver, before)


def test_records_after_the_handshake(place: Place):
    """TLS records that were changed on their way end the link"""
    dice = random.Random(SEED + 4)
    receiver = place.receiver()
    before = receiver.memory()
    for _ in range(60):
        link = Link.dial(receiver.address, Node())
        sealed = bytearray(link.channel.seal(frames.Ping(1).encode()))
        sealed[dice.randrange(len(sealed))] ^= 1 << dice.randrange(8)
        link.write(bytes(sealed))
        try:
            while True:
                assert not isinstance(link.receive(0.05), frames.Pong), "a changed record was taken"
        except (LinkEnded, Late, tls.HandshakeError):
            pass
        link.drop()
    stands(receiver, before)


@may_take(1_200)
def test_kills(place: Place):
    """a receiver that is killed at any moment has the whole file under its name or none, and goes on"""
    dice = random.Random(SEED + 5)
    data, node = dice.randbytes(3 << 20), Node()
    for number in range(times(8, 160)):
        directory = f"received{number}"
        receiver = place.receiver(directory=directory)
        outgoing = transfers.Outgoing(joined(receiver.address, node), data, "photo.jpg", identity=b"same")
        assert outgoing.start() is None
        outgoing.send_until(dice.randrange(len(data) + 1))
        if number % 2:
            outgoing.send_until(len(data))
            outgoing.association.send(frames.End(0, len(data), 1, hashlib.sha256(data).digest()))
        receiver.kill()
        stored = place.folder / directory / "photo.jpg"
        assert not stored.exists() or stored.read_bytes() == data
        receiver = place.receiver(directory=directory)
        outcome = transfers.send(joined(receiver.address, node), data, "photo.jpg", identity=b"same")
        # If it died after its last act, the file is there already.
        assert outcome.path == b"photo.jpg", outcome
        receiver.end()
        assert os.listdir(place.folder / directory) == ["photo.jpg"], os.listdir(place.folder / directory)
        assert stored.read_bytes() == data


def test_death_of_a_sender(place: Place):
    """a sender that dies in mid-transfer leaves no file under its name, and the next one is served"""
    receiver = place.receiver()
    for number in range(10):
        member = joined(receiver.address)
        outgoing = transfers.Outgoing(member, bytes(2 << 20), "photo.jpg")
        assert outgoing.start() is None
        outgoing.send_until(100_000 * number)
        member.link.drop()
        assert "photo.jpg" not in os.listdir(place.folder / "received")
    assert transfers.send(joined(receiver.address), b"photo", "photo.jpg").is_stored
