"""TLS, hellos and associations in both roles, with the programs on the other end."""
import concurrent.futures
import datetime
import socket
import time

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

import frames
import hello
import meetings
import tls
from association import Association, joined, resumed
from frames import Associate, CodeNonce, CodeReveal, Hello, Message, Ping, Pong
from identity import Identity
from link import Link, LinkEnded, Node
from place import Place
from reasons import Reason

OTHER = x509.ObjectIdentifier("1.3.6.1.4.1.99999.1")  # an extension that nobody knows


def listener() -> socket.socket:
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(10)
    return server


def photo(place: Place, name: str = "photo.jpg", data: bytes = b"photo" * 1_000):
    path = place.path("photos") / name
    path.write_bytes(data)
    return path


def ending(receiver, node: Node) -> int | None:
    """The reason with which the program ends a link of this node."""
    try:
        return Link.dial(receiver.address, node).end().reason
    except LinkEnded as ended:
        return ended.reason


def test_dialler_as_smaller(place: Place):
    """as dialler and smaller node we begin the association, and are let in"""
    receiver = place.receiver()
    node = Node(Identity.below(receiver.node))
    member = joined(receiver.address, node)
    assert member.link.is_smaller
    assert member.greeting.name == "Receiver"
    member.leave()
    receiver.check_alive()


def test_dialler_as_larger(place: Place):
    """as dialler and larger node we wait for the association, and are let in"""
    receiver = place.receiver()
    node = Node(Identity.above(receiver.node))
    member = joined(receiver.address, node)
    assert not member.link.is_smaller
    member.leave()
    receiver.check_alive()


def accepted(place: Place, identity: Identity) -> Association:
    """imagesend dials us; returns its association, before its invitation is answered."""
    with listener() as server:
        return meetings.called_by(place, server, photo(place), node=Node(identity))[1]


def test_acceptor_as_smaller(place: Place):
    """as acceptor and smaller node we begin the association of the one who dials"""
    association = accepted(place, Identity.below(place.node_of("sender")))
    assert association.link.is_smaller
    association.let_in()
    association.leave()


def test_acceptor_as_larger(place: Place):
    """as acceptor and larger node we wait for the association of the one who dials"""
    association = accepted(place, Identity.above(place.node_of("sender")))
    assert not association.link.is_smaller
    association.let_in()
    association.leave()


def test_equal_codes(place: Place):
    """both sides compute the same short code"""
    with listener() as server:
        sender, association = meetings.called_by(place, server, photo(place))
        association.let_in()
        assert sender.event("code")["code"] == association.code


def test_certificates(place: Place):
    """of a certificate nothing counts but its key, on P-256 or Ed25519: neither dates, nor names, nor what it says it is for"""
    receiver = place.receiver()
    for identity in (Identity(valid_for=datetime.timedelta(days=-5)), Identity(valid_for=datetime.timedelta(days=4_000)),
                     Identity(ed25519.Ed25519PrivateKey.generate()), Identity(issuer="Somebody else"),
                     Identity(extensions=[x509.BasicConstraints(ca=False, path_length=None), x509.UnrecognizedExtension(OTHER, b"?")])):
        member = joined(receiver.address, Node(identity))
        assert receiver.event("connected")["fingerprint"] == identity.fingerprint
        member.leave()


def test_other_keys(place: Place):
    """a key of another kind comes to no link"""
    receiver = place.receiver()
    for key in (rsa.generate_private_key(65_537, 2_048), ec.generate_private_key(ec.SECP384R1())):
        try:
            Link.dial(receiver.address, Node(Identity(key)))
        except (tls.HandshakeError, LinkEnded):
            continue
        raise AssertionError(f"{key} was taken")


def test_ping(place: Place):
    """a ping is answered with its token, before and in an association"""
    receiver = place.receiver()
    node = Node(Identity.below(receiver.node))
    link = Link.dial(receiver.address, node)
    link.send(Ping(77))
    assert link.expect(Pong) == Pong(77)
    association = Association(link)
    association.send(Ping(1 << 61))
    assert association.wait_for(Pong) == Pong(1 << 61)


def test_compact_records():
    """compact record headers go between two of us who agree to them, and one who may write them need not"""
    # The programs agree to them only over Bluetooth.
    near, far = socket.socketpair()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        dialler = Link(near, Node(), True, [tls.COMPACT, tls.PLAIN], compacts=True)
        acceptor = Link(far, Node(), False, [tls.COMPACT, tls.PLAIN])
        accepting = pool.submit(lambda: (acceptor.shake_hands(), acceptor.greet()))
        dialler.shake_hands()
        dialler.greet()
        accepting.result()
    assert dialler.channel.protocol == acceptor.channel.protocol == tls.COMPACT
    assert acceptor.channel.records.compact_headers > 0 and dialler.channel.records.compact_headers == 0
    acceptor.channel.compacts = True
    acceptor.send(Ping(5))
    assert dialler.expect(Ping) == Ping(5)
    assert dialler.channel.records.compact_headers == 1
    dialler.drop()
    acceptor.drop()


