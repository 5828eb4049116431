"""Which suites run in which virtual machine: read out of the tests, where each suite says so itself.

    @Suite("...", .serialized, .machine("--adapters 2", "--adapters 2 --stock", alone: true))
    struct BluetoothToolTests {

See `machine` in Tests/TestSupport/MachineTrait.swift."""
import dataclasses
import pathlib
import re

# The call with its literals, then the type or the function that the attribute belongs to.
DECLARATION = re.compile(
    r"""\.machine\(((?:[^()"]|"[^"]*")*)\)(?=[^{}]*?\b(struct|class|enum|actor|func)\s+(\w+|`[^`]*`))""")


@dataclasses.dataclass
class Suite:
    target: str
    name: str
    is_function: bool
    shapes: list
    alone: bool
    long: bool

    @property
    def regular_expression(self):
        return "^" + self.pattern

    @property
    def pattern(self):
        name = re.escape(self.name)
        return f"{self.target}[.].*{name}[(]" if self.is_function else f"{self.target}[.]([^/]*/)*{name}/"


@dataclasses.dataclass
class Machine:
    """One boot: its options for Tools/bluetooth-vm, and the suites that run in it one after the other."""
    shape: str
    suites: list

    @property
    def name(self):
        return ", ".join(sorted({suite.name for suite in self.suites})) + " in " + self.shape

    @property
    def pattern(self):
        return "^(" + "|".join(suite.pattern for suite in self.suites) + ")"


def suites(root):
    found = []
    for path in sorted(pathlib.Path(root, "Tests").rglob("*.swift")):
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        for arguments, kind, name in DECLARATION.findall(text):
            shapes = re.findall(r'"([^"]*)"', arguments)
            target = path.relative_to(pathlib.Path(root, "Tests")).parts[0]
            found.append(Suite(target, name, kind == "func", shapes, "alone: true" in arguments, "long: true" in arguments))
    return found


def machines(found, long=False):
    """The boots that these suites need; those that leave what they found share one of their shape."""
    shared, own = {}, []
    for suite in found:
        if suite.long and not long:
            continue
        for shape in suite.shapes:
            if suite.alone:
                own.append(Machine(shape, [suite]))
            else:
                shared.setdefault(shape, Machine(shape, [])).suites.append(suite)
    return list(shared.values()) + own
