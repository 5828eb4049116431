"""Who is taken for whom."""
import contextlib
import os
import re
import select
import socket
import threading
import time

import mdns
import meetings
import transfers
from association import Association, joined
from frames import Accept, Decline, Invite, Unknown
from link import Late, Link, LinkEnded, Node
from place import Place
from reasons import Reason
from transfers import Incoming


def sent_to_impostor(place: Place, name: str) -> None:
    """imagesend looks for Bob, whom it knows; another key is advertised as Bob, and its hello says `name`."""
    meetings.known_to_sender(place, Node(name="Bob"))
    impostor = Node(name=name)
    photo = place.path("photos") / "second.jpg"
    photo.write_bytes(b"private")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(None, "--to", "Bob", "--timeout", "3", photo)
        meetings.advertise(sender, [mdns.service(impostor, server.getsockname()[1], label="Bob", called="Bob")])
        try:
            member = Association(Link.accept(server, impostor, patience=3))
            member.let_in(patience=3)
            incoming = Incoming(member, patience=3)
        except (Late, LinkEnded, AssertionError, OSError):
            incoming = None
        assert incoming is None, "the file was offered to another key"
        assert sender.wait() in (3, 7), sender.error_text()


def test_remembered_name(place: Place):
    """a remembered name lets in no other key that is advertised so and calls itself otherwise"""
    sent_to_impostor(place, "Bob's phone")


def test_same_name_other_key(place: Place):
    """nor another key that calls itself by that name"""
    sent_to_impostor(place, "Bob")


@contextlib.contextmanager
def sending_to_bob(place: Place, advertised: Node):
    """From a script imagesend looks for Bob, and this node is advertised at the port of the given server."""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"private")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(None, "--to", "Bob", "--timeout", "5", photo)
        meetings.advertise(sender, [mdns.service(advertised, server.getsockname()[1])])
        yield sender, server


def test_stranger_by_name(place: Place):
    """from a script a stranger in sight is not so much as dialled"""
    stranger = Node(name="Bob")
    with sending_to_bob(place, stranger) as (sender, server):
        assert sender.wait() == 7, sender.error_text()
        server.setblocking(False)
        try:
            server.accept()
        except BlockingIOError:
            return
        raise AssertionError("the stranger was dialled")


def test_advertised_key_of_another(place: Place):
    """who is advertised with a known key, and has another one, gets nothing but the handshake"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    with sending_to_bob(place, bob) as (sender, server):
        expect_nothing(server, Node(name="Bob", incarnation=bob.incarnation))
        assert sender.wait() == 7 and "answers there" in sender.error_text(), sender.error_text()


def test_forgotten_before_the_handshake(place: Place):
    """nor who was known when it was dialled, and is a stranger when its key is proven: the handshake judges anew"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    with sending_to_bob(place, bob) as (sender, server):
        # If he were forgotten earlier, he would not be dialled at all.
        assert select.select([server], [], [], 5)[0], sender.error_text()
        assert place.start("piconet", "trust", "forget", "Bob", state="sender").wait() == 0
        expect_nothing(server, bob)
        assert sender.wait() == 7 and "not among the remembered" in sender.error_text(), sender.error_text()


