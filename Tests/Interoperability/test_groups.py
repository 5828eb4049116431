"""Groups, section 7 of the document: we are members of groups whose other members are nodes of this repository."""
import os
import signal
import socket

import hello
from association import Association
from frames import AskToIntroduce, GroupView, Introduce, Introduced, IntroductionFailed, Invite, RemoveMember
from group import CAPABILITIES, GroupMember
from group_scene import Other, Scene, text
from identity import Identity
from link import Link, Node
from marks import times
from place import Place
from reasons import Reason

ORDERS = (Identity.below, Identity.above)


def pair_of_others(scene: Scene, **options) -> tuple[Other, Other]:
    """Ada, whom Ben has invited."""
    ada, ben = scene.other("Ada", **options), scene.other("Ben", **options)
    assert scene.do(ben, "invite", ada.address)["code"] == "none"
    scene.agree(ada, ben)
    return ada, ben


def group_of_three(scene: Scene):
    """A group of two others, of which we have joined the first."""
    ada, ben = pair_of_others(scene)
    our = scene.our()
    join(scene, our, ada)
    scene.agree(ada, ben, our)
    return ada, ben, our


def beyond_all(order, *others: Other) -> Identity:
    """An identity that is below or above all of these."""
    return order(min(other.id for other in others) if order == Identity.below else max(other.id for other in others))


def join(scene: Scene, our: GroupMember, other: Other) -> None:
    """We invite it."""
    our.invite(other.place)
    scene.until(lambda: other.order in our.members, "an answer to our invitation")


def everybody_talks(scene: Scene, our: GroupMember, *others: Other) -> None:
    """What we say comes to each of them, and what they say to us."""
    for peer in our.group:
        peer.association.send_message(f"to-{peer.order[0].hex()}".encode())
    for other in others:
        other.do("send", text(our.order), f"from-{other.name}")
    scene.until(lambda: all(our.peers[other.order].messages for other in others), "messages of all")
    for other in others:
        scene.until(lambda: other.all("message", member=text(our.order), text=f"to-{other.id.hex()}"), "messages at all")
        assert our.peers[other.order].messages.pop() == f"from-{other.name}".encode()


def test_joins_by_invitation(place: Place):
    """whoever invites one member of a group is introduced to the other one and becomes its member, as the smaller node, which dials it, and as
    the larger, which is dialled; ranks and views are those of the group"""
    for order in ORDERS:
        with Scene(place) as scene:
            ada, ben = pair_of_others(scene)
            our = scene.our(beyond_all(order, ada, ben))
            join(scene, our, ada)
            scene.agree(ada, ben, our)
            assert our.peers[ben.order].association.link.is_dialler == (order == Identity.below)
            everybody_talks(scene, our, ada, ben)
            for other, introducer in ((ada, ""), (ben, ada.text)):
                assert other.all("joined", member=text(our.order))[-1]["introducedBy"] == introducer
            assert our.rank == 3
            # What they say of their group, once they have told each other of us.
            views = {other: other_view(scene, our, other, {ada, ben} - {other}) for other in (ada, ben)}
            assert all((view.capacity, view.smallest, view.highest) == (8, 8, 3) for view in views.values()), views
            assert [views[other].rank for other in sorted(views, key=lambda other: other.order)] == [1, 2], views


def other_view(scene: Scene, our: GroupMember, other: Other, others: set[Other]) -> GroupView:
    """What it says of its group once it has said that these are in it, and we are."""
    members = sorted([our.order[1], *(one.order[1] for one in others)])
    scene.until(lambda: our.peers[other.order].view.members == members, "the whole group in its view")
    return our.peers[other.order].view


def test_joins_hidden(place: Place):
    """so it is with a member that hides, and where we hide: who is introduced is let in"""
    for order in ORDERS:
        with Scene(place) as scene:
            ada, ben = scene.other("Ada"), scene.other("Ben", available="no")
            assert scene.do(ben, "invite", ada.address)["code"] == "none"
            our = scene.our(beyond_all(order, ada, ben), hides=True)
            join(scene, our, ada)
            scene.agree(ada, ben, our)
            everybody_talks(scene, our, ada, ben)


def test_invited(place: Place):
    """a node that invites us has rank 1 or 2 by the order of the two, as we have, and has told its view before; both are told when it changes"""
    for order in ORDERS:
        with Scene(place) as scene:
            ada = scene.other("Ada")
            our = scene.our(order(ada.id))
            assert scene.do(ada, "invite", our.address)["code"] == "none"
            scene.agree(ada, our)
            assert our.rank == (1 if order == Identity.below else 2)
            kinds = [type(frame) for _, frame in our.heard]
            assert kinds.index(GroupView) < kinds.index(Invite), kinds
            assert our.heard[kinds.index(GroupView)][1] == GroupView(8, 8, 0, 0)
            scene.until(lambda: our.peers[ada.order].view == GroupView(8, 8, 3 - our.rank, 2, [our.order[1]]), "its view with us")


