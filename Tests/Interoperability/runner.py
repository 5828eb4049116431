"""Runs each test in a process and a network of its own, several at a time, and reports how they ended."""
import dataclasses
import errno
import importlib
import inspect
import json
import os
import pathlib
import re
import selectors
import shutil
import signal
import tempfile
import time
import traceback

import namespace
from link import Late, LinkEnded
from marks import IS_LONG, Skipped
from place import Place
from tls import HandshakeError

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 60.0  # seconds that a test may take
TARGET = "InteroperabilityTests"  # the name that Tools/test gives it
# A fault that no mark excuses.
FAULT_OF_TEST = "the test is at fault"


@dataclasses.dataclass
class Test:
    module: str
    function: object
    started: float = 0.0
    ended: float = 0.0
    outcome: str = ""  # passed, failed, skipped or as marked
    what: str = ""

    @property
    def name(self) -> str:
        return " ".join(self.function.__doc__.split()).rstrip(".")

    @property
    def id(self) -> str:
        return f"{TARGET}.{self.module}.{self.function.__name__.removeprefix('test_')}"

    @property
    def mark(self) -> str | None:
        return getattr(self.function, "fails_today", None)

    @property
    def limit(self) -> float:
        return getattr(self.function, "may_take", LIMIT) if IS_LONG else LIMIT


def tests(pattern: str = "") -> list[Test]:
    found = []
    for path in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, function in vars(module).items():
            if name.startswith("test_") and inspect.isfunction(function) and function.__module__ == path.stem:
                test = Test(path.stem.removeprefix("test_"), function)
                if re.search(pattern, test.id) or re.search(pattern, test.name):
                    found.append(test)
    return found


def perform(test: Test, programs: dict[str, pathlib.Path], folder: pathlib.Path) -> tuple[str, str]:
    """Runs in the process of the test; returns outcome and text."""
    try:
        namespace.enter()
    except OSError as error:
        if os.environ.get("CI") == "true" or error.errno not in (errno.EPERM, errno.ENOSPC, errno.ENOSYS):
            return "failed", str(error)
        return "skipped", str(error)
    place = Place(programs, folder)
    outcome, what = "passed", ""
    try:
        # A test that needs no programs takes no place.
        test.function(*([place] if inspect.signature(test.function).parameters else []))
    except Skipped as reason:
        outcome, what = "skipped", str(reason)
    except Exception as error:  # whatever goes wrong in a test is its failure
        lines = traceback.format_exception(error)
        outcome, what = "failed", f"{type(error).__name__}: {error}\n{''.join(lines[-8:])}"
        if not isinstance(error, (AssertionError, LinkEnded, Late, HandshakeError)):
            what = f"{FAULT_OF_TEST}: {what}"
    try:
        place.end()
    except Exception as error:
        outcome, what = "failed", f"{error}\n{what}"
    return outcome, what + ("\n" + place.report() if outcome == "failed" else "")


class Lane:
    """One test that is running."""

    def __init__(self, test: Test, programs: dict[str, pathlib.Path]):
        self.test = test
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="piconet-interoperability."))
        self.reading, writing = os.pipe()
        test.started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.setsid()
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                os.close(self.reading)
                told = json.dumps(perform(test, programs, self.folder)).encode()
                while told:
                    told = told[os.write(writing, told):]
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        self.told = bytearray()

    def read(self) -> bool:
        """False at the end."""
        data = os.read(self.reading, 65_536)
        self.told += data
        return bool(data)

    def stop(self) -> None:
        """Ends the test's process and whatever it has left in its group."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        except PermissionError:  # it has not moved to its own group yet
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.reading)
        shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self, is_late: bool = False) -> None:
        self.stop()
        test = self.test
        test.ended = time.monotonic()
        try:
            test.outcome, test.what = json.loads(self.told)
        except ValueError:
            test.outcome = "failed"
            test.what = f"ended after the {test.limit:.0f} s that it may take" if is_late else "its process died"
        if test.mark and test.outcome == "failed" and FAULT_OF_TEST not in test.what:
            test.outcome = "as marked"
            test.what = f"{test.mark}\n{test.what}"
        elif test.mark and test.outcome == "passed":
            test.outcome = "failed"
            test.what = f"it passes now, and is still marked with @fails_today({test.mark!r}): unmark it"


def run(chosen: list[Test], programs: dict[str, pathlib.Path], lanes: int, tell) -> None:
    """Runs all of them; `tell` is called with each when it is over."""
    waiting, running = list(chosen), {}
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or running:
                while waiting and len(running) < lanes:
                    lane = Lane(waiting.pop(0), programs)
                    running[lane.reading] = lane
                    selector.register(lane.reading, selectors.EVENT_READ)
                ready = [key.fd for key, _ in selector.select(0.5)]
                for number, lane in list(running.items()):
                    is_late = time.monotonic() - lane.test.started > lane.test.limit
                    if number in ready and lane.read() and not is_late or number not in ready and not is_late:
                        continue
                    selector.unregister(number)
                    del running[number]
                    lane.finish(is_late)
                    tell(lane.test)
        finally:
            for lane in running.values():
                lane.stop()