def test_other_name_in_the_hello(place: Place):
    """at a terminal, too, a stranger who was advertised as Bob is asked about only if his hello says so as well"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"private")
    for name in ("Bob's phone", "Bob"):
        stranger = Node(name=name)
        with socket.create_server(("127.0.0.1", 0)) as server:
            sender = place.sender(None, "--to", "Bob", "--timeout", "5", photo, terminal=True)
            meetings.advertise(sender, [mdns.service(stranger, server.getsockname()[1], label="Bob", called="Bob")])
            if name == "Bob":
                Association(Link.accept(server, stranger)).wait_for(Invite)
                continue
            expect_nothing(server, stranger)
            assert sender.wait() in (3, 7), sender.error_text()
            assert meetings.code_shown(sender.error_text()) is None, sender.error_text()


def expect_nothing(server: socket.socket, node: Node) -> None:
    """Shows that the link which imagesend opens ends before we are invited."""
    try:
        Association(Link.accept(server, node, patience=3)).let_in(patience=3)
    except (Late, LinkEnded, OSError):
        return
    raise AssertionError("a stranger was invited")


def test_known_key_with_another_name(place: Place):
    """a known key that calls itself otherwise is shown under the name that it was taken under, and takes no other's"""
    printer = Node(name="Printer")
    meetings.known_to_receiver(place, printer)
    receiver = place.receiver(accept="known")
    member = joined(receiver.address, Node(printer.identity, name="Mum"))
    member.leave()
    receiver.event("connected")
    receiver.end()
    assert re.search("Connected to Printer .*Mum", receiver.error_text()), receiver.error_text()
    # The genuine one is a stranger, and no impostor.
    receiver = meetings.ask_receiver(place)
    meetings.asked(receiver, Node(name="Mum"))


def test_table_and_another_name(place: Place):
    """whatever a known key calls itself when it is let in, the table of known peers stays as it was, byte for byte, and the old name is
    shown with the new one beside"""
    printer = Node(name="Printer")
    meetings.known_to_receiver(place, printer)
    path = place.folder / "receiver/piconet/known-peers"
    before = path.read_bytes()
    assert printer.identity.fingerprint.encode() in before and b"Printer" in before, before
    receiver = place.receiver(accept="known")
    member = joined(receiver.address, Node(printer.identity, name="Mum"))
    assert transfers.send(member, b"another photo", "second.jpg").is_stored
    member.leave()
    assert receiver.event("connected")["name"] == "Printer"
    receiver.end()
    shown = f"Connected to Printer ({printer.identity.fingerprint[:12]}, calls itself 'Mum')"
    assert shown in receiver.error_text(), receiver.error_text()
    assert path.read_bytes() == before, path.read_bytes()


def test_table_and_another_name_in_a_question(place: Place):
    """nor does it change where a person is asked about it, and says yes a second time"""
    ada = Node(name="Ada")
    path, before = place.folder / "receiver/piconet/known-peers", None
    for name in ("Ada", "Mum"):
        receiver = meetings.ask_receiver(place)
        association = meetings.asked(receiver, Node(ada.identity, name=name))
        receiver.see(f"Ada ({ada.identity.fingerprint[:12]}" + (", calls itself 'Mum')" if name == "Mum" else ")"))
        receiver.type("y\n")
        association.get_in()
        association.leave()
        receiver.end()
        before = before or path.read_bytes()
    assert ada.identity.fingerprint.encode() in before and path.read_bytes() == before, (before, path.read_bytes())


def test_known_key_in_every_line(place: Place):
    """so it is in each event, and in each line"""
    printer = Node(name="Printer")
    meetings.known_to_receiver(place, printer)
    receiver = place.receiver(accept="known")
    member = joined(receiver.address, Node(printer.identity, name="Mum"))
    transfers.Outgoing(member, bytes(100_000), "photo.jpg").start()
    member.link.drop()
    receiver.event("suspended")
    receiver.end()
    for line in [*receiver.error_text().splitlines(), *bytes(receiver.output).decode().splitlines()]:
        assert "Mum" not in line or "Printer" in line, line


def test_known(place: Place):
    """--accept known takes whom a person has said always to, and nobody else, whatever his name"""
    ada = Node(name="Ada")
    meetings.known_to_receiver(place, ada)
    receiver = place.receiver(accept="known")
    assert transfers.send(joined(receiver.address, Node(ada.identity, name="Ada")), b"photo", "second.jpg").is_stored
    for name in ("Ada", "Berta"):
        association = None
        try:
            association = Association(Link.dial(receiver.address, Node(name=name)))
            answer = association.invite()
        except LinkEnded as ended:
            answer = ended
        assert not isinstance(answer, Accept), answer


