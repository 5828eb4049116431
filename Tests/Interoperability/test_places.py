"""Who has a place at piconet relay and piconet ping --listen, where strangers have taken all of them."""
import meetings
from association import Association, joined
from frames import Leave
from link import Late, LinkEnded, Node
from place import Place

STRANGERS = "127.0.0.2"  # the address of all strangers


def take_places(address: tuple[str, int]) -> list[Association]:
    """Strangers of one address take all places there are, and say no more."""
    members = []
    for _ in range(24):
        try:
            members.append(joined(address, source=STRANGERS))
        except (AssertionError, LinkEnded):
            break
    assert len(members) == 16, len(members)
    return members


def is_gone(member: Association) -> bool:
    try:
        while not isinstance(member.receive(0.05), Leave):
            pass
        return True
    except Late:
        return False
    except LinkEnded:
        return True


def held(place: Place, command: str) -> None:
    """Somebody of another address gets in all the same, and a known device of whatever address."""
    bob = Node(name="Bob")
    meetings.known_to_sender(place, bob, state="listener")
    program, address = place.listener(command)
    members = take_places(address)
    members.append(joined(address))
    members.append(joined(address, bob, source=STRANGERS))
    # Two of the strangers have gone for them, and none for saying nothing.
    assert [is_gone(member) for member in members].count(True) == 2
    assert not any(is_gone(member) for member in members[16:])
    program.check_alive()


def test_places_of_a_relay(place: Place):
    """silent strangers of one address hold no places of a relay against other addresses and known devices"""
    held(place, "relay")


def test_places_of_a_ping_listener(place: Place):
    """nor those of ping --listen"""
    held(place, "ping")
