"""A receiver and senders who reach one another over a relay alone, and what the relay may do with their records."""
import contextlib
import os
import pathlib
import signal

import meetings
import namespace
from place import Place, Program
from relays import Half, Passed, Relay

PHOTO_SIZE = 1_000_000
MIDDLE = 300_000  # so many bytes of a tunnel are in the middle of a photo
PIECE = 16


class Scene:
    """A receiver and senders, each in a network of its own, and a relay in both."""

    def __init__(self, place: Place, sender_is_smaller: bool = True):
        self.place = place
        self.networks = {"attic": namespace.another(), "phone": namespace.another()}
        self.relay = Relay(self.networks)
        ids = {state: self.fingerprint(state) for state in ("first", "second")}
        states = sorted(ids, key=ids.get)
        self.sender_state, self.receiver_state = states if sender_is_smaller else reversed(states)
        self.key = ids[self.receiver_state]
        self.trust(self.sender_state)
        self.sent: dict[str, bytes] = {}  # photos by their names

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, kind, error, trace) -> None:
        """The relay runs until all programs have said goodbye."""
        running = [program for program in self.place.started if program.is_running]
        for program in running:
            program.process.send_signal(signal.SIGTERM)
        # What has failed before is what a test reports.
        with contextlib.nullcontext() if kind is None else contextlib.suppress(Exception):
            self.relay.until(lambda: not any(program.is_running for program in running), what="the end of the programs")
            assert all(program.wait() == -signal.SIGTERM for program in running), [program.wait() for program in running]

    def fingerprint(self, state: str) -> str:
        program = self.place.start("imagerecv", "--fingerprint", "--json", state=state)
        key = program.event("identity")["peer"]
        assert program.wait() == 0, program.error_text()
        return key

    def trust(self, state: str) -> None:
        """The sender's user has confirmed the relay."""
        meetings.known_to_sender(self.place, self.relay.node, state)

    def receiver(self, *words, **options) -> Program:
        """imagerecv, once it has joined the relay."""
        with namespace.within(self.networks["attic"]):
            receiver = self.place.receiver("--relay", self.relay.address("attic"), "--timeout", 3, *words,
                                           state=self.receiver_state, name="Kitchen", **options)
        self.has_receiver()
        return receiver

    def has_receiver(self) -> None:
        def is_there() -> bool:
            member = self.relay.of("receiver")
            return member is not None and member.is_member
        self.relay.until(is_there, what="the receiver")

    def photo(self, name: str, size: int = PHOTO_SIZE) -> pathlib.Path:
        path = self.place.path("photos") / name
        if not path.exists():
            self.sent[name] = os.urandom(size)
            path.write_bytes(self.sent[name])
        return path

    def sender(self, name: str, relay: str = "Hall", to: tuple[str, ...] | None = None, state: str | None = None, timeout: float = 3,
               size: int = PHOTO_SIZE, **options) -> Program:
        """imagesend with a new photo of this name, or the one that was sent before.

        - to: who is to get it; otherwise the receiver, by its fingerprint."""
        to = to or ("--fingerprint", self.key)
        with namespace.within(self.networks["phone"]):
            return self.place.sender(None, "--relay", relay, *to, "--timeout", timeout, self.photo(name, size),
                                     state=state or self.sender_state, **options)

    def end_of(self, *senders: Program, patience: float = 20) -> list[int]:
        self.relay.until(lambda: not any(sender.is_running for sender in senders), patience, "the end of imagesend")
        return [sender.wait() for sender in senders]

    def send(self, name: str, **options) -> tuple[Program, int]:
        """Sends a photo while the relay runs; returns the exit status."""
        sender = self.sender(name, **options)
        return sender, self.end_of(sender)[0]

    def stored(self) -> dict[str, bytes]:
        """Whatever has a name in the receiver's directory."""
        return {str(path.relative_to(self.place.folder / "received")): path.read_bytes() if path.is_file() else b""
                for path in (self.place.folder / "received").rglob("*") if not path.name.startswith(".")}

    def expect_stored(self, *names: str) -> None:
        """Exactly these photos are at the receiver, byte for byte."""
        found = self.stored()
        assert sorted(found) == sorted(names), (sorted(found), names)
        assert all(found[name] == self.sent[name] for name in names), [name for name in names if found[name] != self.sent[name]]

    def goes_on(self, receiver: Program, *before: str) -> None:
        """Shows that the receiver takes the next photo over a relay that has become honest."""
        receiver.check_alive()
        self.relay.be_honest()
        sender, status = self.send("next.jpg")
        assert status == 0, sender.error_text()
        self.expect_stored("next.jpg", *before)


def senders_half(passed: Passed) -> Half:
    return passed.half if passed.from_ == "sender" else passed.half.other


def is_in_the_middle(passed: Passed, from_: str) -> bool:
    return passed.from_ == from_ and senders_half(passed).taken > MIDDLE


def is_number(number: int, of_dialler: bool):
    """The record of this number of an end, counted from 0."""
    return lambda passed: passed.half.is_diallers == of_dialler and passed.number == number


class Once:
    """Meddles with the first record that is due, and passes all others on."""

    def __init__(self, change, is_due):
        self.change, self.is_due = change, is_due
        self.done: Passed | None = None

    def __call__(self, passed: Passed) -> list[tuple[Half, bytes]]:
        if self.done is None and self.is_due(passed):
            self.done = passed
            return self.change(passed)
        return [passed.to()]


def flipped(passed: Passed, place: int = -1) -> list[tuple[Half, bytes]]:
    changed = bytearray(passed.record)
    changed[place] ^= 1
    return [passed.to(record=bytes(changed))]


def reasons(program: Program) -> list[tuple[str, str]]:
    """What it has said since we asked last of ways that were lost and found, and of failures: event and message, or the transport."""
    return [(event["event"], event.get("message") or event.get("transport", "")) for event in program.new_events()
            if event["event"] in ("suspended", "resumed", "failed")]


def has_lost(said: list[tuple[str, str]], why: str) -> bool:
    return any(event == "suspended" and why in message for event, message in said)


def holds_piece(hay: bytes, needle: bytes) -> bool:
    """Whether some bytes in a row of the one, 31 or more, are in the other, wherever."""
    pieces = {needle[place:place + PIECE] for place in range(0, len(needle) - PIECE + 1, PIECE)}
    return any(hay[place:place + PIECE] in pieces for place in range(len(hay) - PIECE + 1))
