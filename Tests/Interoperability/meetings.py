"""How a device becomes known: by what a person does at the program, and by nothing else."""
import re
import socket
import time

import mdns
import transfers
from association import Association
from link import Late, Link, Node
from place import Place, Program

QUESTION = "Accept?"


def ask_receiver(place: Place, **options) -> Program:
    """imagerecv at a terminal, which asks for each sender."""
    return place.receiver(accept="ask", terminal=True, **options)


def invited(receiver: Program, node: Node, **options) -> Association:
    """Invites without waiting for the answer."""
    association = Association(Link.dial(receiver.address, node, **options))
    association.send(association.invitation())
    return association


def asked(receiver: Program, node: Node, **options) -> Association:
    """Invites, and deals with the nonces: the question is then on the screen with its code."""
    association = invited(receiver, node, **options)
    wait_for_question(receiver, association)
    return association


def until_code(association: Association):
    """Deals with what comes until the code is known; whatever else comes first is returned."""
    until = time.monotonic() + 10
    while association.code is None:
        try:
            return association.next_frame(0.1)
        except Late:
            assert time.monotonic() < until, "there is neither a code nor anything else"


def wait_for_question(receiver: Program, association: Association) -> None:
    """Waits until the question for this invitation is on the screen; what is typed from then on answers it."""
    until = time.monotonic() + 10
    while association.code is None:
        try:
            association.inbox.append(association.next_frame(0.1))
        except Late:
            if time.monotonic() > until:
                raise
    # Behind its own code: another question may have been there before.
    receiver.see(QUESTION, after=receiver.see(association.code))


def called_by(place: Place, listener: socket.socket, *words, node: Node | None = None, **options) -> tuple[Program, Association]:
    """imagesend dials us at the listener's address; returns it and its association before it is answered."""
    node = node or Node()
    # For a first contact at an address, without a terminal, it must be told which key has to be there.
    sender = place.sender(listener.getsockname(), "--fingerprint", node.identity.fingerprint, *words, **options)
    return sender, Association(Link.accept(listener, node))


def known_to_receiver(place: Place, node: Node, **options) -> None:
    """A person at imagerecv compares the code and says always to this sender, who sends a photo."""
    receiver = ask_receiver(place, **options)
    association = asked(receiver, node)
    receiver.type("a\n")
    association.get_in()
    assert transfers.send(association, b"photo", "first.jpg").is_stored
    association.leave()
    receiver.end()


def known_to_sender(place: Place, node: Node, state: str = "sender") -> None:
    """A person names this key, and allows sending to it."""
    program = place.start("piconet", "trust", "add", node.name, node.identity.fingerprint, state=state)
    assert program.wait() == 0, program.error_text()


def advertise(program: Program, packets: list[bytes], count: int = 1) -> None:
    """Advertises until the program has begun to connect to this many."""
    neighbour = mdns.Neighbour()
    seen = []

    def connects():
        seen.extend(program.new_events())
        return sum(event["event"] in ("connecting", "failed", "finished") for event in seen) >= count
    mdns.advertise_while(neighbour, packets, connects)
    neighbour.close()


def code_shown(screen: str) -> str | None:
    """The last short code on a screen."""
    found = re.findall(r"\b\d{3} \d{3}\b", screen)
    return found[-1] if found else None
