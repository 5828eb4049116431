"""Members that compare a code after they have met, section 7 of the document: with a node of this repository, whose user says what a test
tells it to."""
import itertools

import hello
from association import Association, joined, resumed
from comparisons import Comparison
from frames import AskToCompare, CompareNonce, CompareReveal, EndComparison, Frame, SameCode
from group_scene import Other, Scene, text
from identity import Identity
from link import Link, Node
from place import Place
from reasons import Reason

CAPABILITIES = hello.RESUME | hello.COMPARISONS


def met(other: Other, order=Identity.below, capabilities: int = CAPABILITIES, source: str = "") -> Association:
    """We become a member of it."""
    member = joined(other.place, Node(order(other.id), capabilities=capabilities), source=source)
    other.wait("joined", member=name_of(member))
    return member


def name_of(member: Association) -> str:
    return text(member.node.order)


def compare(other: Other, member: Association) -> None:
    other.do("compare", name_of(member))


def is_said(member: Association) -> bool:
    return bool(member.greeting.number(hello.CAPABILITIES) & hello.COMPARISONS)


def refuses(member: Association, *sent: Frame) -> int | None:
    """The reason with which the other side ends the link on which these come."""
    for frame in sent:
        (member.send if frame.is_sequenced else member.link.send)(frame)
    return member.link.end().reason


def test_asked_by_us(place: Place):
    """we ask: both screens show the same code, and both sides are confirmed once both have said so, as the smaller node and as the larger"""
    with Scene(place) as scene:
        for order in (Identity.below, Identity.above):
            other = scene.other(f"{order.__name__} it", compare="same")
            member = met(other, order)
            assert is_said(member)
            ours = Comparison(member)
            ours.ask()
            ours.reveal()
            assert other.wait("code", member=name_of(member))["code"] == ours.code
            assert ours.word() == SameCode()
            assert not other.all("compared"), "it is confirmed by its own word alone"
            ours.say(SameCode())
            end = other.wait("compared", member=name_of(member))
            assert end["code"] == "none" and end["isConfirmed"], end


def test_asked_by_the_other(place: Place):
    """it asks: the same, also where we say our word before it does"""
    with Scene(place) as scene:
        for order in (Identity.below, Identity.above):
            other = scene.other(f"{order.__name__} it", compare="same")
            member = met(other, order)
            compare(other, member)
            ours = Comparison(member)
            ours.answer()
            ours.say(SameCode())
            assert ours.word() == SameCode()
            assert other.wait("code")["code"] == ours.code
            assert other.wait("compare")["code"] == "none"
            end = other.wait("compared", member=name_of(member))
            assert end["code"] == "none" and end["isConfirmed"], end


def test_again(place: Place):
    """after both words there may be another comparison, with another nonce and another code, whoever has asked before"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        member = met(other)
        codes = []
        for number in range(4):
            ours = Comparison(member)
            if number % 2:
                compare(other, member)
                ours.answer()
            else:
                ours.ask()
                ours.reveal()
            codes.append(ours.code)
            ours.say(SameCode())
            assert ours.word() == SameCode()
            other.wait("compared", member=name_of(member))
            scene.until(lambda: len(other.all("compared")) > number)
        assert [event["code"] for event in other.all("code")] == codes


def test_both_at_once(place: Place):
    """where both ask at once it is one comparison, that of the smaller node, and the larger one never gives the nonce of its own"""
    with Scene(place) as scene:
        for order in (Identity.below, Identity.above):
            other = scene.other(f"{order.__name__} it", compare="same")
            member = met(other, order)
            compare(other, member)
            asked = member.wait_for(AskToCompare)
            # It can't know that its question had come.
            ours = Comparison(member)
            ours.ask()
            if order == Identity.below:
                ours.reveal()
            else:
                ours.answer(asked)
            ours.say(SameCode())
            assert ours.word() == SameCode()
            member.settle()
            assert not member.inbox, member.inbox
            assert other.wait("code")["code"] == ours.code and len(other.all("code")) == 1
            assert other.wait("compare")["code"] == "none"
            assert other.wait("compared")["isConfirmed"] and len(other.all("compared")) == 1


def test_denied_there(place: Place):
    """a user who sees another code ends it on both sides with reason 7, whoever has asked, and the two stay members"""
    with Scene(place) as scene:
        for is_ours in (True, False):
            other = scene.other(f"asked by {'us' if is_ours else 'it'}", compare="different")
            member = met(other)
            ours = begun(other, member, is_ours)
            assert ours.word().reason == Reason.CODE_MISMATCH
            # Our word, after which the comparison is over.
            ours.say(EndComparison(Reason.CODE_MISMATCH, ""))
            end = other.wait("compared")
            assert end["code"] == "codeMismatch" and end["blame"] == "us" and not end["isConfirmed"], end
            if not is_ours:
                assert other.wait("compare")["code"] == "codeMismatch"
            stays(other, member)


def test_denied_here(place: Place):
    """so does our no, before and after the other side's yes, and its screen no longer asks"""
    with Scene(place) as scene:
        for answer in ("wait", "same"):
            for is_ours in (True, False):
                other = scene.other(f"{answer}, asked by {'us' if is_ours else 'it'}", compare=answer)
                member = met(other)
                ours = begun(other, member, is_ours)
                other.wait("code")
                if answer == "same":
                    assert ours.word() == SameCode()
                ours.say(EndComparison(Reason.CODE_MISMATCH, "not the same"))
                if answer == "wait":
                    # It has one word left to say, and that is no yes.
                    assert isinstance(ours.word(), EndComparison)
                end = other.wait("compared")
                assert end["code"] == "codeMismatch" and end["blame"] == "peer" and not end["isConfirmed"], end
                if not is_ours:
                    assert other.wait("compare")["code"] == "codeMismatch"
                stays(other, member)


