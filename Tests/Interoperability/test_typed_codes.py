"""Meetings by a code that is typed, in both roles: section 7 of Documentation/wire-format.md."""
import os
import socket
import time

import transfers
import typed_code
from association import Association, joined
from frames import Accept, CodeAnswer, CodeConfirm, Decline, InviteByCode, Ping, Withdraw
from link import Link, Node
from place import Place, Program
from reasons import Reason

CODE, ANOTHER = "27182818", "31415926"


def side(association: Association, code: str, invites: bool) -> typed_code.Side:
    own, peer = association.node.identity.id, association.peer
    exported = association.link.channel.exported(typed_code.LABEL, 32)
    return typed_code.Side(code, exported, *((own, peer) if invites else (peer, own)), invites)


def asked(receiver: Program, node: Node, code: str) -> tuple[Association, bytes, bytes, CodeAnswer]:
    """Invites by a code; returns cA, cB as it should be, and the answer."""
    return asked_at(receiver.address, node, code)


def asked_at(address: tuple[str, int], node: Node, code: str) -> tuple[Association, bytes, bytes, CodeAnswer]:
    association = Association(Link.dial(address, node))
    ours = side(association, code, invites=True)
    association.send(InviteByCode(10_000, ours.share))
    answered = association.wait_for(CodeAnswer, Decline)
    assert isinstance(answered, CodeAnswer), answered
    return association, *ours.confirmations(answered.share), answered


def show_life(associations: list[Association]) -> None:
    """What a test prepares for each of many takes longer on a busy machine than a link may be silent."""
    for association in associations:
        association.send(Ping(1))


def called(place: Place, server: socket.socket) -> tuple[Program, Association, InviteByCode]:
    """imagesend, where CODE was typed, invites us."""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    sender = place.sender(server.getsockname(), f"--code={CODE}", photo)
    association = Association(Link.accept(server, Node(name="Camera")))
    return sender, association, association.wait_for(InviteByCode)


def answer(association: Association, invitation: InviteByCode, code: str) -> bytes:
    """Answers as the side whose code this is; returns cA as it should be."""
    ours = side(association, code, invites=False)
    expected, confirmation = ours.confirmations(invitation.share)
    association.send(CodeAnswer(ours.share, confirmation, 2))
    return expected


def known(place: Place, state: str) -> str:
    program = place.start("piconet", "trust", state=state)
    assert program.wait() == 0, program.error_text()
    return bytes(program.output).decode()


def test_inviting(place: Place):
    """imagerecv proves the code that it was given, lets us in for it, takes a photo, and knows us from then on"""
    receiver = place.receiver(f"--code={CODE}", "--count", 1, accept="known")
    association, confirmation, expected, answered = asked(receiver, Node(name="Ada"), CODE)
    assert answered.confirmation == expected, "cB is not that of the code"
    assert answered.left == 2, answered
    association.send(CodeConfirm(confirmation))
    assert association.wait_for(Accept, Decline) == Accept()
    association.admit()
    assert transfers.send(association, b"photo", "photo.jpg").is_stored
    assert receiver.wait() == 0
    assert known(place, "receiver").startswith("Ada  code  push:images send:images  since ")


def test_code_of_a_relay(place: Place):
    """piconet relay lets in for its code whoever proves it, who is known as one that may join it from then on"""
    _, address = place.listener("relay", f"--code={CODE}", "--accept", "known")
    association, confirmation, expected, answered = asked_at(address, Node(name="Ada"), CODE)
    assert answered.confirmation == expected, "cB is not that of the code"
    association.send(CodeConfirm(confirmation))
    assert association.wait_for(Accept, Decline) == Accept()
    association.admit()
    association.link.ping()
    association.leave()
    # The table is written once it is a member.
    until = time.monotonic() + 10
    while not known(place, "listener").startswith("Ada  code"):
        assert time.monotonic() < until, "it is not remembered"
    joined(address, Node(association.node.identity, name="Ada"))
    assert known(place, "listener").startswith("Ada  code  push:relay send:relay  since ")


