"""Relays, section 9 of the document: an honest one passes photos on and learns nothing of them, and a hostile one harms nothing."""
import os

import namespace
import transfers
from association import joined
from fields import LARGEST_INTEGER
from frames import CloseTunnel, Introduced, OfferTunnel, OpenTunnel, TunnelCredit, TunnelData, TunnelOpened
from link import LinkEnded
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