def test_yes_is_no_push(place: Place):
    """whom a person has said yes to is known, and asked about again: --accept known does not take it"""
    ada = Node(name="Ada")
    receiver = meetings.ask_receiver(place)
    association = meetings.asked(receiver, ada)
    receiver.type("y\n")
    association.get_in()
    association.leave()
    receiver.end()
    receiver = place.receiver(accept="known")
    answer = Association(Link.dial(receiver.address, Node(ada.identity, name="Ada"))).invite()
    assert isinstance(answer, Decline), answer
    assert receiver.event("declined")["reason"] == "not-allowed"


def test_rights_of_a_relay(place: Place):
    """always at piconet relay lets in unasked from then on, yes does not; both give rights for relays alone"""
    nodes = {"Ada": Node(name="Ada"), "Ben": Node(name="Ben")}
    relay, address = place.listener("relay", "--accept", "ask", terminal=True)
    for name, answer in (("Ada", "a\n"), ("Ben", "y\n")):
        association = Association(Link.dial(address, nodes[name]))
        association.send(association.invitation())
        meetings.wait_for_question(relay, association)
        relay.type(answer)
        association.get_in()
        association.leave()
    relay.end()
    program = place.start("piconet", "trust", state="listener")
    assert program.wait() == 0, program.error_text()
    rights = [re.split("  +", line)[:3] for line in bytes(program.output).decode().splitlines()]
    assert sorted(rights) == [["Ada", "code", "push:relay send:relay"], ["Ben", "code", "send:relay"]], rights
    _, address = place.listener("relay", "--accept", "known")
    assert isinstance(Association(Link.dial(address, Node(nodes["Ben"].identity, name="Ben"))).invite(), Decline)
    assert isinstance(Association(Link.dial(address, Node(nodes["Ada"].identity, name="Ada"))).invite(), Accept)


def test_all_makes_nobody_known(place: Place):
    """who was let in by --accept all is no known device afterwards"""
    strangers = [Node(name=f"Stranger {number}") for number in range(3)]
    receiver = place.receiver()
    for number, node in enumerate(strangers):
        member = joined(receiver.address, node)
        assert transfers.send(member, b"photo", f"{number}.jpg").is_stored
        member.leave()
    receiver.end()
    receiver = place.receiver(accept="known")
    for node in strangers:
        answer = Association(Link.dial(receiver.address, Node(node.identity, name=node.name))).invite()
        assert isinstance(answer, Decline), answer


def test_sent_to_may_not_push(place: Place):
    """a device that one has sent photos to is not let in by --accept known for that"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    receiver = place.receiver(accept="known", state="sender")
    answer = Association(Link.dial(receiver.address, Node(bob.identity, name="Bob"))).invite()
    assert isinstance(answer, Decline), answer


def full_table(place: Place, state: str) -> int:
    """Fills the known peers with lines as the program writes them; returns how many there are."""
    meetings.known_to_sender(place, Node(name="Bob"), state)
    path = place.folder / state / "piconet/known-peers"
    *head, line, _ = path.read_text().splitlines()
    _, _, *rest = line.split("\t")
    lines = ["\t".join([os.urandom(32).hex(), f"Device {number:04d} {'x' * 50}", *rest]) for number in range(1_023)]
    path.write_text("\n".join([*head, line, *lines, f"piconet-known-peers end {len(lines) + 1}"]) + "\n")
    return len(lines) + 1


def test_full_table(place: Place):
    """a full table of known peers is said; nobody is forgotten for a new one, who is not remembered"""
    count = full_table(place, "receiver")
    receiver = meetings.ask_receiver(place)
    ada = Node(name="Ada")
    association = meetings.asked(receiver, ada)
    receiver.type("y\n")
    association.get_in()
    assert str(count) in receiver.event("warning")["message"].replace(",", "")
    association.leave()
    receiver.end()
    known = place.start("piconet", "trust", "list", "--json", state="receiver")
    assert known.wait() == 0
    assert known.output.count(b"\n") == count and ada.identity.fingerprint.encode() not in known.output


def test_table_that_cannot_be_written(place: Place):
    """where there is no room for the table it stays as it was, and what is told names it and no file beside"""
    for number in range(6):
        meetings.known_to_sender(place, Node(name=f"Device {number}"), "full")
    path = place.folder / "full/piconet/known-peers"
    before = path.read_bytes()
    # The shell allows no file longer than 512 bytes, and the table is longer: writing fails as on a full disk.
    limited = ("sh", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "sh")
    for words in (("add", "Bob", "0f" * 32), ("rename", "Device 3", "Bob")):
        program = place.start("piconet", "trust", *words, state="full", before=limited)
        assert program.wait() == 6, program.error_text()
        assert "/known-peers: write: " in program.error_text(), program.error_text()
    assert path.read_bytes() == before and sorted(os.listdir(path.parent)) == [".known-peers.lock", "identity.pem", "known-peers", "known-peers.former"]


def test_no_library_for_a_camera(place: Place):
    """where a QR code can't be shown the fingerprint is, with what is missing, and the status is that of a wrong option"""
    libraries = place.path("libraries")
    (libraries / "libqrencode.so.4").write_bytes(b"none")
    for setting, missing in ((f"LD_LIBRARY_PATH={libraries}", "libqrencode4"), ("LC_ALL=C", "UTF-8")):
        program = place.start("imagerecv", "--fingerprint", "--qr", before=("env", setting))
        assert program.wait() == 2 and missing in program.error_text(), program.error_text()
        assert len(program.output) == 65, program.output


