"""The short code: what somebody in the middle can learn before two people compare it. Section 7 of the document."""
import os
import socket
import time

import mdns
import meetings
from association import Association
from frames import Accept, Admit, CodeNonce, CodeReveal, Decline, Frame, Invite, Offer, Withdraw
from identity import Identity
from link import Late, Link, LinkEnded, Node
from place import Place, Program
from reasons import Reason

SENDING = "Send?"  # the question of imagesend


def test_code_on_the_screen(place: Place):
    """the screen shows the code that we compute, and a person who says yes lets us in"""
    receiver = meetings.ask_receiver(place)
    association = meetings.asked(receiver, Node(name="Ada"))
    assert meetings.code_shown(receiver.look()) == association.code
    receiver.type("y\n")
    association.get_in()


def test_codes_differ(place: Place):
    """a person who says that the codes differ turns us away with reason 7"""
    receiver = meetings.ask_receiver(place)
    association = meetings.asked(receiver, Node(name="Ada"))
    receiver.type("d\n")
    assert association.wait_for(Decline).reason == Reason.CODE_MISMATCH


def test_relay(place: Place):
    """somebody between imagesend and imagerecv, who passes invitations on, is given away by the codes"""
    receiver = meetings.ask_receiver(place)
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, near = meetings.called_by(place, server, photo, node=Node(name="Receiver"))
        invitation = near.wait_for(Invite)
        far = meetings.asked(receiver, Node(name="Sender"))
        assert meetings.code_shown(receiver.look()) == far.code
        near.ask(invitation)
        assert near.code != far.code


def crossed(place: Place, order, terms: int) -> None:
    """imagesend, at a terminal, invites us; we cross that with an invitation of ours, and then say that we accept."""
    identity = order(place.node_of("sender"))
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = place.sender(server.getsockname(), "--timeout", "5", photo, terminal=True)
        association = Association(Link.accept(server, Node(identity, name="Middle")))
        association.send(association.invitation(terms=terms))
        came = []
        try:
            association.wait_for(Invite)
            if association.link.is_smaller:
                meetings.until_code(association)
                sender.see(SENDING)
                assert meetings.code_shown(sender.look()) == association.code
            association.send(Accept())
            while True:
                came.append(association.next_frame(5))
        except LinkEnded as ended:
            assert ended.reason == Reason.PROTOCOL_BROKEN, ended
        assert not any(isinstance(frame, Offer) for frame in came), came
        # If it has seen our nonce, that was one try.
        assert sender.wait() == (7 if association.link.is_smaller else 5), sender.look()


def test_crossing_by_the_smaller(place: Place):
    """an invitation of the smaller node that crosses imagesend's leads past no question, whether it compares codes or not"""
    for terms in (0, Invite.COMPARES_CODES):
        crossed(place, Identity.below, terms)


def test_crossing_by_the_larger(place: Place):
    """nor does one of the larger node"""
    for terms in (0, Invite.COMPARES_CODES):
        crossed(place, Identity.above, terms)


def test_no_code_without_a_question(place: Place):
    """links alone give nobody a nonce, nor do invitations whose question is not on the screen"""
    receiver = meetings.ask_receiver(place)
    for _ in range(50):
        Link.dial(receiver.address, Node(name="Middle")).drop()
    assert meetings.QUESTION not in receiver.look(0.2)
    meetings.asked(receiver, Node(name="First"))
    others = []
    for number in range(8):
        try:
            other = Association(Link.dial(receiver.address, Node(name=f"Other {number}"), source="127.0.0.2"))
            other.send(other.invitation())
            other.link.ping()
            others.append(other)
        except LinkEnded:
            pass
    codes = [other.code for other in others if other.code]
    assert others and not codes, f"{len(codes)} codes without a question on the screen"


def test_nonce_without_question(place: Place):
    """--accept all and --accept known give no nonce: nobody is asked"""
    for accept in ("all", "known"):
        receiver = place.receiver(accept=accept, state=accept)
        association = Association(Link.dial(receiver.address, Node()))
        association.invite()
        assert association.code is None


def test_wrong_reveal(place: Place):
    """a reveal that does not fit its commitment ends the link with reason 6"""
    receiver = meetings.ask_receiver(place)
    association = meetings.invited(receiver, Node(name="Middle"))
    while not isinstance(association.link.receive(), CodeNonce):
        pass
    association.link.send(CodeReveal(os.urandom(32)))
    assert association.link.end().reason == Reason.IDENTITY


def test_missing_reveal(place: Place):
    """a reveal that does not come within 2 s is a wrong code"""
    receiver = meetings.ask_receiver(place)
    association = meetings.invited(receiver, Node(name="Middle"))
    while not isinstance(association.link.receive(), CodeNonce):
        pass
    began = time.monotonic()
    while not isinstance(frame := association.link.receive(15), Decline):
        pass
    # A busy machine may take its time; the invitation itself stands for a minute.
    assert frame.reason == Reason.CODE_MISMATCH and time.monotonic() - began < 12, (frame, time.monotonic() - began)