def test_declined_unseen(place: Place):
    """who is asked may say no in place of a nonce; what it then says on has no meaning"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        member = met(other)
        compare(other, member)
        member.wait_for(AskToCompare)
        member.send(EndComparison(Reason.DECLINED, "not now"))
        assert isinstance(Comparison(member).word(), EndComparison)
        assert other.wait("compare")["code"] == "declined"
        assert not other.all("code") and not other.all("compared"), other.events
        stays(other, member)


def begun(other: Other, member: Association, is_ours: bool) -> Comparison:
    """A comparison as far as the code, which either side has asked for."""
    ours = Comparison(member)
    if is_ours:
        ours.ask()
        ours.reveal()
    else:
        compare(other, member)
        ours.answer()
    return ours


def stays(other: Other, member: Association) -> None:
    """Shows that they are members of one another all the same."""
    other.do("send", name_of(member), "hello")
    assert member.receive_message() == b"hello"
    member.send_message(b"hello")
    other.wait("message", member=name_of(member), text="hello")


def test_out_of_time(place: Place):
    """a question that nobody answers ends with reason 3 on both sides"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="wait")
        member = met(other)
        ours = Comparison(member)
        ours.ask(timeout=300)
        ours.reveal()
        assert ours.word().reason == Reason.TIMED_OUT
        ours.say(EndComparison(Reason.TIMED_OUT, ""))
        assert other.wait("compared")["code"] == "timedOut"


def test_late_reveal(place: Place):
    """who reveals nothing within two seconds is told reason 7, and a reveal that comes later is ignored"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        member = met(other)
        ours = Comparison(member)
        ours.ask()
        member.wait_for(CompareNonce)
        assert ours.word().reason == Reason.CODE_MISMATCH
        member.link.send(CompareReveal(ours.nonce))
        member.send(EndComparison(Reason.CODE_MISMATCH, ""))
        stays(other, member)
        assert not other.all("code")


def test_wrong_reveal(place: Place):
    """a reveal that does not match what was committed to ends the link with reason 6, and nobody sees a code"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        member = met(other)
        Comparison(member).ask()
        member.wait_for(CompareNonce)
        assert refuses(member, CompareReveal(bytes(32))) == Reason.IDENTITY
        assert not other.all("code")


