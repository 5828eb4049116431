"""The short code: what somebody in the middle can learn before two people compare it."""
import socket

import meetings
from association import Association
from frames import Accept, Decline, Invite
from link import Late, Link, LinkEnded, Node
from marks import fails_today
from place import Place
from reasons import Reason


def test_code_on_the_screen(place: Place):
    """the screen shows the code that we compute, and a person who says yes lets us in"""
    receiver = meetings.ask_receiver(place)
    association = meetings.invited(receiver, Node(name="Ada"))
    receiver.see(meetings.QUESTION)
    assert meetings.code_shown(receiver.look()) == association.link.code
    receiver.type("y\n")
    association.wait_for(Accept)


def test_codes_differ(place: Place):
    """a person who says that the codes differ turns us away with reason 7"""
    receiver = meetings.ask_receiver(place)
    association = meetings.invited(receiver, Node(name="Ada"))
    receiver.see(meetings.QUESTION)
    receiver.type("d\n")
    assert association.wait_for(Decline).reason == Reason.CODE_MISMATCH


def test_relay(place: Place):
    """somebody between imagesend and imagerecv, who passes invitations on, is given away by the codes"""
    receiver = meetings.ask_receiver(place)
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    with socket.create_server(("127.0.0.1", 0)) as server:
        sender, near = meetings.called_by(place, server, photo, node=Node(name="Receiver"))
        near.wait_for(Invite)
        far = meetings.invited(receiver, Node(name="Sender"))
        receiver.see(meetings.QUESTION)
        assert meetings.code_shown(receiver.look()) == far.link.code
        near.send(Accept())
        assert sender.event("connected")["code"] != far.link.code


@fails_today("each link gives a code, before anybody is asked", "codes by invitation")
def test_no_code_without_a_question(place: Place):
    """links alone give nobody a code: without an invitation there is nothing to search"""
    receiver = meetings.ask_receiver(place)
    codes = set()
    for _ in range(50):
        link = Link.dial(receiver.address, Node(name="Middle"))
        codes.add(link.code)
        link.drop()
    codes.discard(None)
    assert meetings.QUESTION not in receiver.look(0.2)
    assert not codes, f"{len(codes)} codes without a question on the screen"


@fails_today("an attempt that breaks off may be repeated at once, without a word on the screen", "codes by invitation")
def test_aborted_attempts(place: Place):
    """who learns a code and breaks off gets few further ones, and the screen says that attempts broke off"""
    receiver = meetings.ask_receiver(place)
    node, codes, shown = Node(name="Middle"), set(), 0
    for _ in range(8):
        try:
            association = meetings.invited(receiver, node)
            shown = receiver.see(meetings.QUESTION, patience=1.5, after=shown)
            codes.add(association.link.code)
            association.link.drop()
        except (LinkEnded, Late, AssertionError):
            pass
    assert len(codes) <= 3, f"{len(codes)} codes in 8 attempts"


@fails_today("a y takes whoever is on the screen, though nobody can have read that yet", "questions")
def test_withdrawn_question(place: Place):
    """a y in the moment in which another question takes the place of the former accepts nobody"""
    receiver = meetings.ask_receiver(place)
    first = meetings.invited(receiver, Node(name="First"))
    receiver.see("First")
    behind = receiver.see(meetings.QUESTION)
    second = Association(Link.dial(receiver.address, Node(name="Second"), source="127.0.0.2"))
    second.send(Invite(60_000))
    second.link.ping()
    first.link.close()
    receiver.see(meetings.QUESTION, after=receiver.see("Second", after=behind))
    receiver.type("y\n")  # sooner than anybody reads
    try:
        answer = second.receive(1)
    except Late:
        return
    assert not isinstance(answer, Accept), "the answer to one question was taken for another"