def test_frames_of_codes_at_wrong_times(place: Place):
    """nonces, reveals and confirmations that nothing asked for break the protocol"""
    receiver = place.receiver()
    for frame in (CodeNonce(bytes(32)), CodeReveal(bytes(32)), Admit()):
        association = Association(Link.dial(receiver.address, Node()))
        association.link.send(frame)
        assert association.link.end().reason == Reason.PROTOCOL_BROKEN, frame


def tries(receiver, how) -> int:
    """How many codes one key learns that breaks each attempt off in this way."""
    node, codes = Node(name="Middle"), set()
    until = time.monotonic() + 20
    for _ in range(12):
        if time.monotonic() > until:
            break
        try:
            association = meetings.invited(receiver, node)
            # After a try the question waits for a second or two; once there are no more it is declined at once.
            meetings.until_code(association)
            if association.code is None:
                association.link.drop()
                continue
            codes.add(association.code)
            receiver.see(association.code)
            how(association)
        except (LinkEnded, Late, AssertionError):
            pass
    return len(codes)


def test_aborted_attempts(place: Place):
    """who learns a code and ends the link gets five tries, and the screen says that they broke off"""
    receiver = meetings.ask_receiver(place)
    count = tries(receiver, lambda association: association.link.drop())
    assert 1 <= count <= 5, f"{count} codes in 12 attempts"
    until = time.monotonic() + 10
    while (said := receiver.look(0.1).count("attempt broke off")) < count and time.monotonic() < until:
        pass
    assert said == count, (said, count)


def test_attempts_of_many(place: Place):
    """as many keys at as many addresses as somebody likes get ten tries in all"""
    receiver = meetings.ask_receiver(place)
    codes, refused = set(), 0
    for number in range(24):
        association = meetings.invited(receiver, Node(name="Middle"), source=f"127.0.{number}.7")
        if isinstance(answer := meetings.until_code(association), Decline):
            assert answer.reason == Reason.LIMIT_EXCEEDED, answer
            refused += 1
        codes.add(association.code)
        association.link.drop()
    codes.discard(None)
    assert len(codes) == 10 and refused == 14, (len(codes), refused)


def test_withdrawn_attempts(place: Place):
    """so does who takes the invitation back"""
    receiver = meetings.ask_receiver(place)

    def withdraw(association):
        association.send(Withdraw(Reason.CANCELLED))
        association.wait_for(Decline)
        association.leave()
    count = tries(receiver, withdraw)
    assert 1 <= count <= 5, f"{count} codes in 12 attempts"


def answered_unread(receiver: Program) -> tuple[float, Frame | None]:
    """Types y as soon as another question has taken the place of the former.
    - Returns: how many seconds after the end of the former that was, and what came of the other one."""
    first = meetings.asked(receiver, Node(name="First"))
    behind = len(receiver.look())
    second = Association(Link.dial(receiver.address, Node(name="Second"), source="127.0.0.2"))
    second.send(second.invitation())
    second.link.ping()
    began = time.monotonic()
    first.link.close()
    answer = meetings.until_code(second)
    receiver.see(meetings.QUESTION, after=receiver.see("Second", after=behind))
    receiver.type("y\n")
    seconds = time.monotonic() - began
    try:
        return seconds, answer or second.receive(2)
    except Late:
        return seconds, None


def test_withdrawn_question(place: Place):
    """a y in the moment in which another question takes the place of the former accepts nobody"""
    for number in range(5):
        receiver = meetings.ask_receiver(place, state=f"receiver{number}")
        seconds, answer = answered_unread(receiver)
        # Nothing counts for a second after the former question; a y that a busy machine types later shows nothing.
        if seconds < 0.9:
            assert not isinstance(answer, Accept), "the answer to one question was taken for another"
            return
        receiver.end()
    raise AssertionError("no y was typed within the second in which nothing counts")


def sent_unread(sender: Program, services: list[tuple[Node, socket.socket]]) -> tuple[float, bool]:
    """Two are picked at imagesend; types y as soon as the question about the second has taken the place of that about the first.
    - Returns: how many seconds after the first has declined that was, and whether the second was let in."""
    meetings.advertise(sender, [mdns.service(node, server.getsockname()[1]) for node, server in services], count=len(services))
    first, second = (Association(Link.accept(server, node)) for node, server in services)
    first.ask(first.wait_for(Invite))
    sender.see(SENDING, after=sender.see(first.code))
    second.ask(second.wait_for(Invite))
    behind = len(sender.look())
    began = time.monotonic()
    first.send(Decline(Reason.DECLINED))
    sender.see(SENDING, after=sender.see(second.code, after=behind))
    sender.type("y\n")
    seconds = time.monotonic() - began
    second.send(Accept())
    try:
        second.wait_for(Admit, patience=2)
    except Late:
        return seconds, False
    return seconds, True


def test_replaced_question_of_imagesend(place: Place):
    """nor does a y at imagesend that was meant for another receiver, whose question has just gone"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    for number in range(5):
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            sender = place.sender(None, "--to", "First", "--to", "Second", photo, state=f"sender{number}", terminal=True)
            seconds, is_let_in = sent_unread(sender, [(Node(name="First"), one), (Node(name="Second"), other)])
        if seconds < 0.9:
            assert not is_let_in, "the answer to one question was taken for another"
            return
        sender.end()
    raise AssertionError("no y was typed within the second in which nothing counts")
