"""Who is taken for whom over a relay, and whom the programs ask for a way."""
import contextlib

import hello
import meetings
import namespace
from association import Association, joined
from frames import Decline, Invite, OpenTunnel
from link import Late, LinkEnded, Node
from place import Place, Program
from reasons import Reason
from relay_scene import MIDDLE, Once, Scene, has_lost, is_in_the_middle, reasons
from relays import Half, Passed
from tls import HandshakeError

# Who is at the other end

def test_circuits_swapped(place: Place):
    """what one sender says in the tunnel of another one, both in the middle of a photo, is taken for nobody's, and both photos arrive"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        scene.trust("third")
        due: dict[Half, list[Passed]] = {}
        swapped: list[Half] = []

        def swap(passed: Passed) -> list[tuple[Half, bytes]]:
            if passed.from_ == "receiver" or not passed.half.is_diallers or passed.half not in due and len(due) == 2:
                return [passed.to()]
            if passed.half not in due and passed.half.taken < MIDDLE:
                return [passed.to()]
            due.setdefault(passed.half, []).append(passed)
            if len(due) < 2:
                return []
            one, other = due
            swapped.append(passed.half)
            across = [each.to(other.other if half is one else one.other) for half in due for each in due[half]]
            for many in due.values():
                many.clear()
            return across
        relay.pass_on = swap
        senders = [scene.sender("a.jpg"), scene.sender("b.jpg", state="third")]
        assert scene.end_of(*senders) == [0, 0], [sender.error_text() for sender in senders]
        assert swapped, "nothing was swapped"
        scene.expect_stored("a.jpg", "b.jpg")
        assert sum(event == "suspended" and "TLS" in message for event, message in reasons(receiver)) == 2


def test_tunnel_to_another(place: Place):
    """a tunnel that leads to another receiver than the one that was asked for is left before anything is said there"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay
        kitchen = relay.of("receiver")
        with namespace.within(scene.networks["attic"]):
            attic = scene.place.receiver("--relay", relay.address("attic"), state="attic", name="Attic", directory="attic-received")
        relay.until(lambda: relay.of("receiver") is not kitchen and relay.of("receiver").is_member, what="the other receiver")
        other = relay.of("receiver")
        relay.answer_open = lambda half, wanted: relay.offer(half, other)
        sender, status = scene.send("beach.jpg")
        failure = sender.event("failed")
        assert status == 7 and failure["reason"] == "identity" and "answers there" in failure["message"], failure
        assert not scene.stored() and not list((place.folder / "attic-received").iterdir())
        assert not [event for event in attic.new_events() if event["event"] in ("connected", "offered", "declined")]


def test_man_in_the_middle(place: Place):
    """a relay that answers the handshake itself gets nothing but its first message, whatever it calls itself, and imagesend ends with 7"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay
        asked: list[Half] = []
        relay.answer_open = lambda half, wanted: asked.append(half)
        sender = scene.sender("beach.jpg")
        relay.until(lambda: asked, what="an openTunnel")
        try:
            relay.inside(asked[0], Node(name="Kitchen", incarnation=relay.of("receiver").id[1]))
            raise AssertionError("imagesend has sent its hello to another key")
        except (LinkEnded, HandshakeError):
            pass
        assert scene.end_of(sender) == [7], sender.error_text()
        failure = sender.event("failed")
        assert failure["reason"] == "identity" and scene.key[:12] in failure["message"], failure
        assert asked[0].closed is not None and asked[0].taken < 1_024, asked[0].taken
        assert b"beach" not in relay.seen and not scene.stored()


def test_man_in_the_place_of_one_who_was_lost(place: Place):
    """nor does imagerecv say more, where it looks for a sender that was lost and the relay answers in its place"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        relay.pass_on = Once(lambda passed: [], lambda passed: is_in_the_middle(passed, "sender"))
        asked: list[Half] = []
        sender = scene.sender("beach.jpg")
        relay.until(lambda: relay.pass_on.done is not None, what="the middle of the photo")
        sender.kill()
        relay.answer_open = lambda half, wanted: asked.append(half)
        relay.until(lambda: asked, what="an openTunnel of the receiver's")
        try:
            relay.inside(asked[0], Node(name="Sender", incarnation=relay.pass_on.done.half.member.id[1]))
            raise AssertionError("imagerecv has sent its hello to another key")
        except (LinkEnded, HandshakeError):
            pass
        assert asked[0].from_ == "receiver" and asked[0].taken < 1_024, asked[0].taken
        assert not scene.stored() and has_lost(reasons(receiver), "")
        scene.goes_on(receiver)