def test_lost_link(place: Place):
    """where the link goes before its user has answered, the other side ends the comparison with reason 14 on the next one, and both go on"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="wait")
        for order in (Identity.below, Identity.above):
            member = met(other, order)
            ours = Comparison(member)
            ours.ask()
            ours.reveal()
            other.wait("code", member=name_of(member))
            member.link.drop()
            resumed(member, other.place)
            assert ours.word().reason == Reason.LINK_FAILED
            ours.say(EndComparison(Reason.LINK_FAILED, ""))
            assert other.wait("compared", member=name_of(member))["code"] == "linkFailed"
            stays(other, member)


def test_word_over_another_link(place: Place):
    """a word that was said before the link went counts on the next one: both are confirmed"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        member = met(other)
        ours = Comparison(member)
        ours.ask()
        ours.reveal()
        assert ours.word() == SameCode()
        ours.say(SameCode())
        member.link.drop()
        resumed(member, other.place)
        assert other.wait("compared")["isConfirmed"]
        stays(other, member)


def test_wrong_codes(place: Place):
    """three codes that are denied are all that there may be of a key in an hour, of comparisons that either side has asked for"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="different")
        member = met(other)
        for number in range(3):
            ours = Comparison(member)
            ours.ask()
            ours.reveal()
            assert ours.word().reason == Reason.CODE_MISMATCH, number
            ours.say(EndComparison(Reason.CODE_MISMATCH, ""))
        ours = Comparison(member)
        ours.ask()
        assert ours.word().reason == Reason.LIMIT_EXCEEDED
        ours.say(EndComparison(Reason.LIMIT_EXCEEDED, ""))
        compare(other, member)
        assert other.wait("compare")["code"] == "limitExceeded"
        assert len(other.all("code")) == 3
        stays(other, member)


def test_without_the_bit(place: Place):
    """it asks nobody without the capability, and each of the frames breaks the protocol where one side lacks it"""
    with Scene(place) as scene:
        comparing, other = scene.other("Comparing", compare="same"), scene.other("Other")
        member = met(comparing, capabilities=hello.RESUME)
        compare(comparing, member)
        assert comparing.wait("compare")["code"] == "notSupported"
        assert not is_said(joined(other.place))
        for node, capabilities in ((comparing, hello.RESUME), (other, CAPABILITIES)):
            for frame in (AskToCompare(1_000, bytes(32)), CompareNonce(bytes(32)), CompareReveal(bytes(32)), SameCode(), EndComparison(1, "")):
                assert refuses(met(node, capabilities=capabilities), frame) == Reason.PROTOCOL_BROKEN, (node.name, frame)


def test_out_of_turn(place: Place):
    """what is not due breaks the protocol: a second question, a nonce, a reveal or a word without one, a yes before the code, a second word"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="wait")
        for frame in (CompareNonce(bytes(32)), CompareReveal(bytes(32)), SameCode(), EndComparison(Reason.DECLINED, "")):
            assert refuses(met(other), frame) == Reason.PROTOCOL_BROKEN, frame

        # Each of these is a wrong code of its address as well, of which three are all.
        hosts = (f"10.1.0.{number}" for number in itertools.count(2))

        def under_way(reveals: bool) -> Association:
            member = met(other, source=next(hosts))
            ours = Comparison(member)
            ours.ask()
            if reveals:
                ours.reveal()
                other.wait("code", member=name_of(member))
            return member
        for reveals, frames in ((False, [AskToCompare(1_000, bytes(32))]), (False, [SameCode()]), (True, [CompareReveal(bytes(32))]),
                                (True, [CompareNonce(bytes(32))]), (True, [SameCode(), SameCode()]),
                                (True, [SameCode(), EndComparison(Reason.DECLINED, "")])):
            assert refuses(under_way(reveals), *frames) == Reason.PROTOCOL_BROKEN, (reveals, frames)


def test_by_a_stranger(place: Place):
    """each of the frames from a node that is no member breaks the protocol"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="same")
        for frame in (AskToCompare(1_000, bytes(32)), CompareNonce(bytes(32)), CompareReveal(bytes(32)), SameCode(), EndComparison(1, "")):
            stranger = Association(Link.dial(other.place, Node(capabilities=CAPABILITIES)))
            assert refuses(stranger, frame) == Reason.PROTOCOL_BROKEN, frame


def test_leaving(place: Place):
    """with the member its comparison is over: the question goes from the screen"""
    with Scene(place) as scene:
        other = scene.other("Other", compare="wait")
        member = met(other)
        ours = Comparison(member)
        ours.ask()
        ours.reveal()
        other.wait("code")
        member.leave()
        other.wait("left", code="left")
        assert other.wait("compared")["code"] == "left"