def test_handshakes_with_a_full_table(place: Place):
    """a handshake costs about the same with a thousand known peers as with none"""
    costs = []
    full_table(place, "full")
    for state in ("empty", "full"):
        receiver = place.receiver(accept="known", state=state)
        Link.dial(receiver.address, Node()).drop()
        before = receiver.processor_time()
        for _ in range(80):
            Association(Link.dial(receiver.address, Node())).link.drop()
        costs.append(receiver.processor_time() - before)
        receiver.end()
    assert costs[1] < 3 * costs[0] + 0.2, costs


def test_first_contact(place: Place):
    """imagesend sends nothing to an unknown key at an address without a terminal, and asks on one, with the code"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    for name in ("Bob", "--fingerprint"):
        with socket.create_server(("127.0.0.1", 0)) as server:
            wrong = ["--fingerprint", Node().identity.fingerprint] if name == "--fingerprint" else []
            sender = place.sender(server.getsockname(), "--timeout", "3", *wrong, photo)
            try:
                association = Association(Link.accept(server, Node(name=name), patience=3))
                association.let_in(patience=3)
                Incoming(association, patience=3)
            except (Late, LinkEnded, AssertionError):
                assert sender.wait() == 7, sender.error_text()
                continue
            raise AssertionError("the file was offered to an unknown key")


def test_names_of_files(place: Place):
    """the names of files go to a key that was named, or is known; a stranger at a terminal learns only how many there are"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    bob = Node(name="Bob")
    with socket.create_server(("127.0.0.1", 0)) as server:
        _, member = meetings.called_by(place, server, photo, node=bob)
        assert b"1 5 whole\n5 photo.jpg\n" in member.wait_for(Invite).context
    with socket.create_server(("127.0.0.1", 0)) as server:
        place.sender(server.getsockname(), photo, terminal=True)
        context = Association(Link.accept(server, Node(name="Bob"))).wait_for(Invite).context
        assert context.endswith(b"1 5 whole\n"), context


