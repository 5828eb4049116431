"""Discovery over IP, section 15 of the document, with Multicast DNS on lo."""
import contextlib
import os
import random
import select
import socket
import time
import types

import mdns
import meetings
import tls
from association import Association
from frames import Invite
from link import Late, Link, LinkEnded, Node
from marks import may_take, times
from place import Place, Program
from transfers import Incoming


def test_found_by_us(place: Place):
    """we find imagerecv by its records, and they name its key, its session and its port"""
    receiver = place.receiver(name="Living room")
    text, port = mdns.Neighbour().find("Living room")
    assert text["v"] == "1" and text["id"] == receiver.node.hex() and text["s"] == "interoperability", text
    assert port == receiver.address[1]
    link = Link.dial(("127.0.0.1", port), Node())
    assert int(text["inc"], 16) == link.greeting.incarnation


def test_found_by_name(place: Place):
    """imagesend finds us by the name that we advertise, and sends, since it knows us"""
    node = Node(name="Kitchen")
    meetings.known_to_sender(place, node)
    photo = place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(None, "--to", "Kitchen", photo)
        neighbour = mdns.Neighbour()
        packet = mdns.service(node, server.getsockname()[1])
        mdns.advertise_while(neighbour, [packet], lambda: any(event["event"] == "connecting" for event in sender.new_events()))
        member = Association(Link.accept(server, node))
        member.let_in()
        incoming = Incoming(member)
        incoming.accept()
        assert incoming.finish() == b"photo"
        member.see_off()
        assert sender.wait() == 0, sender.error_text()


def test_scan(place: Place):
    """piconet scan tells of us, of another address, and that we are gone after a goodbye"""
    node = Node(name="Kitchen")
    scan = place.start("piconet", "scan", "--session", node.session_id, "--json")
    neighbour = mdns.Neighbour()
    seen = []

    def has(kind):
        seen.extend(scan.new_events())
        return any(event["event"] == kind and event["peer"] == node.identity.fingerprint for event in seen)
    mdns.advertise_while(neighbour, [mdns.service(node, 4_000)], lambda: has("found"))
    mdns.advertise_while(neighbour, [mdns.service(node, 4_001)], lambda: has("changed"))
    mdns.advertise_while(neighbour, [mdns.service(node, 4_001, seconds=0)], lambda: has("lost"))


def wait_until_read(program: Program) -> list[dict]:
    """Waits until no datagrams wait for the program; returns its new events.

    Faster than it reads, the kernel would drop some, and they would show nothing; while nobody takes what it writes it reads nothing."""
    until, events = time.monotonic() + 30, []
    while program.datagrams()[0] > 0 and time.monotonic() < until:
        events += program.new_events()
        time.sleep(0.001)
    return events + program.new_events()


def check_read(program: Program, count: int) -> None:
    """Shows that the program has read this many packets. Some find no room all the same, on a busy machine: one in a hundred is too few
    to say that it read nothing."""
    until = time.monotonic() + 10
    while program.datagrams()[0] > 0 and time.monotonic() < until:
        time.sleep(0.001)
    program.check_alive()
    waiting, dropped = program.datagrams()
    assert waiting == 0 and dropped < count // 100, (waiting, dropped)


@may_take(1_200)
def test_hostile_packets(place: Place):
    """thousands of broken and random packets, with --all 220,000, change nothing: the next neighbour is found"""
    dice = random.Random(11)
    node = Node(name="Kitchen")
    scan = place.start("piconet", "scan", "--session", node.session_id, "--json")
    neighbour, good = mdns.Neighbour(), mdns.service(node, 4_000)
    mdns.advertise_while(neighbour, [good], lambda: scan.new_events())
    before = scan.memory()

    for _ in range(times(100, 3_500)):
        for number in range(60):
            # Some of what its sockets hold.
            if number % 12 == 0:
                wait_until_read(scan)
            packet = bytearray(good)
            for _ in range(dice.randrange(1, 6)):
                packet[dice.randrange(len(packet))] = dice.randrange(256)
            neighbour.say(bytes(packet[:dice.randrange(13, len(packet) + 1)]) if dice.random() < 0.5 else bytes(packet))
        neighbour.say(dice.randbytes(dice.randrange(1, 1_400)))
        # One name that points to itself, and one that points beyond the end.
        neighbour.say(bytes.fromhex("000084000000000100000000") + bytes.fromhex("c00c 000c 0001 00000078 0002 c00c"))
        neighbour.say(bytes.fromhex("000084000000000100000000") + bytes.fromhex("ffff 000c 0001 00000078 0002 ffff"))
        wait_until_read(scan)
    check_read(scan, 63 * times(100, 3_500))
    other = Node(name="Cellar")
    mdns.advertise_while(neighbour, [mdns.service(other, 4_002)],
                         lambda: any(event.get("peer") == other.identity.fingerprint for event in scan.new_events()))
    assert scan.memory() - before < 20 << 20, scan.memory() - before


