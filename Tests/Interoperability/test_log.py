"""What peers can make a program write: nothing without a bound. The table is in Documentation/programs/service.md."""
import collections
import time

import meetings
import transfers
from association import Association, joined, resumed
from frames import Decline, DeclineOffer, Invite, Offer
from identity import Identity
from link import Link, Node
from place import Place, Program

MEMBERS = 16  # the members that imagerecv takes at once


def counted(program: Program) -> collections.Counter:
    """How many events there were of each kind."""
    return collections.Counter(event["event"] for event in program.new_events())


def test_log_of_strangers(place: Place):
    """what strangers do fills no log: of 300 declined invitations few are told"""
    receiver = place.receiver(accept="known")
    for _ in range(300):
        association = Association(Link.dial(receiver.address, Node(name="x" * 100)))
        association.invite()
        association.link.drop()
    receiver.new_events()
    said = len(receiver.output) + len(receiver.error_text())
    assert said < 30_000, f"{said} bytes were written"


def test_log_of_many_addresses(place: Place):
    """nor do strangers of ever new addresses: they have all together as much as four addresses"""
    receiver, friend = place.receiver(accept="known"), Node(name="Bob")
    meetings.known_to_sender(place, friend, state="receiver")
    began = time.monotonic()
    for number in range(120):
        association = Association(Link.dial(receiver.address, Node(), source=f"127.0.{number}.2"))
        association.invite()
        association.link.drop()
    seconds = time.monotonic() - began
    declined = counted(receiver)["declined"]
    assert 30 <= declined <= 33 + seconds / 2.5, (declined, seconds)
    # A known device is told of all the same.
    assert isinstance(Association(Link.dial(receiver.address, friend)).invite(), Decline)
    receiver.event("declined", patience=3, where=lambda event: event["name"] == "Bob")


def test_log_of_members(place: Place):
    """nor does what strangers do whom --accept all has let in: offers that are declined, comings and goings, links that break"""
    receiver = place.receiver()
    for _ in range(200):
        joined(receiver.address, Node(name="x" * 100)).leave()
    member = joined(receiver.address)
    for _ in range(100):
        for number in range(8):
            member.send(Offer(number, 5, b".\x01" + b"\x02" * 1_000))
        for _ in range(8):
            member.wait_for(DeclineOffer)
    member.leave()
    member = joined(receiver.address)
    for _ in range(150):
        member.link.drop()
        resumed(member, receiver.address)
    member.leave()
    receiver.new_events()
    said = len(receiver.output) + len(receiver.error_text())
    # Of 800 offers 64 are told, with 18 KB each for the name as it is escaped; of 350 other events as many.
    assert said < 1_500_000, f"{said} bytes were written"
    # All of it is counted.
    receiver.end()
    assert receiver.event("finished")["failed"] == 800


def test_log_of_drips(place: Place):
    """128 transfers that drip tell of their progress once a second, all together"""
    receiver = place.receiver()
    begun = []
    for _ in range(MEMBERS):
        member = joined(receiver.address)
        # As many at once as are stored at once.
        for number in range(8):
            outgoing = transfers.Outgoing(member, bytes(10_000), f"{len(begun)}.jpg", number=number)
            assert outgoing.start() is None
            begun.append(outgoing)
    began, progress = time.monotonic(), 0
    # For 4 s; on a busy machine it reads, or tells, some of it later.
    while (seconds := time.monotonic() - began) < 4 or progress <= 200 and seconds < 20:
        for outgoing in begun:
            outgoing.send_until(outgoing.place + 1)
        progress += counted(receiver)["progress"]
    # As many as one file tells in half a minute, and then one a second.
    assert 200 < progress <= 256 + 2 * (seconds + 1), (progress, seconds)


def test_log_of_one_transfer(place: Place):
    """a transfer alone still tells of its progress several times a second"""
    receiver = place.receiver()
    outgoing = transfers.Outgoing(joined(receiver.address), bytes(100_000), "photo.jpg")
    assert outgoing.start() is None
    until, progress = time.monotonic() + 10, 0
    # Once a second, as among many that drip, would be ten.
    while progress < 15 and time.monotonic() < until and outgoing.place < 90_000:
        outgoing.send_until(outgoing.place + 1)
        time.sleep(0.001)
        progress += counted(receiver)["progress"]
    assert progress >= 15, progress
    assert outgoing.finish().is_stored


