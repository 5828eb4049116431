"""Relays, section 9 of the document: an honest one passes photos on and learns nothing of them, and a hostile one harms nothing."""
import collections
import os
import time

import hello
import namespace
import transfers
from association import joined
from fields import LARGEST_INTEGER
from frames import CloseTunnel, Introduced, OfferTunnel, OpenTunnel, TunnelCredit, TunnelData, TunnelOpened
from link import LinkEnded, Node
from place import Place, Program
from reasons import Reason
from relay_scene import MIDDLE, PHOTO_SIZE, Once, Scene, flipped, has_lost, holds_piece, is_in_the_middle, is_number, reasons
from relays import Half, Member, Passed

# Honest

def test_honest(place: Place):
    """a photo goes over a relay byte for byte, both programs say over whom, and the relay has seen nothing of it but sizes"""
    with Scene(place) as scene:
        receiver = scene.receiver()
        sender, status = scene.send("beach at dusk.jpg")
        assert status == 0, sender.error_text()
        scene.expect_stored("beach at dusk.jpg")
        over = f"is reached over the relay Hall ({scene.relay.node.identity.fingerprint[:12]}), which sees"
        assert f"Kitchen {over}" in sender.error_text(), sender.error_text()
        assert f"Sender {over}" in receiver.error_text(), receiver.error_text()
        assert sender.event("connected")["transport"] == "relay"
        assert receiver.event("connected")["transport"] == "relay"
        photo, relay = scene.sent["beach at dusk.jpg"], scene.relay
        assert holds_piece(b"..." + photo[70_001:70_032], photo), "the search finds nothing"
        assert not holds_piece(bytes(relay.seen), photo), "bytes of the photo"
        # What the inner link says: the announcement, the offer, where it was stored.
        for text in (b"beach at dusk", b"dusk", b"piconet-files", b"piconet-manifest", b"image/jpeg"):
            assert text not in relay.seen, text
        # It knows both keys by its own links; the inner handshake shows none.
        for node in (scene.key, scene.fingerprint(scene.sender_state)):
            assert bytes.fromhex(node) not in relay.passed["sender"] + relay.passed["receiver"]
        assert PHOTO_SIZE < len(relay.passed["sender"]) < PHOTO_SIZE * 1.02, len(relay.passed["sender"])
        assert len(relay.passed["receiver"]) < 8_192, len(relay.passed["receiver"])
        assert [half.closed.reason for pair in relay.tunnels for half in pair] == [Reason.LEFT] * 2
        assert sorted(role for role, answer in relay.introduced if isinstance(answer, Introduced)) == ["receiver", "sender"]


def test_crumbs(place: Place):
    """so does one whose records are cut anew, into single bytes in the handshake and into small pieces behind it"""
    with Scene(place, sender_is_smaller=False) as scene:
        scene.receiver()

        def cut_anew(passed: Passed) -> list[tuple[Half, bytes]]:
            size = 1 if passed.number < 4 else 700
            return [passed.to(record=passed.record[start:start + size]) for start in range(0, len(passed.record), size)]
        scene.relay.pass_on = cut_anew
        sender, status = scene.send("beach.jpg")
        assert status == 0, sender.error_text()
        scene.expect_stored("beach.jpg")


# Records that are changed on their way

def meddled(place: Place, from_: str, *changes) -> None:
    """Changes something once, in the middle of a photo, in a record of this end: the link in the tunnel ends on both sides, and in another
    tunnel the rest goes over."""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        names = []
        for number, change in enumerate(changes):
            names.append(f"{number}.jpg")
            once = relay.pass_on = Once(change, lambda passed: is_in_the_middle(passed, from_))
            before = len(relay.tunnels)
            sender, status = scene.send(names[-1])
            assert once.done is not None, "nothing was changed"
            assert status == 0, (number, sender.error_text())
            scene.expect_stored(*names)
            tunnels = relay.tunnels[before:]
            assert len(tunnels) == 2, (number, len(tunnels))
            said = {"sender": reasons(sender), "receiver": reasons(receiver)}
            finder = "receiver" if from_ == "sender" else "sender"
            assert has_lost(said[finder], "TLS"), (number, said)
            # The other one may be found again before it has missed the link.
            assert not any(event == "failed" for one in said.values() for event, _ in one), (number, said)
            # What had arrived is not sent again.
            again = sum(half.taken for half in tunnels[1] if half.from_ == "sender")
            assert again < PHOTO_SIZE - MIDDLE // 2, (number, again)


def of_its_own(passed: Passed) -> bytes:
    """A record as it might be, of no key that anybody has."""
    return passed.record[:3] + (64).to_bytes(2, "big") + os.urandom(64)


