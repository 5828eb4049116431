"""Runs of the test bundle: here, and in virtual machines."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import results

# What a run may take before it is ended: several times what the longest takes on a busy machine.
LIMIT_HERE = 2400
LIMIT_MACHINE = 2400
MEMORY = 2048  # MiB of a machine
# Begun at once, tests of a part starve one another, and their peers give them up. Most wait more than they compute.
TESTS_AT_ONCE = 8 * len(os.sched_getaffinity(0))
STATUS_NO_MACHINE = 125  # of Tools/bluetooth-vm


# Set when all ends: nothing begins any more.
is_stopped = threading.Event()


class Run:
    """One process of tests, and what came of it."""
    # Of Tools/test, to run one test alone.
    option = "--filter"

    def __init__(self, name, folder, command, limit, environment=None):
        self.name, self.folder, self.command, self.limit = name, pathlib.Path(folder), command, limit
        self.environment = {**os.environ, **(environment or {})}
        self.results, self.has_ended, self.status, self.seconds = {}, False, None, 0.0
        # Of it and all that it has waited for: what it costs the others.
        self.processor_seconds = 0.0
        self.process, self.is_over = None, threading.Event()
        # What ended the machine of a first try.
        self.retried = ""
        # What has to be built before it begins, or None.
        self.programs = None
        # What has to have run, by its name: patterns of tests' ids.
        self.expected = {}

    @property
    def log(self):
        return self.folder / "log"

    @property
    def events(self):
        return self.folder / "events"

    def execute(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        self.is_over.clear()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=self.environment,
                start_new_session=True)
            waiting = threading.Thread(target=self.wait)
            waiting.start()
            if is_stopped.is_set():
                self.end()
            elif not self.is_over.wait(self.limit):
                log.write(f"\n{self.name}: ended after the {self.limit} s that a run may take\n".encode())
                self.end()
            waiting.join()
            # Whatever a run that has ended has left behind.
            self.signal(signal.SIGKILL)
        self.seconds += time.monotonic() - started
        self.results, self.has_ended = results.read(self.events)

    def wait(self):
        """Until it has ended."""
        # subprocess reports no times.
        _, status, used = os.wait4(self.process.pid, 0)
        self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_seconds += used.ru_utime + used.ru_stime
        self.is_over.set()

    def signal(self, number):
        """To it, and to all that it has started and that is in its group."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass

    def end(self):
        """Ends it, and all that it has started: asked first, since a machine removes its own files."""
        if self.process is None:
            return
        self.signal(signal.SIGTERM)
        self.is_over.wait(10)
        self.signal(signal.SIGKILL)

    @property
    def tests(self):
        return [result for result in self.results.values() if not result.is_suite]

    @property
    def ran(self):
        return [test for test in self.tests if test.ended is not None]

    @property
    def failures(self):
        """(place, what) of each thing that is wrong with this run."""
        found = [(result, issue) for result in self.results.values() for issue in result.issues]
        if not self.has_ended:
            begun = [test for test in self.tests if test.started is not None and not test.is_over]
            # A suite may be busy before the first of its tests begins.
            begun = begun or [result for result in self.results.values() if result.started is not None and not result.is_over]
            found += [(test, "it had begun, and the run did not come to its end") for test in begun]
            if not begun:
                found.append((None, f"the run did not come to its end (exit status {self.status})"))
        elif self.status != 0 and not found:
            found.append((None, f"no test has failed, and yet the exit status is {self.status}"))
        if self.has_ended and not self.ran:
            found.append((None, "no test has run"))
        if self.has_ended:
            for name, pattern in self.expected.items():
                if not any(re.search(pattern, test.id) for test in self.ran):
                    found.append((None, f"no test of {name} has run, which is declared for this machine"))
        return found


def bundle_command(bundle, events, *words):
    return [str(bundle), "--testing-library", "swift-testing", "--event-stream-version", "0", "--event-stream-output-path", str(events),
            *words]


def here(name, folder, bundle, only=None, skip=None, environment=None):
    """The tests of this pattern on this machine, in parallel."""
    words = ["--experimental-maximum-parallelization-width", str(TESTS_AT_ONCE)]
    words += (["--filter", only] if only else []) + (["--skip", skip] if skip else [])
    return Run(name, folder, bundle_command(bundle, pathlib.Path(folder, "events"), *words), LIMIT_HERE, environment)


def both(pattern, declared):
    """What fits a pattern of the caller's, of what is declared for a machine: suites of another one leave it as they need it."""
    if not pattern:
        return declared
    start = "" if pattern.startswith("^") else ".*"
    return f"^(?={start}(?:{pattern.removeprefix('^')})){declared.removeprefix('^')}"


def in_machine(machine, folder, bundle, root, pattern=None, host_clock=False, environment=(), programs=None):
    """One boot of the virtual machine, whose tests take turns: one kernel and one bluetoothd play all hosts there."""
    folder = pathlib.Path(folder).absolute()
    options = ["--timeout", str(LIMIT_MACHINE - 60), "--times", "--memory", str(MEMORY), "--output", str(folder)]
    if not host_clock:
        options += ["--clock", "steady"]
    for variable in environment:
        options += ["--env", variable]
    # Written to memory, since each word to this host costs the machine time.
    test = bundle_command(bundle, "/run/piconet-events", "--no-parallel", "--filter", both(pattern, machine.pattern))
    script = '"$@"; status=$?; cp /run/piconet-events "$0"; exit $status'
    # A machine waits as its clock does; what runs here goes by this host's.
    command = ["nice", "-n", "10", str(pathlib.Path(root, "Tools/bluetooth-vm")), *options, *machine.shape.split(), "sh", "-c", script, str(folder / "events"),
               *test]
    run = MachineRun(machine.name, folder, command, LIMIT_MACHINE)
    run.programs = programs
    if not pattern:
        run.expected = {suite.name: suite.regular_expression for suite in machine.suites}
    return run


class MachineRun(Run):
    """A run in a virtual machine. One that broke, which is no test's doing, has a second try; a failure of a test has none."""
    option = "--bluetooth"

    def execute(self):
        super().execute()
        if self.status != STATUS_NO_MACHINE or not self.broken or is_stopped.is_set():
            return
        self.retried = self.broken
        first = self.folder.with_name(self.folder.name + "-broken")
        self.folder.rename(first)
        super().execute()

    @property
    def broken(self):
        """How the machine ended under the tests; empty if it did not."""
        try:
            return self.folder.joinpath("broken").read_text().strip()
        except FileNotFoundError:
            return ""

    @property
    def failures(self):
        # Nothing that was seen in it says anything about a test.
        return [(None, f"the machine broke twice: {self.broken}")] if self.broken else super().failures


class InteroperabilityRun(Run):
    option = "--interoperability"


def interoperability(folder, programs, members, root, pattern=""):
    """The second implementation against the programs of this build.
    - members: the folder with the members of groups that it meets."""
    command = ["/usr/bin/python3", "-B", str(pathlib.Path(root, "Tests/Interoperability")), "--programs", str(programs.folder),
               "--members", str(members), "--events", str(pathlib.Path(folder, "events")), pattern]
    run = InteroperabilityRun("Interoperability, here", folder, command, LIMIT_HERE)
    run.programs = programs
    return run