def compared(receiver: Program, node: Node) -> Association:
    """A member whose user has compared the codes, or so it says."""
    association = Association(Link.dial(receiver.address, node))
    association.send(association.invitation(terms=Invite.COMPARES_CODES))
    association.get_in()
    return association


def test_log_of_codes(place: Place):
    """of 150 codes that a stranger compares under --accept all 64 are told"""
    receiver = place.receiver()
    node = Node(name="Stranger")
    for _ in range(150):
        compared(receiver, node).leave()
    said = counted(receiver)
    assert 60 <= said["code"] <= 70, said
    assert receiver.error_text().count("compares codes") == said["code"]


def test_log_of_offers(place: Place):
    """a thousand offers at once that come to nothing are told once, and not all of them again in ten seconds"""
    receiver = place.receiver()
    for number_told in (60 * MEMBERS, 0):
        members = [joined(receiver.address) for _ in range(MEMBERS)]
        for member in members:
            member.send(*[Offer(number, 1 << 30, b"x" * 200) for number in range(60)])
        for member in members:
            member.link.ping()
        # An offer that ends before the program has come to it is told nowhere.
        for _ in range(number_told):
            receiver.event("offered")
        for member in members:
            member.leave()
        # After this long an address has more told again.
        time.sleep(10.5)
    receiver.lines_read = 0
    offered = counted(receiver)["offered"]
    assert 60 * MEMBERS <= offered <= 1_030, offered


def test_log_of_links(place: Place):
    """a stranger that dials again while its link lives moves its association, which is told 64 times"""
    receiver = place.receiver("-v")
    member = joined(receiver.address, Node(Identity.below(receiver.node), name="Stranger"))
    for _ in range(150):
        former = member.link
        resumed(member, receiver.address)
        member.link.ping()
        former.drop()
    events = [event["event"] for event in receiver.new_events() if event["event"] in ("suspended", "resumed")]
    assert "suspended" not in events, events
    assert 60 <= len(events) <= 70, len(events)
    assert receiver.error_text().count("is now reached") == len(events)
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def told(program: Program, *words: str) -> int:
    """How many lines with one of these it has written, once there are 60: on a busy machine it writes them later."""
    until = time.monotonic() + 10
    while (count := sum(program.error_text().count(one) for one in words)) < 60 and time.monotonic() < until:
        time.sleep(0.05)
    return count


def come_and_go(program: Program, address: tuple[str, int]) -> None:
    """200 strangers of one address come and go, and `-v` tells of some 64 of them."""
    for _ in range(200):
        joined(address, Node(name="Stranger")).leave()
    for words in ("Connected to", "has left"):
        count = told(program, words)
        assert 60 <= count <= 70, f"{words!r} is told {count} times"


def test_log_of_pings(place: Place):
    """of 200 strangers that come to piconet ping --listen and go 64 are told, with -v as well"""
    come_and_go(*place.listener("ping", "-v"))


def test_log_of_goings(place: Place):
    """and of those that come to imagerecv"""
    receiver = place.receiver("-v")
    come_and_go(receiver, receiver.address)


def test_log_of_cat(place: Place):
    """a stranger that piconet cat is connected with, and that breaks its link again and again, is told of 64 times"""
    program, address = place.listener("cat", "-v")
    member = joined(address)
    for _ in range(100):
        member.link.drop()
        resumed(member, address)
    # On a busy machine the next link may be there before the former one is missed.
    count = told(program, "can't be reached", "is now reached")
    assert 60 <= count <= 70, count


def test_log_of_a_known_device(place: Place):
    """a known device that may not push is told of, however many strangers come from its address"""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob)
    receiver = place.receiver(accept="known", state="sender")
    for _ in range(40):
        association = Association(Link.dial(receiver.address, Node(name="Stranger")))
        assert isinstance(association.invite(), Decline)
        association.link.drop()
    assert isinstance(Association(Link.dial(receiver.address, bob)).invite(), Decline)
    told = receiver.event("declined", patience=3, where=lambda event: event["name"] == "Bob")
    assert told["reason"] == "not-allowed", told
    assert "suppressed" not in told, told
    assert "piconet trust allow" in receiver.error_text()


def test_log_of_a_friend(place: Place):
    """of a device that a person lets push all is told"""
    ada = Node(name="Ada")
    meetings.known_to_receiver(place, ada)
    receiver = place.receiver()
    for number in range(80):
        joined(receiver.address, ada).leave()
        assert "suppressed" not in receiver.event("connected"), number