def test_idle_members(place: Place):
    """members who do nothing, of one address, keep nobody else out of --accept all"""
    receiver = place.receiver("--timeout", 1)
    idle = []
    for _ in range(24):
        try:
            idle.append(joined(receiver.address, source="127.0.0.2"))
        except (AssertionError, LinkEnded):
            pass
    until = time.monotonic() + 10
    while True:
        try:
            member = joined(receiver.address)
            break
        except (AssertionError, LinkEnded):
            assert time.monotonic() < until, "the places are theirs for longer than --timeout"
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_idle_members_of_many_addresses(place: Place):
    """16 who do nothing, from 16 addresses, hold all places of --accept all for --timeout, as limits.md says, and no longer"""
    # Long enough that all sixteen are in before the first one's time is over.
    patience = 8
    receiver = place.receiver("--timeout", patience)
    idle = [joined(receiver.address, source=f"127.0.0.{2 + number}") for number in range(16)]
    # From here on nothing comes of any of them.
    began, refusals = time.monotonic(), 0
    while True:
        try:
            member = joined(receiver.address, Node(name="Honest"))
            break
        except (AssertionError, LinkEnded) as refused:
            refusals += 1
            # A busy machine may take its time; whoever keeps a place for good is found all the same.
            assert time.monotonic() < began + patience + 20, f"the places are theirs for longer than --timeout: {refused}"
            time.sleep(0.1)
    assert len(idle) == 16 and refusals, refusals
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_stalled_member(place: Place):
    """a member whose transfer stands still does not hold --count 1"""
    receiver = place.receiver("--count", 1, "--timeout", 1)
    stalled = transfers.Outgoing(joined(receiver.address), bytes(1 << 20), "stalled.jpg")
    assert stalled.start() is None
    stalled.send_until(1_000)
    assert transfers.send(joined(receiver.address), b"photo", "photo.jpg").is_stored
    assert receiver.wait() == 5  # because of the file that stood still
    assert [name for name in os.listdir(place.folder / "received") if not name.startswith(".")] == ["photo.jpg"]


def test_dripping_member(place: Place):
    """nor does one whose transfer comes further by 1 KiB within each --timeout"""
    receiver = place.receiver("--count", 1, "--timeout", 1)
    dripping = transfers.Outgoing(joined(receiver.address), bytes(1 << 20), "drip.jpg")
    assert dripping.start() is None
    is_over = threading.Event()

    def drip():
        try:
            while not is_over.wait(0.4):
                dripping.send_until(dripping.place + 1_100)
        except (LinkEnded, Late, OSError):
            pass
    dripper = threading.Thread(target=drip)
    dripper.start()
    try:
        assert transfers.send(joined(receiver.address), b"photo", "photo.jpg").is_stored
        assert receiver.wait() == 5  # because of the file that dripped
    finally:
        is_over.set()
        dripper.join()
    assert [name for name in os.listdir(place.folder / "received") if not name.startswith(".")] == ["photo.jpg"]


def test_strangers_in_the_table(place: Place):
    """more strangers than the table holds leave nothing in it, and a person may still add to it"""
    receiver = place.receiver()
    for number in range(1_040):
        joined(receiver.address, Node(name=f"Stranger {number}")).link.close()
    receiver.end()
    assert not list((place.folder / "receiver").rglob("known-peers"))
    added = place.start("piconet", "trust", "add", "Bob", "0f" * 32, state="receiver")
    assert added.wait() == 0, added.error_text()


def test_many_questions(place: Place):
    """of many invitations from one address one stands before an honest one"""
    receiver = meetings.ask_receiver(place)
    first = meetings.asked(receiver, Node(name="Stranger"), source="127.0.0.2")
    strangers = []
    for number in range(20):
        try:
            association = Association(Link.dial(receiver.address, Node(name=f"Stranger {number}"), source="127.0.0.2"))
            association.send(association.invitation())
            strangers.append(association)
        except LinkEnded:
            pass
    honest = meetings.invited(receiver, Node(name="Honest"))
    receiver.type("n\n")
    first.wait_for(Decline)
    meetings.wait_for_question(receiver, honest)
    receiver.see("Honest")