def test_key_of_its_own_introduced(place: Place):
    """a key of its own that it introduces by the receiver's name is a stranger, to which a script sends nothing, even where it once has
    sent to the receiver"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay
        impostor = Node(name="Kitchen")
        for is_known in (False, True):
            if is_known:
                relay.introduces = True
                sender, status = scene.send("first.jpg")
                assert status == 0, sender.error_text()
            asked: list[Half] = []
            relay.introduces = False
            relay.answer_open = lambda half, wanted: asked.append(half)
            count = len(relay.members)
            sender = scene.sender("beach.jpg", to=("--to", "Kitchen"), timeout=2)
            relay.until(lambda: len(relay.members) > count and relay.of("sender").is_member, what="the sender")
            relay.lie(relay.of("sender"), impostor)
            (status,) = scene.end_of(sender)
            failure = sender.event("failed")
            assert status in (3, 7), failure
            assert not asked, "it has asked for a way to a stranger"
            relay.be_honest()
        scene.expect_stored("first.jpg")


def test_among_impostors(place: Place):
    """the receiver that is known is found among sixty keys that the relay introduces by its name, before it and behind it"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay
        sender, status = scene.send("first.jpg")
        assert status == 0, sender.error_text()
        count = len(relay.members)
        relay.introduces = False
        asked: list[tuple[bytes, int]] = []

        def note(half: Half, wanted: tuple[bytes, int]) -> None:
            asked.append(wanted)
            relay.open_tunnel(half, wanted)
        relay.answer_open = note
        sender = scene.sender("second.jpg", to=("--to", "Kitchen"))
        relay.until(lambda: len(relay.members) > count and relay.of("sender").is_member, what="the sender")
        member, kitchen = relay.of("sender"), relay.of("receiver")
        for number in range(60):
            if number == 30:
                relay.introduce(member, kitchen)
                relay.introduce(kitchen, member)
            relay.lie(member, Node(name="Kitchen"))
        assert scene.end_of(sender) == [0], sender.error_text()
        assert asked and set(asked) == {kitchen.id}, asked
        scene.expect_stored("first.jpg", "second.jpg")


def test_stranger_over_a_relay(place: Place):
    """from a script a stranger whom a relay introduces gets nothing, and imagesend says why, with 7, as of one in sight"""
    with Scene(place) as scene:
        scene.receiver()
        sender, status = scene.send("beach.jpg", to=("--to", "Kitchen"))
        assert not scene.stored()
        assert status == 7 and sender.event("failed")["reason"] == "not-confirmed", sender.error_text()


def test_recorded(place: Place):
    """a whole tunnel of an earlier run that is played to the receiver again stores no second photo, and nobody is let in"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        recorded: list[bytes] = []

        def record(passed: Passed) -> list[tuple[Half, bytes]]:
            if passed.from_ == "sender":
                recorded.append(passed.record)
            return [passed.to()]
        relay.pass_on = record
        sender, status = scene.send("beach.jpg")
        assert status == 0 and len(relay.tunnels) == 1 and relay.tunnels[0][0].from_ == "sender", sender.error_text()
        named = relay.tunnels[0][0].member.id
        assert receiver.event("stored")
        half = relay.offer_own(relay.of("receiver"), named)
        half.waiting += b"".join(recorded)
        relay.until(lambda: half.closed is not None, what="the end of the played tunnel")
        assert not [event for event in receiver.new_events() if event["event"] in ("connected", "offered", "stored", "present")]
        scene.expect_stored("beach.jpg")
        scene.goes_on(receiver, "beach.jpg")


def test_dials_in_the_place_of_a_member(place: Place):
    """a relay that dials itself, in a tunnel as of a known sender and by its name, is a stranger"""
    with Scene(place) as scene:
        sender_key = scene.fingerprint(scene.sender_state)
        trusted = place.start("piconet", "trust", "add", "Phone", sender_key, state=scene.receiver_state)
        assert trusted.wait() == 0
        assert place.start("piconet", "trust", "allow", "Phone", "push", state=scene.receiver_state).wait() == 0
        receiver, relay = scene.receiver(accept="known"), scene.relay
        # The genuine one gets in.
        sender, status = scene.send("beach.jpg")
        assert status == 0, sender.error_text()
        named = relay.tunnels[0][0].member.id
        half = relay.offer_own(relay.of("receiver"), named)
        try:
            association = Association(relay.inside(half, Node(name="Phone", incarnation=named[1]), is_dialler=True))
            answer = association.invite()
            raise AssertionError(f"it was asked: {answer}")
        except LinkEnded as end:
            assert end.reason == Reason.IDENTITY, end
        # A stranger by another name is no more welcome.
        half = relay.offer_own(relay.of("receiver"), named)
        association = Association(relay.inside(half, Node(name="Tablet", incarnation=named[1]), is_dialler=True))
        answer = association.invite()
        assert not association.is_member and answer.reason == Reason.DECLINED, answer
        assert [event["reason"] for event in receiver.new_events() if event["event"] == "declined"] == ["identity", "not-known"]
        scene.expect_stored("beach.jpg")


# People at terminals

def questions(scene: Scene, *programs: Program) -> list[str]:
    """The codes that these show, once each asks about one."""
    def are_there() -> bool:
        return all(meetings.code_shown(program.look()) and program.look().endswith(": ") for program in programs)
    scene.relay.until(are_there, what="a question on each screen")
    return [meetings.code_shown(program.look()) for program in programs]


def test_code(place: Place):
    """two people who compare the codes over an honest relay see the same, and the photo goes once both have said so"""
    with Scene(place) as scene:
        receiver = scene.receiver(accept="ask", terminal=True)
        sender = scene.sender("beach.jpg", to=("--to", "Kitchen"), terminal=True, timeout=10)
        shown = questions(scene, sender, receiver)
        assert shown[0] == shown[1], shown
        assert not scene.stored()
        for program in (sender, receiver):
            program.type("y\n")
        assert scene.end_of(sender) == [0], sender.error_text()
        scene.expect_stored("beach.jpg")


def test_codes_of_a_man_in_the_middle(place: Place):
    """where the relay is the receiver to the sender, and a sender to the receiver, they see different codes"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(accept="ask", terminal=True), scene.relay
        impostor = Node(name="Kitchen")
        asked: list[Half] = []
        relay.introduces = False
        relay.answer_open = lambda half, wanted: asked.append(half)
        sender = scene.sender("beach.jpg", to=("--to", "Kitchen"), terminal=True, timeout=10)
        relay.until(lambda: relay.of("sender") is not None and relay.of("sender").is_member, what="the sender")
        relay.lie(relay.of("sender"), impostor)
        relay.until(lambda: asked, what="an openTunnel")
        of_sender = Association(relay.inside(asked[0], impostor))
        of_sender.ask(of_sender.wait_for(Invite))
        half = relay.offer_own(relay.of("receiver"), relay.of("sender").id)
        of_receiver = Association(relay.inside(half, Node(name="Sender", incarnation=relay.of("sender").id[1]), is_dialler=True))
        of_receiver.send(of_receiver.invitation())
        meetings.until_code(of_receiver)
        shown = questions(scene, sender, receiver)
        assert shown == [of_sender.code, of_receiver.code] and shown[0] != shown[1], shown
        # The people see that, and say so.
        for program in (sender, receiver):
            program.type("d\n")
        assert scene.end_of(sender) == [7], sender.error_text()
        assert of_receiver.wait_for(Decline).reason == Reason.CODE_MISMATCH
        assert not scene.stored()