def invented(number: int) -> Node:
    """A node of which there is nothing but an id."""
    return Node(types.SimpleNamespace(fingerprint=os.urandom(32).hex()), f"stranger {number}")


def test_many_strangers(place: Place):
    """one source that advertises 2,640 strangers fills what it may fill, so that no more of its own are told of, and keeps nobody else from
    being found"""
    node = Node(name="Kitchen")
    scan = place.start("piconet", "scan", "--session", node.session_id, "--json")
    neighbour, events = mdns.Neighbour(), []

    def found() -> set[str]:
        events.extend(scan.new_events())
        return {event["peer"] for event in events if event["event"] == "found"}
    mdns.advertise_while(neighbour, [mdns.service(invented(0), 4_000)], found)
    before = scan.memory()
    for number in range(1, 2_641):
        neighbour.say(mdns.service(invented(number), 4_000, host=f"s{number}"))
        if number % 12 == 0:
            events.extend(wait_until_read(scan))
    events.extend(wait_until_read(scan))
    check_read(scan, 2_640)
    # A share of what it takes of all sources: most of them are told of no more.
    assert 100 < len(found()) < 1_000, len(found())
    # Another source, at another address of this host.
    other = mdns.Neighbour(source="127.0.0.2")
    mdns.advertise_while(other, [mdns.service(node, 4_001, address="127.0.0.2")], lambda: node.identity.fingerprint in found())
    assert scan.memory() - before < 20 << 20


def test_provoked_queries(place: Place):
    """one packet that names hundreds of services provokes a few queries"""
    scan = place.start("piconet", "scan", "--session", "interoperability", "--json")
    node = Node()
    neighbour, listener = mdns.Neighbour(), mdns.Neighbour()
    mdns.advertise_while(neighbour, [mdns.service(node, 4_000)], lambda: scan.new_events())
    names = [mdns.Record(mdns.SERVICE, mdns.PTR, mdns.name((f"x{number}", *mdns.SERVICE))) for number in range(145)]
    packet = mdns.response(*names)
    assert len(packet) < 9_000, len(packet)
    heard = 0
    try:
        while True:
            listener.hear(0.2)
    except Late:
        pass
    neighbour.say(packet)
    until = time.monotonic() + 1
    while time.monotonic() < until:
        try:
            asked, _ = mdns.read(listener.hear(until - time.monotonic()))
            heard += bool(asked)
        except Late:
            break
    assert heard <= 15, f"{heard} queries in a second"


def meet_impostor(wrong: socket.socket) -> None:
    """Shows that somebody has dialled there, and ends the link at the handshake, before a hello."""
    assert is_dialled(wrong), "the wrong address is not dialled"
    try:
        link = Link.accept(wrong, Node(name="Bob"))
    except (LinkEnded, tls.HandshakeError):
        return
    raise AssertionError(f"another key was taken for Bob: {link.greeting}")


def is_dialled(*servers: socket.socket) -> bool:
    return bool(select.select(servers, [], [], 0)[0])


def take_photo(server: socket.socket, bob: Node) -> bytes:
    """What imagesend sends to Bob at his address."""
    member = Association(Link.accept(server, bob))
    member.let_in()
    incoming = Incoming(member)
    incoming.accept()
    data = incoming.finish()
    member.see_off()
    return data