def test_invited(place: Place):
    """imagesend proves the code that was typed, gives us its photo for it, and knows us from then on"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association, invitation = called(place, server)
        assert invitation.context.endswith(b"1 5 whole\n"), "who has proven nothing yet learns names"
        expected = answer(association, invitation, CODE)
        assert association.wait_for(CodeConfirm).confirmation == expected, "cA is not that of the code"
        association.accept()
        incoming = transfers.Incoming(association)
        incoming.accept()
        assert incoming.finish() == b"photo"
        association.see_off()
        assert sender.wait() == 0, sender.error_text()
    assert known(place, "sender").startswith("Camera  code  send:images  since ")


def test_inviting_with_another_code(place: Place):
    """imagerecv's answer does not fit another code, and what we confirm with that is declined and counted"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    association, confirmation, expected, answered = asked(receiver, Node(), ANOTHER)
    assert answered.confirmation != expected
    association.send(CodeConfirm(confirmation))
    assert association.wait_for(Accept, Decline).reason == Reason.WRONG_CODE
    assert receiver.event("code-failed")["left"] == 2
    assert known(place, "receiver") == ""


def test_invited_with_another_code(place: Place):
    """imagesend takes nothing from a side that has another code: neither cA nor a photo goes there, and it ends with 7"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association, invitation = called(place, server)
        answer(association, invitation, ANOTHER)
        assert association.wait_for(CodeConfirm, Withdraw) == Withdraw(Reason.WRONG_CODE)
        association.send(Decline(Reason.WRONG_CODE))
        association.link.end()
        assert sender.wait() == 7, sender.error_text()
    assert known(place, "sender") == ""


def test_three_tries(place: Place):
    """whoever learns cB and breaks off has had a try; after three the code that was given is over, and imagerecv ends with 7"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    left = []
    while len(left) < 3:
        # Each from another key and address, which nobody has to wait for; the pause for everybody is told by a decline.
        source = f"127.0.0.{2 + len(left)}"
        association = Association(Link.dial(receiver.address, Node(), source=source))
        association.send(InviteByCode(10_000, side(association, ANOTHER, invites=True).share))
        answered = association.wait_for(CodeAnswer, Decline)
        if isinstance(answered, CodeAnswer):
            left.append(answered.left)
        else:
            assert answered.reason == Reason.WRONG_CODE, answered
        association.link.drop()
    assert left == [2, 1, 0]
    assert receiver.wait() == 7, receiver.error_text()


def test_tries_at_once(place: Place):
    """of thirty that try at the same moment, each of a key and an address of its own, three are answered, and no more"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    associations, shares = [], []
    for number in range(30):
        associations.append(Association(Link.dial(receiver.address, Node(), source=f"127.0.{number}.2")))
        show_life(associations)
    for association in associations:
        shares.append(side(association, ANOTHER, invites=True).share)
        show_life(associations)
    for association, share in zip(associations, shares):
        association.send(InviteByCode(30_000, share))
    answers = [association.wait_for(CodeAnswer, Decline) for association in associations]
    assert sorted(answer.left for answer in answers if isinstance(answer, CodeAnswer)) == [0, 1, 2]
    assert {answer.reason for answer in answers if isinstance(answer, Decline)} == {Reason.IN_PROGRESS}
    for association in associations:
        association.link.drop()
    assert receiver.wait() == 7, receiver.error_text()


def test_relay(place: Place):
    """somebody between the two, who hands everything on, proves nothing to either, and both count it"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, near, invitation = called(place, server)
        far = Association(Link.dial(receiver.address, Node(name="Sender")))
        far.send(InviteByCode(10_000, invitation.share))
        near.send(far.wait_for(CodeAnswer))
        assert near.wait_for(CodeConfirm, Withdraw) == Withdraw(Reason.WRONG_CODE)
        near.send(Decline(Reason.WRONG_CODE))
        assert sender.wait() == 7, sender.error_text()
        far.send(Withdraw(Reason.WRONG_CODE))
        assert receiver.event("code-failed")["left"] == 2
    assert known(place, "receiver") == known(place, "sender") == ""


def test_no_plain_invitation(place: Place):
    """as long as a code is set, a stranger who invites without one is declined with reason 24"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    association = Association(Link.dial(receiver.address, Node()))
    assert association.invite().reason == Reason.CODE_NEEDED


def test_unfit_shares(place: Place):
    """a share that is no point breaks the protocol at imagerecv; imagesend takes one of its own for a wrong code"""
    receiver = place.receiver(f"--code={CODE}", accept="known")
    association = Association(Link.dial(receiver.address, Node()))
    association.send(InviteByCode(10_000, b"\4" + os.urandom(64)))
    assert association.link.end().reason == Reason.PROTOCOL_BROKEN
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, association, invitation = called(place, server)
        association.send(CodeAnswer(invitation.share, bytes(32), 2))
        assert association.wait_for(CodeConfirm, Withdraw) == Withdraw(Reason.WRONG_CODE)
        association.send(Decline(Reason.WRONG_CODE))
        assert sender.wait() == 7, sender.error_text()