def test_many_questions_of_a_known_device(place: Place):
    """a known device that asks again and again is asked about eight times, then once in ten seconds; a stranger has its turn"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob, state="receiver")
    receiver, declined = meetings.ask_receiver(place), 0
    began = time.monotonic()
    for _ in range(14):
        association = meetings.invited(receiver, bob)
        try:
            declined += isinstance(meetings.until_code(association), Decline)
        except LinkEnded:
            pass
        association.link.drop()
    asked = 14 - declined
    assert 8 <= asked <= 9 + (time.monotonic() - began) / 10, asked
    meetings.asked(receiver, Node(name="Honest"))
    receiver.see("Honest")


def hold_places(place: Place, receiver, hold) -> None:
    """Strangers of one address take all places; `hold` is called to keep them, until another address gets in."""
    members = []
    for _ in range(24):
        try:
            members.append(joined(receiver.address, source="127.0.0.2"))
        except (AssertionError, LinkEnded):
            break
    assert len(members) >= 16, len(members)
    until = time.monotonic() + 15
    while True:
        for member in members:
            try:
                hold(member)
            except (AssertionError, LinkEnded):
                pass  # it has lost its place, perhaps to one of the others
        try:
            member = joined(receiver.address)
            break
        except (AssertionError, LinkEnded):
            assert time.monotonic() < until, "the places are theirs for longer than --timeout"
            time.sleep(0.3)
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_dripping_members(place: Place):
    """nor do those who send a frame now and then"""
    hold_places(place, place.receiver("--timeout", 1), lambda member: member.send(Unknown(0xFF, b"")))


def test_members_with_stalled_transfers(place: Place):
    """nor those who have begun to send something, and go on no more"""
    begun = set()

    def begin(member):
        if id(member) not in begun:
            begun.add(id(member))
            transfers.Outgoing(member, b"x" * 10, "stalled.jpg", size=1 << 20).start()
    hold_places(place, place.receiver("--timeout", 1), begin)


def test_name_of_digits(place: Place):
    """a device that is called by the first digits of a known one's fingerprint gets nothing that is meant for that"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    liar = Node(name=bob.identity.fingerprint[:12])
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"private")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(None, "--to", liar.name, "--timeout", "3", photo)
        meetings.advertise(sender, [mdns.service(liar, server.getsockname()[1])])
        try:
            Association(Link.accept(server, liar, patience=1))
        except (Late, LinkEnded, OSError):
            assert sender.wait() == 3, sender.error_text()
            return
        raise AssertionError("another key was dialled")


def test_digits_in_trust(place: Place):
    """nor is it blocked or allowed in the place of the other one"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    meetings.known_to_sender(place, Node(name=bob.identity.fingerprint[:12]))
    program = place.start("piconet", "trust", "block", bob.identity.fingerprint[:12], state="sender")
    assert program.wait() == 2 and "several" in program.error_text(), program.error_text()


def test_damaged_block(place: Place):
    """a blocked key stays so where its line can't be read"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob, state="receiver")
    assert place.start("piconet", "trust", "block", "Bob", state="receiver").wait() == 0
    path = place.folder / "receiver/piconet/known-peers"
    *head, line, last = path.read_text().splitlines()
    path.write_text("\n".join([*head, line + " ", last]) + "\n")
    receiver = place.receiver()
    try:
        link = Link.dial(receiver.address, bob)
        reason = link.end().reason
    except LinkEnded as ended:
        reason = ended.reason
    assert reason == Reason.IDENTITY, reason
    assert "damaged" in receiver.error_text()


def test_lookalike_of_a_new_device(place: Place):
    """a stranger that looks like a device which was taken in this run is shown as none"""
    receiver = meetings.ask_receiver(place)
    ada = meetings.asked(receiver, Node(name="Ada"))
    receiver.type("y\n")
    ada.get_in()
    ada.leave()
    meetings.asked(receiver, Node(name="\u0410da"), source="127.0.0.2")
    receiver.see("which is not the known 'Ada'")


def test_name_with_brackets(place: Place):
    """a name that looks like a known device with its fingerprint is in quotation marks"""
    receiver = meetings.ask_receiver(place)
    node = Node(name="Mum (9f86d081884c), known, wants to send files.")
    digits = node.identity.fingerprint[:12]
    association = meetings.asked(receiver, node)
    receiver.see(f"'{node.name}' ({digits})")
    receiver.type("y\n")
    association.get_in()
    assert transfers.send(association, b"photo", "first.jpg").is_stored
    association.leave()
    receiver.see(f"Remembered as '{node.name} ({digits})'")
    shown = receiver.look()
    assert "Connected to '" in shown, shown
    assert shown.count(node.name) == shown.count("'" + node.name), shown