def test_introduces_newcomers(place: Place):
    """a node that joins us is introduced by us to the others and they to it, and all are members of all; each introduction has one answer"""
    with Scene(place) as scene:
        ada, ben, our = group_of_three(scene)
        for name, by_us in (("Cleo", False), ("Dan", True)):
            newcomer = scene.other(name)
            others = [one for one in scene.others.values() if one is not newcomer]
            if by_us:
                join(scene, our, newcomer)
            else:
                assert scene.do(newcomer, "invite", our.address)["code"] == "none"
            scene.agree(our, *scene.others.values())
            scene.until(lambda: not our.unanswered and not our.due, "all answers")
            told = [(whose, frame) for whose, frame in our.answers if newcomer.order in (whose, (frame.peer, frame.incarnation))]
            assert len(told) == 2 * len(others) and all(isinstance(frame, Introduced) for _, frame in told), told
            assert [other for other in others if other.all("joined", member=newcomer.text)[-1]["introducedBy"] == text(our.order)]
            everybody_talks(scene, our, *scene.others.values())
        assert not [event for other in scene.others.values() for event in other.all("separation")]


def test_two_of_ours(place: Place):
    """of two newcomers at two members, of which one is ours, each has everybody in the end"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene)
        our = scene.our()
        join(scene, our, ben)
        scene.agree(ada, ben, our)
        cleo, dan = scene.other("Cleo"), scene.other("Dan")
        cleo.do("invite", our.address)
        dan.do("invite", ada.address)
        scene.agree(our, ada, ben, cleo, dan)


def test_groups_meet(place: Place):
    """two groups become one, where we are in one of them, and where we are the one that invites the other group"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene)
        cleo, our = scene.other("Cleo"), scene.our()
        assert scene.do(cleo, "invite", our.address)["code"] == "none"
        scene.agree(cleo, our)
        assert scene.do(cleo, "invite", ben.address)["code"] == "none"
        scene.agree(ada, ben, cleo, our)
        dan, eve = scene.other("Dan"), scene.other("Eve")
        assert scene.do(dan, "invite", eve.address)["code"] == "none"
        join(scene, our, dan)
        scene.agree(our, *scene.others.values())


def test_full_here(place: Place):
    """a group that is full by the capacity of one member takes nobody: we say so for it, with our view, though we have room; when there is a
    place again the next one gets in"""
    with Scene(place) as scene:
        ada, ben = scene.other("Ada", capacity=3), scene.other("Ben")
        assert scene.do(ben, "invite", ada.address)["code"] == "none"
        our = scene.our()
        join(scene, our, ben)
        scene.agree(ada, ben, our)
        cleo = scene.other("Cleo")
        assert scene.do(cleo, "invite", our.address)["code"] == "full"
        scene.agree(ada, ben, our)
        assert not cleo.members
        assert scene.do(ben, "disconnect", ada.text)["code"] == "none"
        scene.until(lambda: ada.order not in ben.members)
        our.leave(our.peers[ada.order])
        scene.agree(ben, our)
        scene.until(lambda: our.peers[ben.order].view.smallest == 8, "the places that there are now")
        assert scene.do(cleo, "invite", our.address)["code"] == "none"
        scene.agree(ben, our, cleo)