def test_changed(place: Place):
    """one bit that is changed in the middle of a photo, in content or in a header, ends the link, and the photo arrives whole over another"""
    meddled(place, "sender", flipped, lambda passed: flipped(passed, 4), lambda passed: flipped(passed, len(passed.record) // 2))


def test_changed_on_the_way_back(place: Place):
    """so does one in what the receiver says"""
    meddled(place, "receiver", flipped)


def test_dropped(place: Place):
    """so does a record that is left out, or half of one"""
    meddled(place, "sender", lambda passed: [], lambda passed: [passed.to(record=passed.record[:len(passed.record) // 2])])


def test_dropped_on_the_way_back(place: Place):
    """so does one of the receiver's"""
    meddled(place, "receiver", lambda passed: [])


def test_twice(place: Place):
    """so does a record that comes twice"""
    meddled(place, "sender", lambda passed: [passed.to(), passed.to()])


def test_twice_on_the_way_back(place: Place):
    """so does one of the receiver's"""
    meddled(place, "receiver", lambda passed: [passed.to(), passed.to()])


def test_put_in(place: Place):
    """so do bytes of the relay's own, as a record and as none"""
    meddled(place, "sender", lambda passed: [passed.to(record=of_its_own(passed)), passed.to()],
            lambda passed: [passed.to(record=b"\x15\x03\x03\x00\x02\x01\x00"), passed.to()],
            lambda passed: [passed.to(record=bytes(200)), passed.to()])


def test_put_in_on_the_way_back(place: Place):
    """so do such on the way back"""
    meddled(place, "receiver", lambda passed: [passed.to(record=of_its_own(passed)), passed.to()])


def test_order(place: Place):
    """so do two records in the wrong order"""
    held: list[Passed] = []

    def later(passed: Passed) -> list[tuple[Half, bytes]]:
        held.append(passed)
        return []
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        first = Once(later, lambda passed: is_in_the_middle(passed, "sender"))
        second = Once(lambda passed: [passed.to(), held[0].to()], lambda passed: held and passed.from_ == "sender")
        relay.pass_on = lambda passed: first(passed) if not held else second(passed)
        sender, status = scene.send("beach.jpg")
        assert status == 0 and second.done is not None, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert has_lost(reasons(receiver), "TLS")
        assert len(relay.tunnels) == 2, len(relay.tunnels)


def test_handshake(place: Place):
    """one bit that is changed in the handshake, whoever has sent it, ends the attempt with a reason, and nothing goes over"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        # The dialler's ClientHello and Finished; the acceptor's ServerHello and what is behind it, encrypted.
        for number, is_due in enumerate((is_number(0, True), is_number(2, True), is_number(0, False), is_number(3, False), is_number(5, False))):
            once = relay.pass_on = Once(lambda passed: flipped(passed, -5), is_due)
            sender, status = scene.send("beach.jpg")
            assert once.done is not None, number
            # A dialler that is done with its handshake learns afterwards that the acceptor is not.
            said = reasons(sender)
            assert status == (5 if number == 1 else 3) and "TLS" in said[-1][1], (number, status, said)
            assert not scene.stored(), number
            assert not [event for event in receiver.new_events() if event["event"] in ("connected", "offered")], number
        scene.goes_on(receiver)


def test_each_tunnel_is_meddled_with(place: Place):
    """where each tunnel is meddled with, imagesend gives up in its time, with 5; what came is kept, and goes on when the relay is honest"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        # What has come is kept in whole MiB.
        relay.pass_on = lambda passed: flipped(passed) if len(relay.passed["sender"]) > 3 << 19 else [passed.to()]
        sender, status = scene.send("beach.jpg", size=5 << 19)
        failure = sender.event("failed")
        assert status == 5 and failure["reason"] in ("timed-out", "link-failed"), failure
        assert not scene.stored()
        assert has_lost(reasons(receiver), "TLS")
        relay.be_honest()
        sender, status = scene.send("beach.jpg")
        assert status == 0, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert sender.event("stored")["resumedFrom"] == 1 << 20


# What a relay can do: delay and cut

def test_cut(place: Place):
    """a tunnel that is cut off in the middle of a photo is replaced by another one, and the photo arrives whole"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay

        def cut(passed: Passed) -> list[tuple[Half, bytes]]:
            relay.cut()
            return []
        relay.pass_on = Once(cut, lambda passed: is_in_the_middle(passed, "sender"))
        sender, status = scene.send("beach.jpg")
        assert status == 0, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert len(relay.tunnels) == 2, len(relay.tunnels)
        for program in (sender, receiver):
            said = reasons(program)
            assert said[0][0] in ("suspended", "resumed") and ("resumed", "relay") in said, said


def test_silence_once(place: Place):
    """so is one that has fallen silent, after a second"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        relay.pass_on = lambda passed: [] if len(relay.tunnels) < 2 and len(relay.passed["sender"]) > MIDDLE else [passed.to()]
        sender, status = scene.send("beach.jpg")
        assert status == 0, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert has_lost(reasons(sender), "nothing was heard")


def test_late(place: Place):
    """what was held back of a tunnel and comes in the next one ends that as well, and the photo arrives whole over a third"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        held: list[Passed] = []
        released: list[Half] = []

        def hold(passed: Passed) -> list[tuple[Half, bytes]]:
            # Silence in one direction alone would be noticed only by who hears nothing.
            if len(relay.tunnels) < 2 and is_in_the_middle(passed, passed.from_):
                if passed.from_ == "sender":
                    held.append(passed)
                return []
            if not released and len(relay.tunnels) == 2 and passed.half in relay.tunnels[1] and is_in_the_middle(passed, "sender"):
                released.append(passed.half)
                half = passed.half.other
                return [each.to(half) for each in held] + [passed.to()]
            return [passed.to()]
        relay.pass_on = hold
        sender, status = scene.send("beach.jpg", size=2 * PHOTO_SIZE)
        assert status == 0 and held and released, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert len(relay.tunnels) > 2 and has_lost(reasons(receiver), "TLS"), len(relay.tunnels)


def test_delays(place: Place):
    """a relay that lets everything wait for a while, in its order, does nothing but that"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        late: collections.deque[tuple[float, Half, bytes]] = collections.deque()

        def delay(passed: Passed) -> list[tuple[Half, bytes]]:
            late.append((time.monotonic() + 0.1, passed.half.other, passed.record))
            return []
        relay.pass_on = delay
        sender = scene.sender("beach.jpg")

        def has_ended() -> bool:
            while late and late[0][0] <= time.monotonic():
                _, half, record = late.popleft()
                relay.put(half, record)
            return not sender.is_running
        relay.until(has_ended, 20, "the end of imagesend")
        assert sender.wait() == 0, sender.error_text()
        scene.expect_stored("beach.jpg")
        assert not reasons(sender) and not reasons(receiver)


def test_silence(place: Place):
    """where every tunnel is silent, imagesend gives up with 5, both say that the other one is not reached, and the receiver goes on"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        relay.pass_on = lambda passed: [] if len(relay.passed["sender"]) > MIDDLE else [passed.to()]
        sender, status = scene.send("beach.jpg", timeout=2)
        assert status == 5, sender.error_text()
        failure = sender.event("failed")
        assert failure["reason"] == "timed-out" and failure["message"], failure
        assert not scene.stored()
        assert has_lost(reasons(receiver), "")
        scene.goes_on(receiver)


def test_silence_at_once(place: Place):
    """so does one that hears nothing from the beginning"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        relay.pass_on = lambda passed: []
        sender, status = scene.send("beach.jpg")
        assert status == 5 and sender.event("failed")["reason"] == "timed-out", (status, sender.error_text())
        scene.goes_on(receiver)


# Credit, and frames that break the protocol

def breaks_with(scene: Scene, receiver: Program, reason: int, misdeed) -> None:
    """The relay does what it must not: its own association ends with this reason, and that of another member goes on."""
    relay = scene.relay
    with namespace.within(scene.networks["attic"]):
        honest = joined(receiver.address)
    photo = os.urandom(400_000)
    outgoing = transfers.Outgoing(honest, photo, "direct.jpg")
    assert outgoing.start() is None
    assert outgoing.send_until(100_000) is None
    member = relay.of("receiver")
    misdeed(member)
    relay.until(lambda: member.end is not None, what="the end of the association")
    assert isinstance(member.end, LinkEnded) and member.end.reason == reason, member.end
    assert outgoing.finish().is_stored
    honest.leave()
    scene.sent["direct.jpg"] = photo
    receiver.check_alive()
    # It has said so, and joins the relay again.
    scene.has_receiver()
    assert "The relay Hall" in receiver.error_text(), receiver.error_text()
    scene.goes_on(receiver, "direct.jpg")


def opened(scene: Scene) -> Half:
    """A tunnel of ours to the receiver, as of somebody."""
    half = scene.relay.offer_own(scene.relay.of("receiver"), (os.urandom(32), 7))
    scene.relay.until(lambda: half.is_open, what="the answer to a tunnel")
    return half


def test_beyond_credit(place: Place):
    """a relay that sends beyond the credit of a tunnel loses its association (11), and nobody else does"""
    with Scene(place) as scene:
        receiver = scene.receiver()

        def exceed(member: Member) -> None:
            half = opened(scene)
            data = bytes(16_000)
            half.sent += 100 * len(data)
            scene.relay.send(member, *[TunnelData(half.number, data) for _ in range(100)])
        breaks_with(scene, receiver, Reason.LIMIT_EXCEEDED, exceed)


def test_more_gone_on_than_was_sent(place: Place):
    """so does one that says more has gone on than was sent (10)"""
    with Scene(place) as scene:
        receiver = scene.receiver()
        breaks_with(scene, receiver, Reason.PROTOCOL_BROKEN,
                    lambda member: scene.relay.send(member, TunnelCredit(opened(scene).number, 1, 1 << 20)))


def test_too_many_tunnels(place: Place):
    """so does one that offers the 17th tunnel (11)"""
    with Scene(place) as scene:
        receiver = scene.receiver()
        breaks_with(scene, receiver, Reason.LIMIT_EXCEEDED,
                    lambda member: [scene.relay.offer_own(member, (os.urandom(32), 7)) for _ in range(17)])


def test_broken_frames(place: Place):
    """frames of tunnels at the wrong time, and tunnels of nobody, end the association of a member that sends them (10), or are declined"""
    receiver = place.receiver("--relay", "nobody")
    somebody = (os.urandom(32), 7)
    # Each by the number that the member may choose, and the one that it may not.
    for misdeed in (
        lambda own, other: [OfferTunnel(other, *somebody, 1)], lambda own, other: [OpenTunnel(other, *somebody)],
        lambda own, other: [OfferTunnel(own, *somebody, 1)] * 2, lambda own, other: [TunnelOpened(own, 1)],
        lambda own, other: [TunnelOpened(other, 1)], lambda own, other: [TunnelData(own, b"x")], lambda own, other: [CloseTunnel(own, 0)],
        lambda own, other: [CloseTunnel(other, 0)], lambda own, other: [OfferTunnel(own, *somebody, 1), TunnelCredit(own, 1, 1 << 20)]):
        member = joined(receiver.address, Node(capabilities=hello.RESUME | hello.RELAY))
        own = 0 if member.link.is_smaller else 1
        member.send(*misdeed(own, 1 - own))
        assert member.link.end().reason == Reason.PROTOCOL_BROKEN, misdeed(own, 1 - own)
    member = joined(receiver.address)
    own = 0 if member.link.is_smaller else 1
    # It relays for nobody, and nobody that does not relay brings it a tunnel; a credit for no tunnel means nothing.
    for tunnel in OpenTunnel(own, *somebody), OfferTunnel(own, *somebody, 1):
        member.send(tunnel, TunnelCredit(own + 2, 1, 1 << 20))
        declined = member.wait_for(CloseTunnel)
        assert (declined.tunnel, declined.reason) == (own, Reason.NOT_AVAILABLE), declined
        member.send(CloseTunnel(own, 0))
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_beyond_credit_of_a_sender(place: Place):
    """a relay that does so to imagesend in the middle of a photo is left; the photo goes on over it once it has been joined again"""
    with Scene(place) as scene:
        scene.receiver()
        relay = scene.relay

        def exceed(passed: Passed) -> list[tuple[Half, bytes]]:
            data = bytes(16_000)
            passed.half.sent += 100 * len(data)
            relay.send(passed.half.member, *[TunnelData(passed.half.number, data) for _ in range(100)])
            return []
        once = relay.pass_on = Once(exceed, lambda passed: is_in_the_middle(passed, "sender"))
        sender, status = scene.send("beach.jpg", timeout=10)
        end = once.done.half.member.end
        assert isinstance(end, LinkEnded) and end.reason == Reason.LIMIT_EXCEEDED, end
        assert status == 0, sender.error_text()
        assert "The relay Hall" in sender.error_text() and has_lost(reasons(sender), ""), sender.error_text()
        scene.expect_stored("beach.jpg")


def test_more_credit_than_anybody_needs(place: Place):
    """credit without end, given to both ends at once, does nothing but that"""
    with Scene(place) as scene:
        receiver, relay = scene.receiver(), scene.relay
        given = []

        def give(passed: Passed) -> list[tuple[Half, bytes]]:
            for half in (passed.half, passed.half.other):
                relay.send(half.member, TunnelCredit(half.number, half.gone, LARGEST_INTEGER))
                half.has_endless_credit = True
                given.append(half.from_)
            return [passed.to()]
        relay.pass_on = Once(give, is_number(0, True))
        sender, status = scene.send("beach.jpg")
        assert status == 0 and sorted(given) == ["receiver", "sender"], sender.error_text()
        assert not reasons(sender) and not reasons(receiver)
        scene.expect_stored("beach.jpg")