def test_by_address(place: Place):
    """a relay at an address is asked about on a terminal, with its code, and taken from then on"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay
        assert place.start("piconet", "trust", "forget", "Hall", state=scene.sender_state).wait() == 0
        address = relay.address("phone")
        sender = scene.sender("first.jpg", relay=address)
        assert scene.end_of(sender) == [3] and relay.of("sender") is None, sender.error_text()
        sender = scene.sender("first.jpg", relay=address, to=("--to", "Kitchen"), terminal=True, timeout=10)
        (code,) = questions(scene, sender)
        assert code == relay.of("sender").association.code
        sender.type("y\n")
        # The next question is about the receiver.
        relay.until(lambda: questions(scene, sender) != [code], what="another question")
        sender.type("y\n")
        assert scene.end_of(sender) == [0], sender.error_text()
        sender, status = scene.send("second.jpg", relay=address)
        assert status == 0, sender.error_text()
        scene.expect_stored("first.jpg", "second.jpg")


def test_asked_beside_a_fingerprint(place: Place):
    """on a terminal it is asked about also where the receiver is given by its fingerprint"""
    with Scene(place) as scene:
        scene.receiver()
        assert place.start("piconet", "trust", "forget", "Hall", state=scene.sender_state).wait() == 0
        sender = scene.sender("beach.jpg", terminal=True)
        scene.relay.until(lambda: "Reach others over it?" in sender.look() or not sender.is_running, what="a question about the relay")
        assert sender.is_running, sender.error_text()
        sender.type("y\n")
        assert scene.end_of(sender) == [0], sender.error_text()


# Who is asked for a way

def test_only_the_named_relay_is_asked(place: Place):
    """no member but the relay that was named is asked for a way to another one, or learns so who else was there"""
    with Scene(place) as scene:
        receiver = scene.receiver()
        with namespace.within(scene.networks["attic"]):
            curious = joined(receiver.address, Node(name="Curious", capabilities=hello.RESUME | hello.RELAY | hello.INTRODUCTIONS))
            victim = joined(receiver.address, Node(name="Victim"))
        victim.link.drop()
        scene.relay.until(lambda: "Victim can't be reached" in receiver.error_text(), what="the loss of the victim")
        asked: list[OpenTunnel] = []

        def have_been_asked() -> bool:
            with contextlib.suppress(Late):
                asked.append(curious.wait_for(OpenTunnel, patience=0.001))
            return bool(asked)
        with contextlib.suppress(Late):
            scene.relay.until(have_been_asked, patience=5)
        assert not asked, f"{asked[0].peer.hex()} was told to a stranger; the victim is {victim.node.identity.fingerprint}"
