"""Counts the instructions of a round trip at the client's end with valgrind's callgrind: figures that a busy machine does not change."""
import collections
import os
import re
import shutil
import subprocess
import tempfile

from processes import Failed, Process

SIZE = 1000
# What both runs do, such as starting and the handshake, is not in their difference.
COUNTS = (1_000, 3_000)
# Of all but OpenSSL.
TARGET = 22_000

OPENSSL = "OpenSSL"
EXCLUSIVITY = "exclusivity checks"
REFERENCES = "reference counts, objects, arrays"
MALLOC = "malloc"
TASKS = "tasks and continuations"
LOCKS = "locks"
SYSTEM = "the rest of libc, other libraries"
LIBRARY = "Swift's library and runtime, the rest"
OWN = "own code"

KINDS = (OPENSSL, EXCLUSIVITY, REFERENCES, MALLOC, TASKS, LOCKS, SYSTEM, LIBRARY, OWN)

# Of the symbols of functions; the first that fits counts.
NAMES = tuple((kind, re.compile(pattern)) for kind, pattern in (
    (LOCKS, r"_*pthread_(mutex|cond)"),
    (EXCLUSIVITY, r"swift_(begin|end)Access|.*(AccessSet|SwiftTLSContext)"),
    (TASKS, r"_*swift_(async|continuation|job|task)|.*5swift.*(Task|Executor|Continuation)|\$sSc"),
    (REFERENCES, r"_*swift_(retain|release|alloc|dealloc|bridgeObject|weak|unowned|isUnique|array|slowAlloc|slowDealloc|project)"
                 r"|.*RefCount"),
    (MALLOC, r"_*(int_)?(malloc|free|calloc|realloc)|unlink_chunk"),
))
# C++, and what is `$sS` or `$ss` is the standard library's own, compiled for a type of ours or not.
LIBRARY_NAMES = re.compile(r"_*swift|_Z|\$s[Ss]")
MODULE = re.compile(r"\$s(\d+)")


def kind(library, function):
    """What a function is counted as."""
    if re.search(r"/lib(ssl|crypto)\.so", library):
        return OPENSSL
    for name, pattern in NAMES:
        if pattern.match(function):
            return name
    if re.search(r"\.so(\.|$)", library):
        return SYSTEM
    return LIBRARY if LIBRARY_NAMES.match(function) else OWN


def module(function):
    """The module that a function of ours is from."""
    match = MODULE.match(function)
    return function[match.end():match.end() + int(match[1])] if match else "C"


def read(path):
    """Instructions that each function has executed itself, by its object and its symbol, out of what callgrind has written."""
    counts = collections.Counter()
    place = {"ob": "", "fn": ""}
    is_call = False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, equals, value = line.rstrip("\n").partition("=")
            if equals and key in place:
                place[key] = value
            elif equals and key == "calls":
                is_call = True
            elif line[:1].isdigit():
                # What follows a call is what was executed within it.
                if not is_call:
                    counts[place["ob"], place["fn"]] += int(line.split()[1])
                is_call = False
    return counts


def round_trips(count):
    """A tenth more goes first, which is not timed, but counted."""
    return count + count // 10 + 1


def run(program, folder, count):
    """Runs the client under callgrind, against a server beside it, and gives the counts of its functions."""
    options = ["pingpong", "--untimed", "--size", str(SIZE), "--count", str(count)]
    out = os.path.join(folder, "callgrind")
    started = []

    def start(end, port, prefix=()):
        process = Process(
            [*prefix, program, *options, end, "--port", port], {"XDG_STATE_HOME": os.path.join(folder, "state" + end)}, folder)
        started.append(process)
        return process

    try:
        server = start("--server", "0")
        client = start("--client", server.wait_for("READY"), [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no", "--compress-pos=no",
            "--demangle=no"])
        client.wait()
        server.wait()
        return read(out)
    finally:
        for process in reversed(started):
            process.close()


def measure(program, folder):
    """Instructions of one round trip by function."""
    folder = tempfile.mkdtemp(prefix="instructions.", dir=folder)
    # valgrind gives up on what the compiler writes about its sources.
    copy = os.path.join(folder, os.path.basename(program))
    shutil.copy(program, copy)
    subprocess.run(["strip", "--strip-debug", copy], check=True)
    # The first run of all makes the device's identity.
    run(copy, folder, 1)
    less, more = (run(copy, folder, count) for count in COUNTS)
    trips = round_trips(COUNTS[1]) - round_trips(COUNTS[0])
    return {where: (more[where] - less[where]) / trips for where in less | more}


def by_kind(functions):
    totals = collections.Counter()
    for (library, function), count in functions.items():
        totals[kind(library, function)] += count
    return totals


def by_module(functions):
    totals = collections.Counter()
    for (library, function), count in functions.items():
        if kind(library, function) == OWN:
            totals[module(function)] += count
    return totals


def write(names, programs, folder, tell):
    """The lines of a Markdown table with a column for each program, the first of which is ours."""
    columns = []
    for program in programs:
        tell(f"instructions of {os.path.basename(program)}")
        columns.append(measure(program, folder))
    kinds = [by_kind(functions) for functions in columns]
    modules = [by_module(functions) for functions in columns]

    def row(name, values):
        return f"| {name} | {' | '.join(f'{value:,.0f}' for value in values)} |"

    yield f"| instructions of a round trip of {SIZE} B, at the client's end | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    yield row("all", [totals.total() for totals in kinds])
    for name in KINDS:
        yield row(name, [totals[name] for totals in kinds])
        if name == OWN:
            for part, count in modules[0].most_common():
                if count >= 1:
                    yield row(f"of it {part}", [totals[part] for totals in modules])
    others = [totals.total() - totals[OPENSSL] for totals in kinds]
    yield row("all but OpenSSL", others)
    yield ""
    yield f"Target of all but OpenSSL: {TARGET:,}: {'met' if others[0] <= TARGET else '**missed**'}."
