"""Introductions, section 7 of the document: the programs refuse every one, and make none."""
import itertools
import select
import socket
import subprocess

import document
import frames
import hello
import meetings
import namespace
import transfers
from association import Association, joined, resumed
from fields import Address
from frames import Accept, AskToIntroduce, Decline, GroupView, Introduce, Introduced, IntroductionFailed, Leave, Listening, WithdrawIntroduction
from identity import Identity
from link import Link, LinkEnded, Node
from place import Place, Program
from reasons import Reason
from streams import IncomingStream, OutgoingStream
from test_growth import flood
from test_messages import REPLY, REQUEST, ping_message

TCP = 1


def introduction(node: Node, *addresses: Address, timeout: int = 30_000) -> Introduce:
    return Introduce(timeout, node.identity.id, node.incarnation, node.name, list(addresses))


def of_listener(server: socket.socket) -> Address:
    host, port = server.getsockname()
    return Address(TCP, socket.inet_aton(host), port)


def answer(member: Association) -> Introduced | IntroductionFailed:
    return member.wait_for(Introduced, IntroductionFailed)


def expect_declined(member: Association, *told: Introduce, reason: int = Reason.DECLINED) -> None:
    """Waits for an answer to each, in any order, and for no other."""
    wanted = {(one.peer, one.incarnation) for one in told}
    assert len(wanted) == len(told)
    while wanted:
        found = answer(member)
        assert isinstance(found, IntroductionFailed) and found.reason == reason, found
        wanted.remove((found.peer, found.incarnation))
    member.settle()
    assert not [frame for frame in member.inbox if isinstance(frame, (Introduced, IntroductionFailed))], member.inbox


def refused(member: Association, *told: Introduce, reason: int = Reason.DECLINED) -> None:
    member.send(*told)
    expect_declined(member, *told, reason=reason)


def nobody_dials(*servers: socket.socket) -> None:
    """A node that dials waits for half a second at most."""
    assert not select.select(servers, [], [], 1.0)[0], "somebody has dialled"


def ended_by(member: Association, *sent: frames.Frame) -> int | None:
    """The reason with which the program ends the link on which these come."""
    member.send(*sent)
    return member.link.end().reason


# What the programs say, and do with one

def test_capability(place: Place):
    """each program says that it takes introductions, whether it dials or is dialled"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    links = {"imagerecv": Link.dial(place.receiver().address, Node())}
    for command in ("ping", "cat"):
        program, address = place.listener(command)
        links[f"piconet {command} --listen"] = Link.dial(address, Node())
        program.kill()
    for command in ("imagesend", "ping", "cat"):
        with socket.create_server(("127.0.0.1", 0)) as server:
            if command == "imagesend":
                links[command] = meetings.called_by(place, server, photo)[1].link
            else:
                program = place.start("piconet", command, "--session", "interoperability", "127.0.0.1:%d" % server.getsockname()[1])
                links[f"piconet {command}"] = Link.accept(server, Node())
    without = [name for name, link in links.items() if not link.greeting.number(hello.CAPABILITIES) & hello.INTRODUCTIONS]
    assert len(links) == 6 and not without, without


def test_declined(place: Place):
    """an introduction is declined once, and nobody is dialled, not even at an address that may be dialled"""
    namespace.add_site("10.1.0.1")
    with socket.create_server(("10.1.0.3", 0)) as site, socket.create_server(("127.0.0.1", 0)) as loopback:
        receiver = place.receiver(host="10.1.0.1")
        member = joined(receiver.address, source="10.1.0.2")
        # Either of the two may be the one that dials first.
        for order in (Identity.below, Identity.above):
            refused(member, introduction(Node(order(receiver.node)), of_listener(site), of_listener(loopback)))
        nobody_dials(site, loopback)
        assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_by_a_node_without_the_bit(place: Place):
    """so is one by a member that takes none itself"""
    receiver = place.receiver()
    refused(joined(receiver.address, Node(capabilities=hello.RESUME)), introduction(Node()))
    refused(joined(receiver.address, Node(capabilities=0)), introduction(Node()))


def test_of_the_document(place: Place):
    """the document's own introductions are declined, and each of those that it refuses breaks the protocol"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for name, data in document.vectors("golden").items():
        if name.startswith("introduce-") or name == "introduce":
            refused(member, frames.decode(data)[0])
    for name, data in document.vectors("refused").items():
        if name.startswith("introduce-"):
            member = joined(receiver.address)
            member.link.send_bytes(data)
            assert member.link.end().reason == Reason.PROTOCOL_BROKEN, name


