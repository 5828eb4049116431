"""What a sender announces, and what of it a person agrees to."""
import os
import re

import document
import meetings
import transfers
from association import Association
from frames import Abandon
from link import Link, Node
from place import Place, Program
from reasons import Reason
from transfers import Outgoing

ANNOUNCEMENT = re.search(r"^```golden-announcement\n(.*?)^```$", document.PATH.read_text(), re.MULTILINE | re.DOTALL).group(1).encode()


def agreed(place: Place, chosen: str | None = None, announcement: bytes = ANNOUNCEMENT, name: str = "Ada") -> tuple[Program, Association]:
    """A person at imagerecv is shown this, and agrees to all of it, or to what is chosen."""
    receiver = meetings.ask_receiver(place)
    association = Association(Link.dial(receiver.address, Node(name=name)))
    association.send(association.invitation(context=announcement))
    meetings.wait_for_question(receiver, association)
    receiver.type("y\n" if chosen is None else "s\n")
    if chosen is not None:
        receiver.see("Which")
        receiver.type(chosen + "\n")
    association.get_in()
    return receiver, association


def refused(association: Association, size: int, name: str, number: int) -> str:
    """With which words an offer is declined."""
    outcome = transfers.send(association, os.urandom(size), name, number=number)
    assert outcome.reason == Reason.DECLINED, outcome
    return outcome.detail


def test_announced(place: Place):
    """the document's announcement is shown, and what it announces is stored, in files and in bytes; more is declined"""
    receiver, association = agreed(place)
    assert "3 files, 1.2 kB" in receiver.look(), receiver.look()
    for number, (size, name) in enumerate(((1000, "beach.jpg"), (200, "sun.png"))):
        assert transfers.send(association, os.urandom(size), name, number=number).is_stored
    assert "more than was announced" in refused(association, 31, "large.jpg", 2)
    assert transfers.send(association, os.urandom(20), "third.jpg", number=3).is_stored
    # Less than the bytes that were announced, and one file more.
    assert "more than was announced" in refused(association, 1, "fourth.jpg", 4)


def test_announced_in_part(place: Place):
    """of files that have not all been counted there may be more, and of a context of another form any number"""
    announcements = {"Ada": b"piconet-files 1\n1 5 partial\n", "Ben": b"piconet-files 2\n1 5 whole\n", "Cem": b""}
    for name, announcement in announcements.items():
        receiver, association = agreed(place, announcement=announcement, name=name)
        for number in range(3):
            assert transfers.send(association, os.urandom(10), f"{number}.jpg", number=number).is_stored
        association.leave()
        receiver.end()


def test_refused_name(place: Place):
    """a file whose name is refused counts once, under the name under which it is taken"""
    _, association = agreed(place)
    outcome = transfers.send(association, os.urandom(30), "sunset\u202e.jpg")
    assert outcome.reason == Reason.NAME_REFUSED, outcome
    for number, (size, name) in enumerate(((900, "beach.jpg"), (200, "sun.png"), (30, "sunset.jpg")), start=1):
        assert transfers.send(association, os.urandom(size), name, number=number).is_stored
    assert "more than was announced" in refused(association, 1, "fourth.jpg", 5)


def test_chosen(place: Place):
    """of files that were chosen from the list only these are taken, one whose name is refused under another name"""
    announcement = "piconet-files 1\n3 60 whole\n10 sun.png\n20 sea.png\n30 sunset\u202e.jpg\n".encode()
    _, association = agreed(place, chosen="2-3", announcement=announcement)
    assert "not among the files that were chosen" in refused(association, 30, "sunset.jpg", 0)
    assert transfers.send(association, os.urandom(30), "sunset\u202e.jpg", number=1).reason == Reason.NAME_REFUSED
    # Nothing was refused for its name here: the sender gives it up with that reason.
    given_up = Outgoing(association, os.urandom(20), "sea.png", number=6)
    assert given_up.start() is None
    association.send(Abandon(6, Reason.NAME_REFUSED))
    assert "not among the files that were chosen" in refused(association, 20, "moon.jpg", 7)
    assert transfers.send(association, os.urandom(30), "sunset.jpg", number=2).is_stored
    for number, size in enumerate((10, 30), start=4):
        assert "not among the files that were chosen" in refused(association, size, "moon.jpg", number)


# 64 pixels each way, of one colour.
PICTURE = (b"/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0dHx8fExciJCIeJBweHx7/2wBDAQUFBQcGBw4ICA4e"
           b"FBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh7/wAARCABAAEADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAf/xAAUEAEAAAAA"
           b"AAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAYI/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AmgCRaIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAf//Z")


def test_pictures(place: Place):
    """a picture as the document has it is shown; another one is passed over, and a person is asked all the same"""
    words = {
        "Ada": (b"sheet=1:" + PICTURE, True), "Ben": (b"sheet=1,2:" + PICTURE, False), "Cem": (b"sheet=3:" + PICTURE, False),
        "Dan": (b"sheet=1:" + PICTURE[:200], False), "Eva": (b"sheet=1:" + b"A" * 5000, False), "Flo": (b"other=1 " + PICTURE, False),
    }
    for name, (word, is_shown) in words.items():
        receiver = place.receiver("--thumbnails", "symbols", accept="ask", terminal=True)
        association = Association(Link.dial(receiver.address, Node(name=name)))
        association.send(association.invitation(context=b"piconet-files 1\n2 9 whole " + word + b"\n5 beach.jpg\n4 sun.png\n"))
        meetings.wait_for_question(receiver, association)
        # Below its picture a name has a line of its own.
        assert "  beach.jpg  5 B" in receiver.look() and ("\n  beach.jpg\r\n" in receiver.look()) == is_shown, (name, receiver.look())
        receiver.end()
