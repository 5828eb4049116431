"""Members of a group in one network: nodes of this repository, each a `group-member`, and one of ours."""
import select
import subprocess
import time

import namespace
from group import GroupMember, Order
from identity import Identity
from link import PATIENCE, Late
from place import Place, Program

HOST = "10.1.0.1"  # of a site: nobody is sent to an address of loopback


def text(order: Order) -> str:
    return f"{order[0].hex()}/{order[1]:016x}"


def order(of: str) -> Order:
    peer, _, incarnation = of.partition("/")
    return bytes.fromhex(peer), int(incarnation, 16)


class Other:
    """A `group-member`: what it has told, and what it is told to do."""

    def __init__(self, place: Place, name: str, **options):
        words = [f"{key}={value}" for key, value in options.items()]
        self.name = name
        self.program: Program = place.start("group-member", name, f"{HOST}:0", *words, stdin=subprocess.PIPE, state=name)
        listening = self.program.listening
        self.order = order(listening["node"])
        self.text: str = listening["node"]
        # None while it hides.
        self.address: str | None = next(iter(listening["addresses"]), None)
        self.events: list[dict] = []

    @property
    def id(self) -> bytes:
        return self.order[0]

    @property
    def place(self) -> tuple[str, int]:
        return self.program.address

    def look(self) -> None:
        self.events += self.program.new_events()

    def all(self, kind: str, **fields) -> list[dict]:
        """What it has told of this kind, with these fields."""
        self.look()
        return [event for event in self.events if event["event"] == kind and all(event.get(key) == value for key, value in fields.items())]

    @property
    def members(self) -> set[Order]:
        told = self.all("members")
        return {order(member) for member in told[-1]["members"]} if told else set()

    def do(self, *words: str) -> None:
        self.program.process.stdin.write((" ".join(words) + "\n").encode())
        self.program.process.stdin.flush()

    def wait(self, kind: str, patience: float = PATIENCE, **fields) -> dict:
        """For what it tells, while nothing of ours has to run."""
        until = time.monotonic() + patience
        while not (found := self.all(kind, **fields)):
            self.program.check_alive()
            if time.monotonic() > until:
                raise Late(f"{self.name} has told no {kind} with {fields}, but {self.events}")
            select.select([], [], [], 0.02)
        return found[-1]


class Scene:
    """Runs our member while anything is waited for."""

    def __init__(self, place: Place):
        self.place = place
        namespace.add_site(HOST)
        self.others: dict[str, Other] = {}
        # Two would have to be dialled by one another while they dial.
        self.our_member: GroupMember | None = None

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, kind, error, trace) -> None:
        if self.our_member is not None:
            self.our_member.close()
        for other in self.others.values():
            other.program.end()

    @property
    def all(self) -> list["Other | GroupMember"]:
        return [*self.others.values(), *([self.our_member] if self.our_member is not None else [])]

    def other(self, name: str, **options) -> Other:
        found = self.others[name] = Other(self.place, name, **options)
        return found

    def our(self, identity: Identity | None = None, **options) -> GroupMember:
        assert self.our_member is None
        self.our_member = GroupMember(HOST, identity=identity, name="Our", **options)
        return self.our_member

    def until(self, condition, what: str = "what was waited for", patience: float = 2 * PATIENCE) -> None:
        """Runs our member until the condition is true.
        - Raises: `Late`."""
        until = time.monotonic() + patience
        while not condition():
            if time.monotonic() > until:
                raise Late(f"{what} has not come; {self.report()}")
            for other in self.others.values():
                other.program.check_alive()
            if self.our_member is not None:
                self.our_member.step()
            else:
                select.select([], [], [], 0.02)

    def report(self) -> str:
        names = {one.order: one.name for one in self.all}
        lists = {one.name: sorted(names.get(member, "?") for member in one.members) for one in self.all}
        told = {name: [event for event in one.events if event["event"] not in ("members", "joined", "message")][-4:]
                for name, one in self.others.items()}
        return f"lists: {lists}; told: {told}"

    def agree(self, *group: Other | GroupMember, patience: float = 2 * PATIENCE) -> None:
        """Waits until each of these has all others of them as members, and nobody else."""
        whole = {one.order for one in group}
        self.until(lambda: all(one.members == whole - {one.order} for one in group), "a group of these", patience)

    def do(self, other: Other, *words: str) -> dict:
        """Has it done, and returns how that has ended."""
        before = len(other.all(words[0]))
        other.do(*words)
        self.until(lambda: len(other.all(words[0])) > before, f"the answer to {words}")
        return other.all(words[0])[-1]