def test_full_there(place: Place):
    """a group that is full by our capacity takes nobody: its members say so for us, after a view that says why"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene)
        our = scene.our(capacity=3)
        join(scene, our, ada)
        scene.agree(ada, ben, our)
        scene.until(lambda: our.peers[ada.order].view.smallest == our.peers[ben.order].view.smallest == 3, "our capacity in their views")
        cleo = scene.other("Cleo")
        for other in (ada, ben):
            assert scene.do(cleo, "invite", other.address)["code"] == "full"
        stranger = Association(Link.dial(ada.place, Node(capabilities=CAPABILITIES)))
        assert stranger.invite().reason == Reason.FULL
        view = stranger.wait_for(GroupView)
        assert (view.capacity, view.smallest, view.highest) == (8, 3, 3), view
        assert view.members == sorted(one.order[1] for one in (ben, our)), view
        scene.agree(ada, ben, our)


def said_of(scene: Scene, other: Other, member: str) -> dict:
    """How it tells that it has lost this member."""
    scene.until(lambda: other.all("left", member=member), f"the end of a member at {other.name}")
    return other.all("left", member=member)[-1]


def test_race_for_the_last_place(place: Place):
    """of two that come at once to two members for the last place one stays at most, the same one everywhere, and lists are equal"""
    for _ in range(times(3, 20)):
        with Scene(place) as scene:
            ada, our = scene.other("Ada", capacity=3), scene.our(capacity=3)
            join(scene, our, ada)
            scene.agree(ada, our)
            cleo, dan = scene.other("Cleo", capacity=3), scene.other("Dan", capacity=3)
            cleo.do("invite", our.address)
            dan.do("invite", ada.address)
            scene.until(lambda: cleo.all("invite") and dan.all("invite"), "both answers")
            scene.until(lambda: is_calm(ada, our, cleo, dan), "at most three of them")
            for loser in [one for one in (cleo, dan) if not one.members]:
                said = {event["code"] for event in loser.all("invite") + loser.all("left")}
                assert said - {"none"} == {"full"}, (loser.events, our.ends)


def is_calm(ada: Other, our: GroupMember, *newcomers: Other) -> bool:
    """Whether of these at most one is a member, of both, and no introduction and no farewell is on its way."""
    group = [ada, our, *(one for one in newcomers if one.members)]
    whole = {one.order for one in group}
    return (len(group) <= 3 and all(one.members == whole - {one.order} for one in group)
            and not our.beyond() and not our.wanted and not our.unanswered)


def test_removed(place: Place):
    """where a member removes us the others follow, of whom it is the introducer, and say whose wish it is; who has followed takes no introduction
    of us any more, and the one that lets us in again tells that the two stay apart"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene)
        cleo = scene.other("Cleo")
        our = scene.our()
        assert scene.do(cleo, "invite", ada.address)["code"] == "none"
        scene.agree(ada, ben, cleo)
        join(scene, our, ada)
        scene.agree(ada, ben, cleo, our)
        assert scene.do(ada, "remove", text(our.order))["code"] == "none"
        scene.until(lambda: not our.peers, "their farewells")
        assert sorted(our.ends) == sorted((other.order, Reason.REMOVED) for other in (ada, ben, cleo)), our.ends
        assert our.removers == {ben.order: ada.order, cleo.order: ada.order}, our.removers
        for other in (ada, ben, cleo):
            end = said_of(scene, other, text(our.order))
            assert (end["code"], end["blame"], end["removedBy"]) == ("removed", "nobody", ada.text), end
        assert our.rank == 0
        # A node that has not been there lets us in, and belongs to the group then; we follow nobody's word meanwhile.
        our.follows = False
        dan = scene.other("Dan")
        join(scene, our, dan)
        assert scene.do(dan, "invite", ben.address)["code"] == "none"
        scene.until(lambda: dan.members == {ada.order, ben.order, cleo.order, our.order}, "the group around us")
        for other in (ada, ben, cleo):
            pair = sorted([text(our.order), other.text])
            scene.until(lambda: dan.all("separation", members=pair, standing="refused"), "that the two stay apart")
            assert our.order not in other.members
        assert our.members == {dan.order}


def test_follows_a_removal(place: Place):
    """we follow the removal of a member by the one that has introduced it to us, with its name, and take no introduction of it any more; a removal
    by anybody else we ignore"""
    with Scene(place) as scene:
        ada, ben, our = group_of_three(scene)
        cleo = scene.other("Cleo")
        assert scene.do(cleo, "invite", ben.address)["code"] == "none"
        scene.agree(ada, ben, our, cleo)
        # Ada has not introduced Cleo to us; where she has, it counts.
        introducers = our.peers[cleo.order].introducers
        assert introducers, "Cleo was introduced"
        remover = ben if ben.order in introducers else ada
        assert scene.do(remover, "remove", cleo.text)["code"] == "none"
        scene.until(lambda: cleo.order not in our.members)
        end = said_of(scene, cleo, text(our.order))
        assert (end["code"], end["blame"], end["removedBy"]) == ("removed", "peer", remover.text), end
        assert [frame for _, frame in our.heard if isinstance(frame, RemoveMember)] == [RemoveMember(*cleo.order, Reason.REMOVED)]
        # Whoever takes it in again introduces it to us, and is told that it was removed.
        dan = scene.other("Dan")
        join(scene, our, dan)
        scene.until(lambda: {ada.order, ben.order, our.order} == dan.members, "the group without it")
        assert scene.do(dan, "invite", cleo.address)["code"] == "none"
        scene.until(lambda: dan.all("separation", members=sorted([text(our.order), cleo.text]), standing="refused"), "that we stay apart")
        assert cleo.order not in our.members and text(our.order) in dan.all("members")[-1]["members"]


