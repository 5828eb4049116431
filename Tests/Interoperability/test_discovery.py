"""Discovery over IP, section 15 of the document, with Multicast DNS on lo."""
import random
import socket
import time

import mdns
import meetings
from association import Association
from link import Late, Link, LinkEnded, Node
from marks import may_take, times
from place import Place
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


@may_take(1_200)
def test_hostile_packets(place: Place):
    """thousands of broken and random packets, with --all 220,000, change nothing: the next neighbour is found"""
    dice = random.Random(11)
    node = Node(name="Kitchen")
    scan = place.start("piconet", "scan", "--session", node.session_id, "--json")
    neighbour, good = mdns.Neighbour(), mdns.service(node, 4_000)
    mdns.advertise_while(neighbour, [good], lambda: scan.new_events())
    before = scan.memory()

    def wait_until_read():
        """Faster than it reads, the kernel would drop some, and they would show nothing; and while nobody takes what it writes it
        reads nothing."""
        until = time.monotonic() + 30
        while scan.datagrams()[0] > 0 and time.monotonic() < until:
            scan.new_events()
            time.sleep(0.001)
    for _ in range(times(100, 3_500)):
        for number in range(60):
            # Some of what its sockets hold.
            if number % 12 == 0:
                wait_until_read()
            packet = bytearray(good)
            for _ in range(dice.randrange(1, 6)):
                packet[dice.randrange(len(packet))] = dice.randrange(256)
            neighbour.say(bytes(packet[:dice.randrange(13, len(packet) + 1)]) if dice.random() < 0.5 else bytes(packet))
        neighbour.say(dice.randbytes(dice.randrange(1, 1_400)))
        # One name that points to itself, and one that points beyond the end.
        neighbour.say(bytes.fromhex("000084000000000100000000") + bytes.fromhex("c00c 000c 0001 00000078 0002 c00c"))
        neighbour.say(bytes.fromhex("000084000000000100000000") + bytes.fromhex("ffff 000c 0001 00000078 0002 ffff"))
        wait_until_read()
    scan.check_alive()
    # Some find no room all the same, on a busy machine: too few to say that it read nothing.
    waiting, dropped = scan.datagrams()
    assert waiting == 0 and dropped < 63 * times(100, 3_500) // 100, (waiting, dropped)
    other = Node(name="Cellar")
    mdns.advertise_while(neighbour, [mdns.service(other, 4_002)],
                         lambda: any(event.get("peer") == other.identity.fingerprint for event in scan.new_events()))
    assert scan.memory() - before < 20 << 20, scan.memory() - before


def test_many_strangers(place: Place):
    """one source that fills the table with strangers keeps nobody else from being found"""
    node = Node(name="Kitchen")
    scan = place.start("piconet", "scan", "--session", node.session_id, "--json")
    neighbour = mdns.Neighbour()
    stranger = Node()
    mdns.advertise_while(neighbour, [mdns.service(stranger, 4_000)], lambda: scan.new_events())
    for number in range(2_640):
        neighbour.say(mdns.service(stranger, 4_000, label=f"stranger {number}", host=f"s{number}", called=f"stranger {number}"))
        scan.new_events()
    before = scan.memory()
    # Another source, at another address of this host.
    other = mdns.Neighbour(source="127.0.0.2")
    mdns.advertise_while(other, [mdns.service(node, 4_001, address="127.0.0.2")],
                         lambda: any(event.get("peer") == node.identity.fingerprint for event in scan.new_events()))
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


def test_other_key_at_the_address(place: Place):
    """a spoofed sighting with Bob's id and another address spoils nothing: Bob is reached at his own"""
    bob, photo = Node(name="Bob"), place.folder / "photo.jpg"
    photo.write_bytes(b"photo")
    meetings.known_to_sender(place, bob)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.2", 0)) as wrong:
        impostor = Node(name="Bob")
        sender = place.sender(None, "--to", "Bob", "--timeout", "8", photo)
        neighbour = mdns.Neighbour()
        spoofed = mdns.service(bob, wrong.getsockname()[1], label="Bob at home", host="spoof", address="127.0.0.2")
        honest = mdns.service(bob, server.getsockname()[1])
        mdns.advertise_while(neighbour, [spoofed, honest], lambda: any(event["event"] == "connecting" for event in sender.new_events()))
        server.settimeout(8)
        member = None
        wrong.settimeout(0.5)
        try:
            Link.accept(wrong, impostor, patience=0.5)
        except (Late, LinkEnded):
            pass
        member = Association(Link.accept(server, bob))
        member.let_in()
        incoming = Incoming(member)
        incoming.accept()
        assert incoming.finish() == b"photo"
        member.see_off()
        assert sender.wait() == 0, sender.error_text()


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