def test_compact_over_tcp(place: Place):
    """who offers compact headers over TCP gets a link, with either protocol"""
    receiver = place.receiver()
    member = joined(receiver.address, protocols=[tls.COMPACT, tls.PLAIN], compacts=True)
    member.link.ping()
    member.leave()


def test_no_compact_without_agreement(place: Place):
    """compact headers on a link that has not agreed to them end it"""
    receiver = place.receiver()
    link = Link.dial(receiver.address, Node())
    link.write(b"\x80\x20" + bytes(32))
    try:
        link.end()
    except tls.HandshakeError:
        pass  # an alert
    receiver.check_alive()


def test_versions(place: Place):
    """no common version ends the link with its reason, whatever the rest of the hello is; a common one is found"""
    receiver = place.receiver()
    link = Link.secured(receiver.address, Node())
    link.send(Hello(2, 9, {}, b"\xff\xff\xff"))
    assert link.end().reason == Reason.VERSION


def test_other_session(place: Place):
    """another session ends the link with its reason"""
    receiver = place.receiver()
    assert ending(receiver, Node(session_id="another")) == Reason.WRONG_SESSION


def test_unknown_parameter(place: Place):
    """a hello with an unknown parameter, and unknown optional frames, do no harm"""
    receiver = place.receiver()
    member = joined(receiver.address, Node(parameters={4_000: b"new"}))
    member.send(frames.Unknown(0xA0, b"new"), frames.Unknown(0xFF, b"counts"))
    member.link.ping()


def test_greeting(place: Place):
    """a greeting does no harm, and one of more than 1,024 bytes ends the link"""
    receiver = place.receiver()
    joined(receiver.address, Node(parameters={hello.GREETING: bytes(1_024)})).link.ping()
    link = Link.secured(receiver.address, Node())
    link.send(Hello(1, 1, {**Node().own_parameters(), hello.GREETING: bytes(1_025)}))
    assert link.end().reason == Reason.PROTOCOL_BROKEN


def test_order_of_frames(place: Place):
    """frames at the wrong time end the link with reason 10"""
    receiver = place.receiver()

    def told(*wrong, is_first=False):
        link = Link.secured(receiver.address, Node())
        if not is_first:
            link.greet()
        link.greeting = None
        link.send(*wrong)
        return link.end().reason
    assert told(Ping(1), is_first=True) == Reason.PROTOCOL_BROKEN
    assert told(Message(b"")) == Reason.PROTOCOL_BROKEN
    assert told(CodeReveal(bytes(32))) == Reason.PROTOCOL_BROKEN
    assert told(CodeNonce(bytes(32))) == Reason.PROTOCOL_BROKEN
    assert told(Hello(1, 1, Node().own_parameters())) == Reason.PROTOCOL_BROKEN
    assert told(frames.Unknown(0x3F, b"")) == Reason.PROTOCOL_BROKEN


def test_unknown_association(place: Place):
    """who comes for an association that nobody knows is told so"""
    receiver = place.receiver()
    node = Node(Identity.below(receiver.node))
    link = Link.dial(receiver.address, node)
    link.send(Associate(bytes(range(16)), 5))
    assert link.end().reason == Reason.NO_SUCH_ASSOCIATION


def test_resume(place: Place):
    """an association goes on upon another link, in both orders of ids, and frames that were lost come again"""
    for order in (Identity.below, Identity.above):
        receiver = place.receiver(state=order.__name__)
        node = Node(order(receiver.node))
        member = joined(receiver.address, node)
        member.link.drop()
        # Sent when there is no link: it has to come over the next one.
        lost = frames.Unknown(0xFF, b"counts")
        member.sent += 1
        member.kept.append(lost)
        resumed(member, receiver.address)
        member.link.ping()
        outcome = member.greeting.name
        assert outcome == "Receiver"
        member.leave()
        receiver.check_alive()


def test_self(place: Place):
    """a node that is dialled by itself closes with reason 18, and takes another node of its key for another one"""
    receiver = place.receiver(state="own")
    link = Link.dial(receiver.address, Node())
    own = Identity.of_state(place.path("own"))
    assert own.id == link.peer
    assert ending(receiver, Node(own, incarnation=link.greeting.incarnation)) == Reason.SELF_CONNECTION
    joined(receiver.address, Node(own, incarnation=link.greeting.incarnation ^ 1)).leave()
    receiver.check_alive()


def test_protocol(place: Place):
    """another application protocol, or none, comes to no link"""
    receiver = place.receiver()
    for protocols in ([b"http/1.1"], []):
        link = Link(socket.create_connection(receiver.address), Node(), True, protocols)
        try:
            # Our own side does not check what was selected.
            while not link.channel.advance():
                link.write(link.channel.outgoing())
                link.read_some(time.monotonic() + 5)
            link.write(link.channel.outgoing())
            link.greet()
        except (tls.HandshakeError, LinkEnded):
            continue
        raise AssertionError(f"a link came about with {protocols}")
    receiver.check_alive()
    joined(receiver.address)
