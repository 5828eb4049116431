"""Runs the tests here and in virtual machines, and says what came of it. Started by Tools/test."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import builds
import declarations
import runs
import summary
from builds import Stop
from progress import Progress

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / ".build/test"

# In turns: the simulated seeds keep every processor busy, and what starts processes or waits for an answer over a socket
# should not wait behind what computes. The rest computes, and is a part of its own.
PARTS = [["ArticleTests", "FarAdapterTests", "PiconetFoundationTests", "PiconetHTTPTests", "PiconetRuntimeTests",
          "PiconetTLSTests"],
         # Many devices each in one process.
         ["GameKitTests"], ["MultipeerConnectivityTests"], ["PiconetActorsTests"],
         ["PiconetTests"], ["PiconetSessionSuite"], ["PiconetIPTests"], ["CommandLineTests"], ["PiconetSimulationTests"]]
# Quick to build, and quick to run: what is pure, and the edge in one process.
FAST = ["PiconetWireTests", "PiconetEngineTests", "PiconetDNSSDTests", "PiconetCallsTests", "PiconetSDPTests", "PiconetBlueZTests", "PiconetTLSTests",
        "PiconetFilesTests", "PiconetRuntimeTests", "PiconetSimulationTests", "RepositoryTests"]
# Of the simulated seeds, which take more than half of the processor time of what is fast.
FAST_SEEDS = "0.25"
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Builds other packages on top of this one, with what the release programs are made of: it waits for those, and no other waits for it.
DEPENDANT = "RepositoryTests[.]DependantTests"


progress = Progress(sys.stdout, sys.stdout.isatty())
say = progress.say


def targets():
    return sorted(path.name for path in (ROOT / "Tests").iterdir() if path.is_dir())


def lack_of_machine():
    """Why there is no virtual machine; empty if there is one."""
    result = subprocess.run([ROOT / "Tools/bluetooth-vm", "--prepare"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stderr.strip() or "Tools/bluetooth-vm --prepare failed"


class Lanes:
    """Runs side by side: here one after the other, machines and what waits for builds wherever a processor is left."""

    def __init__(self, count, durations=None):
        self.count, self.durations = count, durations
        self.begun, self.lock = set(), threading.Lock()

    def execute(self, run):
        with self.lock:
            if runs.is_stopped.is_set():
                return
            self.begun.add(run)
        if run.programs is not None:
            run.programs.wait()
        progress.begin(run.name, self.durations.of(run.name) if self.durations else None)
        run.execute()
        progress.end(run.name)
        with self.lock:
            self.begun.discard(run)
        bad = f", {len(run.failures)} FAILED" if run.failures else ""
        say(f"   {summary.clock(run.seconds):>10}, {run.processor_seconds:5.0f} of a processor  {len(run.ran):4d} tests{bad}: {run.name}")
        if run.retried:
            say(f"               the machine broke, and was booted once more: {run.retried}")
        for test, what in run.failures[:5]:
            say(f"               FAILED {test.name if test else run.name}:")
            for line in summary.lines(what):
                say(f"                 {line}")

    def run(self, here, others):
        def in_turn():
            for run in here:
                self.execute(run)
        with concurrent.futures.ThreadPoolExecutor(max(1, self.count)) as pool:
            waiting = [pool.submit(in_turn)] if here else []
            waiting += [pool.submit(self.execute, run) for run in others]
            for future in concurrent.futures.as_completed(waiting):
                future.result()

    def end(self):
        # Otherwise the next one would begin as soon as one of these has ended.
        runs.is_stopped.set()
        begun = list(self.begun)
        for run in begun:
            run.signal(signal.SIGTERM)
        for run in begun:
            run.end()


def lane_count():
    """Two for each processor, since machines wait for much of their time, and one for what runs here; not more than there is
    memory for."""
    with open("/proc/meminfo") as file:
        memory = next(int(line.split()[1]) >> 10 for line in file if line.startswith("MemAvailable:"))
    return max(1, min(2 * len(os.sched_getaffinity(0)) + 1, memory // (runs.MEMORY + 512)))


class Durations:
    """How long each run took the last time, or when somebody last looked, so that the longest can begin first."""
    usual = ROOT / "Tools/TestRun/durations.json"
    path = ROOT / ".build/test-durations.json"

    def __init__(self):
        self.known, self.lock = {}, threading.Lock()
        for path in (self.usual, self.path):
            try:
                self.known.update(json.loads(path.read_text()))
            except (OSError, ValueError):
                pass

    def of(self, name):
        """In seconds; None of what has never run."""
        return self.known.get(name)

    def order(self, machines):
        # One that has never run may be long.
        return sorted(machines, key=lambda run: -self.known.get(run.name, 1e6))

    def keep(self, finished):
        self._keep({run.name: run.seconds for run in finished if run.has_ended})

    def keep_build(self, name, seconds):
        self._keep({name: seconds})

    def _keep(self, seconds):
        with self.lock:
            self.known.update({name: round(value, 1) for name, value in seconds.items()})
            self.path.write_text(json.dumps(self.known, indent=1, sort_keys=True) + "\n")


def number(text, count):
    return f"{count:02d}-" + re.sub(r"[^\w]+", "-", text)[:60].strip("-")


def main():
    parser = argparse.ArgumentParser(prog="Tools/test", add_help=False)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--no-bluetooth", action="store_true")
    parser.add_argument("--bluetooth", nargs="?", const="", default=None)
    parser.add_argument("--interoperability", nargs="?", const="", default=None)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--host-clock", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--lanes", type=int, default=0)
    programs = parser.add_mutually_exclusive_group()
    programs.add_argument("--programs", type=pathlib.Path)
    programs.add_argument("--release", action="store_true")
    options = parser.parse_args()

    found = declarations.suites(ROOT)
    boots = declarations.machines(found, long=options.all)
    if options.bluetooth:
        # Whatever machine it is declared for, long or not.
        wanted = re.compile(options.bluetooth)
        boots = [boot for boot in declarations.machines(found, long=True)
                 if any(wanted.search(suite.name) or suite.name in options.bluetooth for suite in boot.suites)]
        if not boots:
            raise Stop(f"no suite that is declared for a machine fits {options.bluetooth!r}; Tools/test --list names them")
    if options.list:
        for boot in boots:
            say(f"{boot.shape}: {', '.join(suite.target + '.' + suite.name for suite in boot.suites)}")
        return 0

    durations = Durations()
    lanes = Lanes(options.lanes or lane_count(), durations)

    def stop(*_):
        # A second one would wait for the first for ever.
        for kind in STOPPING:
            signal.signal(kind, signal.SIG_IGN)
        builds.end()
        lanes.end()
        os._exit(130)
    for kind in STOPPING:
        signal.signal(kind, stop)
    started = time.monotonic()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    if options.fast:
        os.environ.setdefault("PICONET_SEEDS", FAST_SEEDS)
    if options.all:
        os.environ["PICONET_SLOW_TESTS"] = "1"
    programs = builds.Programs.of(options.programs) if options.programs else None
    if options.release:
        programs = builds.Programs.release(ROOT, OUTPUT, progress, durations)
    is_alone = options.interoperability is not None
    is_here = options.bluetooth is None and not is_alone
    wants_machine = not options.no_bluetooth and not options.fast and not is_alone
    preparing = concurrent.futures.ThreadPoolExecutor(1).submit(lack_of_machine) if wants_machine else None
    alone = [*([] if programs else builds.PROGRAMS), *builds.MEMBERS]
    tests = builds.Bundle(ROOT, FAST if options.fast else None, alone if is_alone else ())
    bundle = tests.path
    # Until it is known which of them run.
    progress.total = 1 + len(PARTS) + 3 + (len(boots) if wants_machine else 0)
    what = "build " + ("the programs" if is_alone else "the quick tests" if options.fast else "the tests")
    log = None if options.verbose else OUTPUT / "build.log"
    progress.begin(what, durations.of(what), lambda: builds.count_so_far(log) if log else "")
    tests.build(log)
    progress.end(what)
    durations.keep_build(what, time.monotonic() - started)
    say(f"== Built in {summary.clock(time.monotonic() - started)}")
    no_machine = preparing.result() if preparing else ""
    if no_machine and not is_here:
        raise Stop("no virtual machine for the Bluetooth tests: " + no_machine)

    here = []
    if is_here:
        parts = [[target for target in part if not options.fast or target in FAST] for part in PARTS]
        skip = f"^({'|'.join(sum(PARTS, []))})[.]|{DEPENDANT}"
        here.append(runs.here("all but the following, here", OUTPUT / number("here", 0), bundle, skip=skip))
        for part in filter(None, parts):
            name = ", ".join(part)
            here.append(runs.here(f"{name}, here", OUTPUT / number(name, len(here)), bundle, only=f"^({'|'.join(part)})[.]"))
    if is_alone or is_here and not options.fast:
        folder = OUTPUT / number("interoperability", len(here))
        here.append(runs.interoperability(folder, programs or builds.Programs(bundle.parent), bundle.parent, ROOT, options.interoperability or ""))
    beside = []
    if is_here and not options.fast:
        run = runs.here("DependantTests, here", OUTPUT / number("DependantTests", len(here)), bundle, only=DEPENDANT)
        run.programs = programs
        beside.append(run)
    machines = []
    if wants_machine and not no_machine:
        environment = ["PICONET_SEED", "PICONET_SEEDS", "PICONET_SLOW_TESTS"]
        if programs:
            environment.append(f"PICONET_PROGRAMS={programs.folder}")
        for boot in boots:
            run = runs.in_machine(boot, OUTPUT / number(boot.name, len(here) + len(beside) + len(machines)), bundle, ROOT, options.bluetooth or None,
                                  options.host_clock, environment, programs)
            machines.append(run)
    progress.total = progress.ended + len(progress.under_way) + len(here) + len(beside) + len(machines)
    say(f"== {len(here) + len(beside)} parts here, {len(machines)} virtual machines, {lanes.count} at a time; their output is in {OUTPUT.relative_to(ROOT)}")
    lanes.run(here, durations.order(beside + machines))
    everything = here + beside + machines
    durations.keep(everything)
    told = summary.Summary(everything, bool(machines) and not options.bluetooth, no_machine,
                           needs_machine=os.environ.get("CI") == "true")
    say("")
    progress.close()
    told.tell(time.monotonic() - started, say)
    return 0 if told.is_good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stop as reason:
        progress.close()
        say(f"== Tools/test: FAILED: {reason}")
        sys.exit(1)