def test_to_a_sender(place: Place):
    """imagesend declines, sends its photo, and lets the introduced node in no more than before"""
    photo = place.path("photos") / "photo.jpg"
    photo.write_bytes(b"photo")
    ada = Node(name="Ada")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as of_ada:
        sender, member = meetings.called_by(place, server, photo)
        member.let_in()
        incoming = transfers.Incoming(member)
        refused(member, introduction(ada, of_listener(of_ada)))
        # It hides, and listens for its members alone.
        address = ("127.0.0.1", member.listening[Listening.TCP])
        reasons = []
        for node in (ada, Node()):
            try:
                reasons.append(Link.dial(address, node).end().reason)
            except LinkEnded as end:
                reasons.append(end.reason)
        assert reasons == [Reason.NOT_AVAILABLE] * 2, reasons
        nobody_dials(of_ada)
        incoming.accept()
        assert incoming.finish() == b"photo"
        member.see_off()
        assert sender.wait() == 0, sender.error_text()


def test_to_ping(place: Place):
    """piconet ping, which has a place for one, says that it is full, and measures on"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "127.0.0.1:%d" % server.getsockname()[1]
        program = place.start("piconet", "ping", "--count", "3", "--interval", "0.01", "--session", "interoperability", address)
        member = Association(Link.accept(server, Node()))
        member.let_in()
        for _ in range(3):
            asked = member.receive_message()
            refused(member, introduction(Node(), of_listener(server)), reason=Reason.FULL)
            member.send_message(bytes([REPLY]) + asked[1:])
        member.see_off()
        assert program.wait() == 0, program.error_text()


def test_to_cat(place: Place):
    """so does piconet cat between the bytes of its streams, whether it dials or is dialled"""
    program, address = place.listener("cat", stdin=subprocess.PIPE)
    cat_refuses(program, joined(address))
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = place.start("piconet", "cat", "--session", "interoperability", "127.0.0.1:%d" % server.getsockname()[1],
                              stdin=subprocess.PIPE)
        member = Association(Link.accept(server, Node()))
        member.let_in()
        cat_refuses(program, member)


def cat_refuses(program: Program, member: Association) -> None:
    outgoing = OutgoingStream(member, 0, "piconet cat")
    outgoing.write(b"one ")
    refused(member, introduction(Node()), reason=Reason.FULL)
    outgoing.write(b"two")
    outgoing.end()
    program.process.stdin.write(b"journal")
    program.process.stdin.close()
    assert IncomingStream(member).read_all() == b"journal"
    member.see_off()
    assert program.wait() == 0, program.error_text()
    assert bytes(program.output) == b"one two"


def test_none_of_their_own(place: Place):
    """a program introduces its members to one another as little as it follows what they say"""
    receiver = place.receiver()
    first, second = joined(receiver.address), joined(receiver.address)
    refused(first, introduction(Node()))
    for member in (first, second):
        assert transfers.send(member, member.node.identity.id, "photo.jpg").path is not None
        member.settle()
        assert not member.inbox, member.inbox


# One after the other, and what crosses

def test_told_again(place: Place):
    """after the answer the same node may be introduced again, by the same member and by another one"""
    receiver = place.receiver()
    ada, first, second = Node(), joined(receiver.address), joined(receiver.address)
    for member in (first, first, second, first, second, second):
        refused(member, introduction(ada))


def test_withdrawn(place: Place):
    """a withdrawal replaces no answer, and where it crosses the answer, or is of nothing, it is ignored"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for number in range(200):
        ada = Node(member.node.identity)
        withdrawal = WithdrawIntroduction(ada.identity.id, ada.incarnation, Reason.CANCELLED)
        if number % 3 == 0:
            refused(member, introduction(ada))
            member.send(withdrawal, withdrawal)
        elif number % 3 == 1:
            member.send(withdrawal)
            refused(member, introduction(ada))
        else:
            # It may come before the answer, which is then the one to a withdrawn introduction.
            member.send(introduction(ada), withdrawal)
            found = answer(member)
            assert isinstance(found, IntroductionFailed) and (found.peer, found.incarnation) == (ada.identity.id, ada.incarnation), found
            assert found.reason in (Reason.DECLINED, Reason.CANCELLED), found
        member.settle()
        assert not member.inbox, member.inbox


