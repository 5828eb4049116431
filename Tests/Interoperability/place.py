"""Where a test runs: a folder, and the programs that it starts, which end with it."""
import contextlib
import functools
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import time

from link import Late

# A program that ends by one of these has crashed.
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS}


class Crashed(AssertionError):
    """The kernel has ended a program for what it did."""


class Program:
    """One process of ours under test. What it writes goes to files, so that it never waits for us to read."""

    def __init__(self, words: list[str], folder: pathlib.Path, environment: dict[str, str], stdin, stdout, terminal: bool):
        """`terminal`: whether its standard input and error are a terminal; `screen` is what that shows."""
        self.name = pathlib.Path(words[0]).name
        self.log = folder / f"{self.name}-{len(list(folder.glob('*.log')))}.log"
        self.reader = open(self.log.with_suffix(".output"), "w+b", buffering=0)
        self.terminal: int | None = None
        with open(self.log, "wb") as log, open(self.reader.name, "wb", buffering=0) as output:
            if terminal:
                self.terminal, inner = os.openpty()
                stdin, log_or_terminal = inner, inner
            else:
                log_or_terminal = log
            self.process = subprocess.Popen(words, stdin=stdin, stdout=stdout or output, stderr=log_or_terminal, env=environment, cwd=folder)
            if terminal:
                os.close(inner)
        self.output = bytearray()  # all of standard output
        self.screen = bytearray()  # all that the terminal has shown
        self.lines_read = 0

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    # Output

    def read_more(self, until: float) -> bool:
        """Waits for more output. False at its end."""
        while True:
            has_ended = not self.is_running
            data = self.reader.read()
            if data or has_ended:
                self.output += data
                return bool(data)
            if time.monotonic() >= until:
                raise Late(f"{self.name} has said nothing more")
            select.select([], [], [], 0.01)

    def new_events(self) -> list[dict]:
        """The events that have come since the last one that was asked for, without waiting."""
        try:
            while self.read_more(time.monotonic()):
                pass
        except Late:
            pass
        *whole, _ = bytes(self.output).split(b"\n")
        new, self.lines_read = whole[self.lines_read:], len(whole)
        return [json.loads(line) for line in new]

    def event(self, kind: str, patience: float = 10.0, where=lambda event: True) -> dict:
        """Waits for an event of this kind; those before it are dropped."""
        until = time.monotonic() + patience
        while True:
            *whole, _ = bytes(self.output).split(b"\n")
            while self.lines_read < len(whole):
                event = json.loads(whole[self.lines_read])
                self.lines_read += 1
                if event["event"] == kind and where(event):
                    return event
            if not self.read_more(until):
                raise AssertionError(f"{self.name} has ended without {kind!r}")

    def error_text(self) -> str:
        return bytes(self.screen).decode(errors="replace") if self.terminal is not None else self.log.read_text(errors="replace")

    # The terminal

    def look(self, seconds: float = 0.0) -> str:
        """Everything that it has shown, after waiting so long for more."""
        until = time.monotonic() + seconds
        while select.select([self.terminal], [], [], max(0.0, until - time.monotonic()))[0]:
            try:
                self.screen += os.read(self.terminal, 65_536)
            except OSError:  # the program has ended
                break
        return bytes(self.screen).decode(errors="replace")

    def see(self, text: str, patience: float = 10.0, after: int = 0) -> int:
        """Waits until this is on the screen, after a given place; returns the place after it."""
        until = time.monotonic() + patience
        while text not in (shown := self.look())[after:]:
            if time.monotonic() > until:
                raise Late(f"{text!r} is not on the screen of {self.name}: {shown[after:]!r}")
            select.select([self.terminal], [], [], 0.1)
        return shown.index(text, after) + len(text)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    # Being

    @functools.cached_property
    def listening(self) -> dict:
        return self.event("listening")

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.listening["addresses"][0].rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def node(self) -> bytes:
        """The id of the program's node."""
        return bytes.fromhex(self.listening["peer"])

    def memory(self) -> int:
        """Bytes of memory that it has."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
        raise AssertionError(f"{self.name} has ended")

    def processor_time(self) -> float:
        """Seconds of processor time that it has used."""
        numbers = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")

    def datagrams(self) -> tuple[int, int]:
        """Bytes that wait in its UDP sockets, and datagrams that found no room there (proc_net_udp)."""
        folder = pathlib.Path(f"/proc/{self.pid}")
        sockets = set()
        for path in folder.joinpath("fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(os.readlink(path).removeprefix("socket:[").rstrip("]"))
        waiting, dropped = 0, 0
        for family in ("udp", "udp6"):
            for line in folder.joinpath("net", family).read_text().splitlines()[1:]:
                words = line.split()
                if words[9] in sockets:
                    waiting += int(words[4].partition(":")[2], 16)
                    dropped += int(words[12])
        return waiting, dropped

    def wait(self, patience: float = 15.0) -> int:
        """Waits for its exit status."""
        until = time.monotonic() + patience
        try:
            status = self.process.wait(max(0.001, until - time.monotonic()))
            while self.read_more(until):
                pass
            return status
        except subprocess.TimeoutExpired as error:
            raise Late(f"{self.name} has not ended") from error

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def check_alive(self) -> None:
        assert self.is_running, f"{self.name} has ended with {self.process.returncode}: {self.error_text()[-500:]}"

    def end(self) -> None:
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        while self.read_more(0.0):
            pass
        if self.terminal is not None:
            self.look()


class Place:
    def __init__(self, programs: dict[str, pathlib.Path], folder: pathlib.Path):
        """`programs`: in which folder each of them is."""
        self.programs, self.folder = programs, folder
        self.started: list[Program] = []

    def path(self, name: str) -> pathlib.Path:
        """A folder of this test's, which is made if it is not there."""
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def start(self, program: str, *words, state: str = "state", stdin=subprocess.DEVNULL, stdout=None,
              terminal: bool = False, before: tuple[str, ...] = ()) -> Program:
        """Starts a program whose key and known peers are in `state`; `before` is a command that runs it."""
        environment = {**os.environ, "PICONET_INTERFACES": "lo", "XDG_STATE_HOME": str(self.path(state)), "HOME": str(self.folder),
                       "XDG_CACHE_HOME": str(self.path(state) / "cache"), "TMPDIR": str(self.path("temporary")), "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        started = Program([*before, str(self.programs[program] / program), *map(str, words)], self.folder, environment, stdin, stdout, terminal)
        self.started.append(started)
        return started

    def receiver(self, *words, accept: str = "all", name: str = "Receiver", state: str = "receiver", directory: str = "received",
                 host: str = "127.0.0.1", **options) -> Program:
        """imagerecv at an address of lo, in the session of `Node.session_id`, once it listens."""
        program = self.start("imagerecv", "--listen", f"{host}:0", "--json", "--any", "--name", name, "--session", "interoperability",
                          "--accept", accept, "--directory", self.path(directory), *words, state=state, **options)
        assert program.listening, program.name
        return program

    def sender(self, address: tuple[str, int] | None, *words, state: str = "sender", name: str = "Sender", **options) -> Program:
        """imagesend to an address, or to wherever its words say."""
        to = ["--address", f"{address[0]}:{address[1]}"] if address else []
        return self.start("imagesend", "--json", "--any", "--name", name, "--session", "interoperability", *to, *words, state=state,
                          **options)

    def listener(self, command: str, *words, state: str = "listener", **options) -> tuple[Program, tuple[str, int]]:
        """`piconet cat --listen` or `piconet ping --listen`, and its address, once it listens there."""
        address = ("127.0.0.1", 4000)
        program = self.start("piconet", command, "--listen=127.0.0.1:4000", "--accept", "all", "--name", "Listener",
                             "--session", "interoperability", *words, state=state, **options)
        until = time.monotonic() + 10
        while True:
            program.check_alive()
            try:
                socket.create_connection(address, 1).close()
                return program, address
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise Late(f"piconet {command} does not listen") from None
                select.select([], [], [], 0.02)

    def node_of(self, state: str) -> bytes:
        """The id of the node that the programs with this state have."""
        program = self.receiver(state=state, directory="unused")
        found = program.node
        program.end()
        return found

    def end(self) -> None:
        """Ends all programs.
        - Raises: `Crashed`."""
        crashed = []
        for program in reversed(self.started):
            program.end()
            status = program.process.returncode
            if status is not None and -status in CRASHES:
                crashed.append(f"{program.name} has crashed with {signal.Signals(-status).name}: {program.error_text()[-1500:]}")
        if crashed:
            raise Crashed("\n".join(crashed))

    def report(self) -> str:
        """What the programs have written."""
        return "\n".join(f"{program.name} (exit status {program.process.returncode}):\n" + (
            bytes(program.output).decode(errors="replace")[-800:] + program.error_text()[-800:]) for program in self.started)
