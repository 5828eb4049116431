"""Tunnels over `piconet relay`, section 9 of the document, of which this implementation is an honest end."""
import os
import socket

import hello
import transfers
from association import Association, joined
from frames import CloseTunnel, Introduce, Introduced, OfferTunnel, OpenTunnel, TunnelCredit, TunnelData, TunnelOpened
from link import PATIENCE, Late, Link, Node
from place import Place
from reasons import Reason

FIRST_WINDOW = 8_192  # bytes of a tunnel before its first credit
WINDOW = 65_536  # bytes that one side may send ahead after that
PIECE = 8_192


class Tunnel:
    """Our end of a tunnel over a member that relays, which `Link` takes for its socket."""
    family = socket.AF_UNIX

    def __init__(self, member: Association, number: int):
        self.member, self.number = member, number
        self.patience = PATIENCE
        self.arrived = bytearray()
        self.sent, self.credit = 0, FIRST_WINDOW
        self.taken, self.told = 0, 0
        self.closed: CloseTunnel | None = None

    @classmethod
    def open(cls, member: Association, to: Introduce) -> "Tunnel":
        number = 0 if member.link.is_smaller else 1
        member.send(OpenTunnel(number, to.peer, to.incarnation))
        answer = member.wait_for(TunnelOpened, CloseTunnel)
        assert answer == TunnelOpened(number, 1), answer
        return cls(member, number)

    def settimeout(self, seconds: float) -> None:
        self.patience = seconds

    def sendall(self, data: bytes) -> None:
        for place in range(0, len(data), PIECE):
            piece = data[place:place + PIECE]
            while self.sent + len(piece) > self.credit and self.closed is None:
                self.hear()
            if self.closed is None:
                self.member.send(TunnelData(self.number, piece))
            self.sent += len(piece)

    def recv(self, most: int) -> bytes:
        while not self.arrived and self.closed is None:
            self.hear()
        data = bytes(self.arrived[:most])
        del self.arrived[:most]
        return data

    def hear(self) -> None:
        """What the relay says next of the tunnel."""
        try:
            found = self.member.wait_for(TunnelData, TunnelCredit, CloseTunnel, patience=self.patience,
                                         where=lambda frame: frame.tunnel == self.number)
        except Late as late:
            raise TimeoutError() from late
        if isinstance(found, TunnelCredit):
            assert found.consumed <= self.sent, found
            self.credit = max(self.credit, found.limit)
        elif isinstance(found, CloseTunnel):
            self.closed = found
            self.member.send(CloseTunnel(self.number, Reason.LEFT))
        else:
            self.arrived += found.data
            self.taken += len(found.data)
            assert self.taken <= (self.told + WINDOW if self.told else FIRST_WINDOW), "more than was credited"
            if self.taken - self.told >= 4_096:
                self.told = self.taken
                self.member.send(TunnelCredit(self.number, self.taken, self.taken + WINDOW))

    def close(self) -> None:
        if self.closed is None:
            self.member.send(CloseTunnel(self.number, Reason.LEFT))
            answer = self.member.wait_for(CloseTunnel, where=lambda frame: frame.tunnel == self.number)
            assert answer.reason == Reason.LEFT, answer


CAPABILITIES = hello.RESUME | hello.STREAMS | hello.INTRODUCTIONS | hello.TUNNELS


def test_photo_over_a_relay(place: Place):
    """photos go to imagerecv over piconet relay, in tunnels of ours: the other end proves its key inside, and takes all of them"""
    _, address = place.listener("relay")
    place.receiver("--relay", f"{address[0]}:{address[1]}", "--timeout", 3, name="Kitchen")
    member = joined(address, Node(name="Sender", capabilities=CAPABILITIES))
    receiver = member.wait_for(Introduce)
    assert receiver.name == "Kitchen", receiver
    for number, size in enumerate((700_000, 300_000)):
        photo = os.urandom(size)
        tunnel = Tunnel.open(member, receiver)
        link = Link(tunnel, member.node, True)
        link.shake_hands()
        assert link.peer == receiver.peer, "another key than the relay has named"
        link.greet()
        inner = Association(link)
        inner.invite()
        assert inner.is_member
        assert transfers.send(inner, photo, f"{number}.jpg").is_stored
        assert (place.folder / "received" / f"{number}.jpg").read_bytes() == photo
        inner.leave()
        assert tunnel.sent > size and tunnel.credit > WINDOW, (tunnel.sent, tunnel.credit)
    member.send(Introduced(receiver.peer, receiver.incarnation))
    member.settle()


def test_photo_from_a_relay(place: Place):
    """imagesend comes over piconet relay in a tunnel to us, and we take its photo as any receiver does"""
    relay_id = place.node_of("listener")
    _, address = place.listener("relay")
    trust = place.start("piconet", "trust", "add", "Listener", relay_id.hex(), state="sender")
    assert trust.wait() == 0, trust.error_text()
    member = joined(address, Node(name="Attic", capabilities=CAPABILITIES, parameters={hello.GREETING: b"receiver"}))
    path, photo = place.path("photos") / "photo.jpg", os.urandom(500_000)
    path.write_bytes(photo)
    sender = place.sender(None, "--relay", "Listener", "--fingerprint", member.node.identity.fingerprint, "--timeout", 10, path)
    offered = member.wait_for(OfferTunnel)
    introduced = member.wait_for(Introduce)
    assert (offered.peer, offered.incarnation, offered.relays) == (introduced.peer, introduced.incarnation, 1), (offered, introduced)
    member.send(TunnelOpened(offered.tunnel, 1))
    link = Link(Tunnel(member, offered.tunnel), member.node, False)
    link.shake_hands()
    assert link.peer == introduced.peer, "another key than the relay has named"
    link.greet()
    inner = Association(link)
    inner.let_in()
    incoming = transfers.Incoming(inner)
    incoming.accept()
    assert incoming.finish() == photo
    member.send(Introduced(introduced.peer, introduced.incarnation))
    inner.see_off()
    assert sender.wait() == 0, sender.error_text()