def test_after_a_resume(place: Place):
    """an answer that was lost with its link comes on the next one, once"""
    receiver = place.receiver()
    member = joined(receiver.address)
    told = [introduction(Node()) for _ in range(5)]
    for one in told:
        member.send(one)
        member.link.drop()
        resumed(member, receiver.address)
        expect_declined(member, one)
    # These are lost with their link, and sent again.
    member.link.drop()
    member.sent += len(told)
    member.kept.extend(told)
    resumed(member, receiver.address)
    expect_declined(member, *told)


def test_timeouts(place: Place):
    """an introduction for no time, or for longer than anybody can wait, is declined as any other"""
    member = joined(place.receiver().address)
    for bits in range(63):
        refused(member, *[introduction(Node(member.node.identity), timeout=max(0, (1 << bits) + offset)) for offset in (-1, 0)
                          if (1 << bits) + offset < 1 << 62])


def test_addresses(place: Place):
    """addresses of every transport and length are skipped or kept, and never dialled"""
    receiver = place.receiver()
    member = joined(receiver.address)
    hosts = [bytes([127, 0, 0, 1] * 4)[:length] for length in range(17)]
    some = [Address(transport, host, port) for transport, host in itertools.product(range(256), hosts) for port in (1, 65_535)]
    assert sum(one.is_known for one in some) == 2 * (2 + 3), "two lengths of an IP address, one for each transport of Bluetooth"
    with socket.create_server(("127.0.0.1", 0)) as server:
        hints = [Address(TCP, host, server.getsockname()[1]) for host in (
            socket.inet_aton("127.0.0.1"), socket.inet_aton("0.0.0.0"), socket.inet_pton(socket.AF_INET6, "::1"),
            socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"), socket.inet_pton(socket.AF_INET6, "::"))]
        for start in range(0, len(some), 8 * 32):
            refused(member, *[introduction(Node(member.node.identity), *some[index:index + 8])
                              for index in range(start, min(start + 256, len(some)), 8)])
        refused(member, introduction(Node(), *hints))
        nobody_dials(server)


def test_addresses_out_of_range(place: Place):
    """a port that is none, a host that is too long and one too many break the protocol, also where the address would be skipped"""
    receiver = place.receiver()
    for addresses in ([Address(9, b"", 0)], [Address(TCP, b"x" * 5, 65_536)], [Address(9, b"x" * 17, 1)], [Address(9, b"", 1)] * 9):
        assert ended_by(joined(receiver.address), introduction(Node(), *addresses)) == Reason.PROTOCOL_BROKEN, addresses


def test_names(place: Place):
    """a name of nothing, of 127 bytes and of control characters does no harm, and none reaches a screen"""
    receiver = place.receiver()
    member = joined(receiver.address)
    names = ("", "x" * 127, "\x1b[2J\x07", "\0", "\u202eabc", "a\nb")
    for name in names:
        refused(member, introduction(Node(name=name)))
    receiver.new_events()
    said = receiver.output.decode() + receiver.error_text()
    assert not [name for name in names if name and name in said], said


# What breaks the protocol

def test_of_oneself(place: Place):
    """one of its sender or of its receiver breaks the protocol; another node of the same key is somebody else"""
    receiver = place.receiver()
    for whose in ("sender", "receiver"):
        member = joined(receiver.address)
        peer, incarnation = ((member.node.identity.id, member.node.incarnation) if whose == "sender"
                             else (member.peer, member.greeting.incarnation))
        refused(member, Introduce(1_000, peer, incarnation ^ 1))
        assert ended_by(member, Introduce(1_000, peer, incarnation)) == Reason.PROTOCOL_BROKEN, whose


def test_by_a_stranger(place: Place):
    """each of the five frames from a node that is no member breaks the protocol"""
    receiver = place.receiver(accept="known")
    ada = (Node().identity.id, 1)
    for frame in (Introduce(1_000, *ada), Introduced(*ada), IntroductionFailed(*ada, Reason.DECLINED),
                  WithdrawIntroduction(*ada, Reason.CANCELLED), AskToIntroduce(*ada)):
        association = Association(Link.dial(receiver.address, Node()))
        assert ended_by(association, frame) == Reason.PROTOCOL_BROKEN, frame


def test_by_one_who_is_asked_about(place: Place):
    """so it does while a person is being asked about its sender"""
    receiver = meetings.ask_receiver(place)
    association = meetings.asked(receiver, Node())
    assert ended_by(association, introduction(Node())) == Reason.PROTOCOL_BROKEN


def test_asked_for_introductions(place: Place):
    """a program brings nobody together: it does not say that it would, and ignores who asks for it"""
    receiver = place.receiver()
    first, second = joined(receiver.address), joined(receiver.address)
    assert not first.greeting.number(hello.CAPABILITIES) & hello.GROUP
    for number in range(100):
        first.send(AskToIntroduce(second.node.identity.id, second.node.incarnation))
    for member in (first, second):
        member.settle()
        assert not member.inbox, member.inbox


def test_group_views(place: Place):
    """what somebody says of a group is ignored by a program, which is in none, before it is a member and after, until there is too much of it"""
    receiver = place.receiver()
    lies = [GroupView(2, 2, 0, 0), GroupView(8, 2, 1, 1 << 60, list(range(1_023))), GroupView(1 << 60, 8, 1, 1, [1])]
    stranger = Association(Link.dial(receiver.address, Node()))
    for lie in lies:
        stranger.send(lie)
    stranger.settle()
    member = joined(receiver.address)
    for lie in lies:
        member.send(lie)
    member.settle()
    assert not stranger.inbox and not member.inbox, (stranger.inbox, member.inbox)
    joined(receiver.address).leave()
    assert ended_by(member, *[lies[0]] * 5_000) == Reason.LIMIT_EXCEEDED
    joined(receiver.address).leave()


def test_answers_to_nothing(place: Place):
    """an answer that nobody has asked for breaks the protocol, also to an introduction of the answer's own sender"""
    receiver = place.receiver()
    for kind in (Introduced, lambda *who: IntroductionFailed(*who, Reason.DECLINED)):
        for number in range(3):
            first, second = joined(receiver.address), joined(receiver.address)
            named = (Node(), first.node, second.node)[number]
            told = introduction(Node())
            refused(first, told)
            assert ended_by(first, kind(named.identity.id, named.incarnation)) == Reason.PROTOCOL_BROKEN, (kind, number)
            second.leave()


# Who is introduced

def test_introduced_stranger(place: Place):
    """an introduced node that dials and invites is asked about as any stranger, with a code"""
    receiver = meetings.ask_receiver(place)
    member = meetings.asked(receiver, Node(name="Bob"))
    receiver.type("y\n")
    member.get_in()
    ada = Node(name="Ada")
    refused(member, introduction(ada))
    seen = len(receiver.look())
    invited = meetings.asked(receiver, ada, source="127.0.0.2")
    receiver.see("Ada (", after=seen)
    assert meetings.code_shown(receiver.look()) == invited.code
    receiver.type("n\n")
    assert invited.wait_for(Decline).reason == Reason.DECLINED
    member.settle()


def test_introduced_to_known_only(place: Place):
    """where strangers are refused the introduced one is refused with the same reason"""
    bob, ada = Node(name="Bob"), Node(name="Ada")
    meetings.known_to_receiver(place, bob)
    receiver = place.receiver(accept="known")
    member = joined(receiver.address, bob)
    reasons = []
    for is_introduced in (False, True):
        if is_introduced:
            refused(member, introduction(ada))
        found = Association(Link.dial(receiver.address, ada)).invite()
        assert isinstance(found, Decline), found
        reasons.append(found.reason)
    assert reasons[0] == reasons[1], reasons
    assert transfers.send(member, b"photo", "photo.jpg").is_stored


def test_introduced_while_asked_about(place: Place):
    """a question that a person has on the screen stays, with its code, if a member introduces the one whom it is about"""
    receiver = meetings.ask_receiver(place)
    member = meetings.asked(receiver, Node(name="Bob"))
    receiver.type("y\n")
    member.get_in()
    ada = Node(name="Ada")
    invited = meetings.asked(receiver, ada, source="127.0.0.2")
    refused(member, introduction(ada))
    invited.settle()
    assert not invited.inbox, invited.inbox
    receiver.type("y\n")
    invited.get_in()
    assert transfers.send(invited, b"photo", "photo.jpg").is_stored


def test_introductions_are_no_wrong_codes(place: Place):
    """no member can spend the codes of others by introducing them: the eleventh of the strangers is asked about as the first was"""
    receiver = meetings.ask_receiver(place)
    member = meetings.asked(receiver, Node(name="Bob"))
    receiver.type("y\n")
    member.get_in()
    for number in range(11):
        ada = meetings.invited(receiver, Node(name=f"Ada {number}"), source=f"127.0.1.{number + 1}")
        found = meetings.until_code(ada)
        assert found is None, (number, found)
        refused(member, introduction(ada.node))
        ada.settle()
        if not ada.inbox:
            # It is still asked about; who is accepted has spent nothing.
            meetings.wait_for_question(receiver, ada)
            receiver.type("y\n")
            ada.get_in()
        ada.leave()


def test_introduced_then_invites(place: Place):
    """where all are let in, so is the introduced one that invites after the answer"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for _ in range(10):
        ada = Association(Link.dial(receiver.address, Node()))
        refused(member, introduction(ada.node))
        assert isinstance(ada.invite(), Accept)
        ada.leave()


def test_crossing_with_an_invitation(place: Place):
    """an introduction and an invitation of the same node at once have one answer each, whatever comes first"""
    receiver = place.receiver()
    member = joined(receiver.address)
    for number in range(60):
        ada = Association(Link.dial(receiver.address, Node()))
        steps = [lambda: member.send(introduction(ada.node)), lambda: ada.send(ada.invitation())]
        for step in steps if number % 2 else reversed(steps):
            step()
        assert isinstance(ada.wait_for(Accept, Decline), Accept), number
        ada.admit()
        found = answer(member)
        # With its membership before the application has said no, the other answer would be true.
        assert isinstance(found, Introduced) or found.reason == Reason.DECLINED, found
        for one in (ada, member):
            one.settle()
            assert not one.inbox, (number, one.inbox)
        ada.leave()


def test_introduced_member(place: Place):
    """an introduction of a node that is a member already is answered once, and costs nobody a membership"""
    receiver = place.receiver()
    first, second = joined(receiver.address), joined(receiver.address)
    first.send(introduction(second.node))
    found = answer(first)
    for member in (first, second):
        assert transfers.send(member, member.node.identity.id, "photo.jpg").path is not None
        member.settle()
        assert not member.inbox, member.inbox
    assert isinstance(found, Introduced), found


# Very many

def test_ten_thousand(place: Place):
    """ten thousand, one after the other, are each declined, in bounded memory, while another member's messages come back"""
    program, address = place.listener("ping")
    talker, other = joined(address), joined(address)
    names = itertools.count()
    key = Identity()

    def batch(count: int) -> None:
        told = [Introduce(30_000, key.id, next(names), "x" * 127, [Address(TCP, bytes([10, 0, 0, 1]), 4_000)] * 8) for _ in range(count)]
        for one in told:
            talker.send(one)
            found = answer(talker)
            assert found == IntroductionFailed(one.peer, one.incarnation, Reason.DECLINED, found.detail), found
        talker.settle()
        assert not talker.inbox
    batch(500)
    before = program.memory()
    for number in range(19):
        batch(500)
        other.send_message(ping_message(REQUEST, number, b"x"))
        assert other.receive_message() == ping_message(REPLY, number, b"x")
    grown = program.memory() - before
    assert grown < 4 << 20, f"{grown >> 10} KiB more in memory"
    assert len(program.output) + len(program.error_text()) < 2_000, "introductions fill a log"


def test_as_many_as_may_wait(place: Place):
    """64 in one write are all declined"""
    member = joined(place.receiver().address)
    for _ in range(20):
        refused(member, *[introduction(Node(member.node.identity)) for _ in range(64)])


def test_more_than_may_wait(place: Place):
    """of more in one write all are declined, or the limit ends the link; so it is with one node twice, by reason 10"""
    receiver = place.receiver()
    for reason, told in ((Reason.LIMIT_EXCEEDED, [introduction(Node(place_of)) for place_of in [Identity()] * 65]),
                         (Reason.PROTOCOL_BROKEN, [introduction(Node())] * 2)):
        member = joined(receiver.address)
        member.send(*told)
        try:
            for _ in told:
                assert answer(member).reason == Reason.DECLINED
        except LinkEnded as end:
            assert end.reason == reason, end
        receiver.check_alive()


def test_unread_answers(place: Place):
    """a member that introduces without end, and reads no answers, is within a bound of memory"""
    receiver = place.receiver()
    member = joined(receiver.address)
    flood(receiver, member.link, *[introduction(Node(member.node.identity)) for _ in range(32)])
    assert len(receiver.error_text()) < 5_000


def test_unacknowledged_answers(place: Place):
    """one that reads the answers and acknowledges none is ended, within a bound of memory"""
    receiver = place.receiver()
    member = joined(receiver.address)
    member.acknowledges = False
    before = receiver.memory()
    try:
        for _ in range(20_000):
            member.send(introduction(Node(member.node.identity)))
            answer(member)
        raise AssertionError("it goes on for ever")
    except LinkEnded as end:
        assert end.reason == Reason.LIMIT_EXCEEDED, end
    assert receiver.memory() - before < 4 << 20


def test_leaving_behind_them(place: Place):
    """a member that leaves, or dies, behind as many introductions as may wait leaves nothing of them"""
    receiver = place.receiver()
    for number in range(40):
        member = joined(receiver.address)
        told = [introduction(Node(member.node.identity)) for _ in range(64)]
        member.send(*told, *[Leave(Reason.LEFT)] * (number % 2))
        if number % 2:
            member.link.end()
            member.link.drop()
        else:
            member.link.drop()
            resumed(member, receiver.address)
            expect_declined(member, *told)
            member.leave()
        if number == 9:
            before = receiver.memory()
    assert receiver.memory() - before < 4 << 20
    assert transfers.send(joined(receiver.address), b"photo", "photo.jpg").is_stored