def test_removes(place: Place):
    """a member that we remove, having introduced it, is left by all for our wish"""
    with Scene(place) as scene:
        ada, ben, our = group_of_three(scene)
        cleo = scene.other("Cleo")
        assert scene.do(cleo, "invite", our.address)["code"] == "none"
        scene.agree(ada, ben, our, cleo)
        scene.until(lambda: not our.unanswered and not our.due, "all answers")
        our.remove(cleo.order)
        scene.until(lambda: not cleo.members, "farewells of all")
        for other in (ada, ben):
            end = said_of(scene, cleo, other.text)
            assert (end["code"], end["blame"], end["removedBy"]) == ("removed", "peer", text(our.order)), end
            mine = said_of(scene, other, cleo.text)
            assert (mine["code"], mine["removedBy"]) == ("removed", text(our.order)), mine
        scene.agree(ada, ben, our)


def test_removal_by_another(place: Place):
    """our removal of a member that somebody else has introduced counts only where everybody's does"""
    with Scene(place) as scene:
        ada, ben, cleo = scene.other("Ada"), scene.other("Ben"), scene.other("Cleo", removals="members")
        for other in (ben, cleo):
            assert scene.do(other, "invite", ada.address)["code"] == "none"
        scene.agree(ada, ben, cleo)
        our = scene.our()
        join(scene, our, ada)
        scene.agree(ada, ben, cleo, our)
        our.follows = False
        our.remove(ben.order)
        scene.until(lambda: ben.order not in cleo.members and our.order not in ben.members, "two farewells")
        assert said_of(scene, ben, cleo.text)["removedBy"] == text(our.order)
        # Behind our removal.
        everybody_talks(scene, our, ada, cleo)
        assert ben.order in ada.members


def test_lost_member(place: Place):
    """a member that is lost with its link asks for an introduction, as we do, and becomes one again"""
    for order in ORDERS:
        with Scene(place) as scene:
            ada, ben = pair_of_others(scene)
            # An association that is not resumed ends with its link.
            our = scene.our(beyond_all(order, ada, ben), capabilities=CAPABILITIES & ~hello.RESUME)
            join(scene, our, ada)
            scene.agree(ada, ben, our)
            scene.until(lambda: not our.unanswered and not our.due, "all answers")
            before = our.peers[ben.order]
            before.association.link.socket.shutdown(socket.SHUT_RDWR)
            scene.until(lambda: our.peers.get(ben.order) is not before and ben.order in our.members, "the lost member again")
            scene.agree(ada, ben, our)
            everybody_talks(scene, our, ada, ben)
            assert [end["code"] for end in ben.all("left", member=text(our.order))] == ["linkFailed"]


def test_asked_to_introduce(place: Place):
    """two members that lose one another ask us, who have both, and we bring them together again"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene, timeout=2)
        our = scene.our()
        join(scene, our, ada)
        scene.agree(ada, ben, our)
        scene.until(lambda: not our.unanswered and not our.due, "all answers")
        os.kill(ben.program.pid, signal.SIGSTOP)
        scene.until(lambda: ben.order not in ada.members, "that one is missed")
        os.kill(ben.program.pid, signal.SIGCONT)
        scene.agree(ada, ben, our)
        everybody_talks(scene, our, ada, ben)
        assert (ada.order, AskToIntroduce(*ben.order)) in our.heard
        assert [whose for whose, answer in our.answers if isinstance(answer, Introduced) and {whose, (answer.peer, answer.incarnation)}
                == {ada.order, ben.order}], our.answers


def test_declines(place: Place):
    """a member that we decline stays apart from us alone, and whoever introduced us is told of it as refused"""
    with Scene(place) as scene:
        ada, ben = pair_of_others(scene)
        our = scene.our()
        our.follows = False
        join(scene, our, ada)
        scene.until(lambda: ada.all("separation", members=sorted([text(our.order), ben.text]), standing="refused"), "that two stay apart")
        told = [frame for _, frame in our.heard if isinstance(frame, Introduce)]
        assert [frame.peer for frame in told] == [ben.id], told
        assert our.members == {ada.order} and ben.members == {ada.order}


def test_declined(place: Place):
    """a member that follows no introduction says so to us, and nobody introduces it to the newcomer again"""
    with Scene(place) as scene:
        ada = scene.other("Ada", introductions="refuse", invitations="decline")
        our = scene.our()
        assert scene.do(ada, "invite", our.address)["code"] == "none"
        cleo = scene.other("Cleo")
        assert scene.do(cleo, "invite", our.address)["code"] == "none"
        scene.until(lambda: len(our.answers) == 2 and not our.due, "two answers")
        for whose, answer in our.answers:
            assert isinstance(answer, IntroductionFailed) and answer.reason == Reason.DECLINED, (whose, answer)
        assert {(whose, answer.peer) for whose, answer in our.answers} == {(ada.order, cleo.id), (cleo.order, ada.id)}
        assert ada.members == {our.order} and cleo.members == {our.order}
