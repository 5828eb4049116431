"""What is tested, built: the bundle of the tests, and the programs."""
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import summary

# Apart from what `swift build` builds: with other settings each would have to build all anew after the other.
SCRATCH = ["--scratch-path", ".build/optimized"]
# As they are given away.
RELEASE = ["--configuration", "release", "--static-swift-stdlib"]
PROGRAMS = ["imagesend", "imagerecv", "piconet"]
# What the second implementation meets besides them.
MEMBERS = ["group-member"]
# What these start, from beside them.
COMPANIONS = ["piconet-thumbnail"]


class Stop(Exception):
    """Nothing can be run."""


# Builds that are under way.
running = set()


def end():
    """Ends what is under way, and the compilers with it."""
    for process in list(running):
        process.send_signal(signal.SIGINT)


def swift_build(root, words, environment, log):
    """What it says goes to the log, and is shown if it fails; without a log all of it is seen as it comes."""
    is_seen = log is None
    with open(os.devnull if is_seen else log, "w+b") as file:
        with subprocess.Popen(["swift", "build", *words], cwd=root, stdin=subprocess.DEVNULL, env=environment,
                              stdout=None if is_seen else file, stderr=None if is_seen else subprocess.STDOUT) as process:
            running.add(process)
            process.wait()
            running.discard(process)
        if process.returncode != 0:
            file.seek(0)
            sys.stdout.write(file.read().decode(errors="replace")[-20000:])
            raise Stop(f"swift build {' '.join(words)} failed")


def folder_of(root, settings, environment=None):
    """Where the products of these settings are, built or not."""
    return pathlib.Path(subprocess.run(["swift", "build", *settings, "--show-bin-path"], cwd=root, stdin=subprocess.DEVNULL,
                                       env=environment, capture_output=True, text=True, check=True).stdout.strip())


def count_so_far(log):
    """How far the build that writes this log is, such as "[120/1424]"; empty as long as it says nothing of it."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
            counts = re.findall(rb"^\[\d+/\d+\]", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return counts[-1].decode() if counts else ""


class Bundle:
    """The bundle of these test targets, or of all; or these products alone, beside which it would be."""

    def __init__(self, root, only=None, products=()):
        self.root, self.products = root, products
        self.environment = {**os.environ, "PICONET_OPTIMIZED": "1"}
        if only:
            self.environment["PICONET_TESTS"] = ",".join(only)
        self.path = folder_of(root, SCRATCH, self.environment) / "PiconetPackageTests.xctest"

    def build(self, log):
        for what in [["--product", product] for product in self.products] or [["--build-tests"]]:
            swift_build(self.root, [*SCRATCH, *what], self.environment, log)


class Programs:
    """A folder with the programs: there already, or filled while the tests are built."""

    def __init__(self, folder, building=None):
        self.folder, self.building = folder, building

    @classmethod
    def of(cls, folder):
        folder = folder.resolve()
        lacking = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
        if lacking:
            raise Stop(f"there is no {lacking[0]} in {folder}")
        return cls(folder)

    @classmethod
    def release(cls, root, output, progress, durations):
        """Built beside all else: the compiler spends much of this build on one module at a time."""
        what, log = "build the programs for release", output / "release-build.log"

        def build():
            started = time.monotonic()
            progress.begin(what, durations.of(what), lambda: count_so_far(log))
            for product in PROGRAMS + COMPANIONS:
                swift_build(root, [*RELEASE, "--product", product], None, log)
            progress.end(what)
            durations.keep_build(what, time.monotonic() - started)
            progress.say(f"== Built for release in {summary.clock(time.monotonic() - started)}")
        return cls(folder_of(root, RELEASE), concurrent.futures.ThreadPoolExecutor(1).submit(build))

    def wait(self):
        """Until they are there."""
        if self.building is not None:
            self.building.result()