@contextlib.contextmanager
def spoofed_first(place: Place, timeout: int):
    """imagesend looks for Bob, whom it knows, and has dialled another address that was advertised for him, before his own."""
    bob, photo = Node(name="Bob"), place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    meetings.known_to_sender(place, bob)
    with socket.create_server(("127.0.0.2", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        sender = place.sender(None, "--to", "Bob", "--timeout", timeout, photo)
        # Of two instances in one packet the one with the shorter name comes first, and is dialled first.
        spoofed = mdns.service(bob, other.getsockname()[1], label="A", host="spoof")
        honest = mdns.service(bob, server.getsockname()[1], address="127.0.0.2")
        mdns.advertise_while(mdns.Neighbour(), [mdns.in_one(spoofed, honest)], lambda: is_dialled(other, server))
        assert not is_dialled(server), "Bob's own address is dialled first"
        yield bob, server, other
        assert sender.wait() == 0, sender.error_text()


def test_other_key_at_the_address(place: Place):
    """a spoofed sighting with Bob's id and another address, which is dialled first, spoils nothing: Bob is reached at his own"""
    with spoofed_first(place, timeout=8) as (bob, server, wrong):
        meet_impostor(wrong)
        assert take_photo(server, bob) == b"photo"


def test_silence_at_the_address(place: Place):
    """nor does one that leads to somebody who takes connections and says nothing: Bob is reached beside it"""
    with spoofed_first(place, timeout=20) as (bob, server, _):
        assert take_photo(server, bob) == b"photo"


def test_address_after_the_wrong_one(place: Place):
    """so it is where Bob's own address comes in sight when the wrong one has been dialled, and nobody has answered there yet"""
    bob, photo = Node(name="Bob"), place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    meetings.known_to_sender(place, bob)
    with socket.create_server(("127.0.0.2", 0)) as server, socket.create_server(("127.0.0.1", 0)) as wrong:
        sender, neighbour = place.sender(None, "--to", "Bob", "--timeout", "8", photo), mdns.Neighbour()
        spoofed = mdns.service(bob, wrong.getsockname()[1], label="Bob at home", host="spoof")
        honest = mdns.service(bob, server.getsockname()[1], address="127.0.0.2")
        mdns.advertise_while(neighbour, [spoofed], lambda: is_dialled(wrong))
        for _ in range(3):
            neighbour.say(honest)
            wait_until_read(sender)
        meet_impostor(wrong)
        mdns.advertise_while(neighbour, [honest], lambda: is_dialled(server) or not sender.is_running)
        assert is_dialled(server), f"Bob's own address is not dialled: {sender.error_text()}"
        assert take_photo(server, bob) == b"photo"
        assert sender.wait() == 0, sender.error_text()


def pretended(bob: Node, **changes) -> Node:
    """A node that nobody has, which tells the same of itself as Bob's, but for these."""
    facts = {"identity": bob.identity, "name": bob.name, "session_id": bob.session_id, "incarnation": bob.incarnation}
    return types.SimpleNamespace(**(facts | changes))


def spoofs(bob: Node, port: int, wrong: int, other_port: int, refusing: int) -> dict[str, list[bytes]]:
    """Field by field, packets with another value than Bob's own. Bob listens at `port`, the sender of the packets at `wrong`, and another
    program of Bob's host at `other_port`; nobody listens at `refusing`."""
    spoofed = {"host": "spoof", "address": "127.0.0.3"}
    later = pretended(bob, incarnation=bob.incarnation ^ 1)
    return {
        "incarnation": [mdns.service(later, wrong, label="A", **spoofed)],
        "many incarnations": [mdns.service(pretended(bob, incarnation=number), wrong, label=f"A{number}", **spoofed)
                              for number in random.sample(range(1, 1 << 60), 5)],
        "address": [mdns.service(bob, wrong, label="A", **spoofed)],
        "port": [mdns.service(bob, other_port, address="127.0.0.2")],
        "port that refuses": [mdns.service(bob, refusing, address="127.0.0.2")],
        "target": [mdns.service(bob, wrong, **spoofed)],
        "text": [mdns.service(later, port, address="127.0.0.2")],
        "goodbye": [mdns.service(bob, port, seconds=0, address="127.0.0.2")],
        "time to live": [mdns.service(bob, port, seconds=1, address="127.0.0.2")],
        "name": [mdns.service(later, wrong, label="A", called="Mary", **spoofed)],
        "info": [mdns.service(bob, wrong, label="A", info={"role": "relay"}, **spoofed)],
    }


@may_take(900)
def test_unauthenticated_fields(place: Place):
    """whatever somebody on the link tells of Bob, ten times a second, with whatever field another than Bob's: imagesend reaches Bob, by name
    and by fingerprint, each time"""
    bob, photo = Node(name="Bob"), place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    meetings.known_to_sender(place, bob)
    hostile, honest = mdns.Neighbour(source="127.0.0.3"), mdns.Neighbour(source="127.0.0.2")
    with (socket.create_server(("127.0.0.2", 0)) as server, socket.create_server(("127.0.0.3", 0)) as wrong,
          socket.create_server(("127.0.0.2", 0)) as other, socket.socket() as unheard):
        unheard.bind(("127.0.0.2", 0))
        port, refusing = server.getsockname()[1], unheard.getsockname()[1]
        own = mdns.service(bob, port, address="127.0.0.2")
        for field, packets in spoofs(bob, port, wrong.getsockname()[1], other.getsockname()[1], refusing).items():
            for number in range(times(2, 6)):
                whom = ("--to", "Bob") if number % 2 == 0 else ("--fingerprint", bob.identity.fingerprint)
                sender = place.sender(None, *whom, "--timeout", "10", photo)
                began, until, next_own = None, time.monotonic() + 20, 0.0
                while not is_dialled(server) and sender.is_running:
                    now = time.monotonic()
                    assert now < until, (field, sender.error_text())
                    if now >= next_own:
                        honest.say(own)
                        next_own = now + 1.0
                    for packet in packets:
                        hostile.say(packet)
                    if began is None and any(event["event"] == "connecting" for event in sender.new_events()):
                        began = time.monotonic()
                    time.sleep(0.1)
                assert is_dialled(server), (field, sender.error_text())
                assert time.monotonic() - (began or time.monotonic()) < 2.5, field
                assert take_photo(server, bob) == b"photo", field
                assert sender.wait() == 0, (field, sender.error_text())


def called_otherwise(node: Node, port: int, name: str) -> bytes:
    """A packet of another instance with the node's id, under this name."""
    return mdns.service(node, port, label=name, host=name.lower(), called=name)


def test_name_that_another_gave(place: Place):
    """somebody advertises a stranger's id under another name, before he does so himself: he is found by his own name all the same, and
    sent to"""
    carol, photo = Node(name="Carol"), place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, neighbour = place.sender(None, "--to", "Carol", "--timeout", "8", photo, terminal=True), mdns.Neighbour()
        port = server.getsockname()[1]
        events = []

        def finds():
            events.extend(sender.new_events())
            return any(event["event"] == "found" for event in events)
        mdns.advertise_while(neighbour, [called_otherwise(carol, port, "Zed")], finds)
        assert [event["name"] for event in events if event["event"] == "found"] == ["Zed"], events
        mdns.advertise_while(neighbour, [called_otherwise(carol, port, "Zed"), mdns.service(carol, port)],
                             lambda: is_dialled(server) or not sender.is_running)
        assert is_dialled(server), f"Carol is not dialled: {sender.error_text()}"
        member = Association(Link.accept(server, carol))
        member.ask(member.wait_for(Invite))
        sender.see("Send?", after=sender.see(member.code))
        sender.type("o\n")
        member.accept()
        incoming = Incoming(member)
        incoming.accept()
        assert incoming.finish() == b"photo"
        member.see_off()
        assert sender.wait() == 0, sender.error_text()


def test_names_of_one_stranger(place: Place):
    """a stranger who is advertised as Carol and under her own name is not Carol: at the name in her hello imagesend ends with 7, before it
    has invited her, in whatever order the names came"""
    photo = place.folder / "photo.jpg"
    photo.write_bytes(b"private")
    for first, second in (("Carol", "Mary"), ("Mary", "Carol")):
        mary = Node(name="Mary")
        with socket.create_server(("127.0.0.1", 0)) as server:
            sender = place.sender(None, "--to", "Carol", "--timeout", "5", photo, terminal=True)
            port = server.getsockname()[1]
            both = mdns.in_one(called_otherwise(mary, port, first), called_otherwise(mary, port, second))
            mdns.advertise_while(mdns.Neighbour(), [both], lambda: is_dialled(server) or not sender.is_running)
            assert is_dialled(server), f"nobody is dialled: {sender.error_text()}"
            try:
                Association(Link.accept(server, mary, patience=3)).wait_for(Invite, patience=3)
            except (Late, LinkEnded, OSError):
                assert sender.wait() == 7 and "calls itself 'Mary'" in sender.look(), sender.look()
                continue
            raise AssertionError("Mary was invited in Carol's place")


def test_name_of_another_kind(place: Place):
    """a hello is not what an advertised port must lead to: silence, TLS of others and refusals end in time"""
    photo = place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    node = Node(name="Bob")
    meetings.known_to_sender(place, node)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(None, "--to", "Bob", "--timeout", "2", photo)
        neighbour = mdns.Neighbour()
        mdns.advertise_while(neighbour, [mdns.service(node, server.getsockname()[1])],
                             lambda: any(event["event"] == "connecting" for event in sender.new_events()))
        assert sender.wait(12) in (3, 5), sender.process.returncode
