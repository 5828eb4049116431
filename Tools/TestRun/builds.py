"""What is tested, built: the bundle of the tests, and the programs."""
import concurrent.futures
import os
import pathlib
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
    """On a terminal its progress is seen; else its end is, if it fails."""
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


def bundle(root, output, only=None, products=()):
    """Builds the bundle of these test targets, or of all; or these products alone.
    - Returns: where the bundle is."""
    environment = {**os.environ, "PICONET_OPTIMIZED": "1"}
    if only:
        environment["PICONET_TESTS"] = ",".join(only)
    log = None if sys.stdout.isatty() else output / "build.log"
    for what in [["--product", product] for product in products] or [["--build-tests"]]:
        swift_build(root, [*SCRATCH, *what], environment, log)
    return folder_of(root, SCRATCH, environment) / "PiconetPackageTests.xctest"


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
    def release(cls, root, output):
        """Built beside all else: the compiler spends much of this build on one module at a time."""
        def build():
            started = time.monotonic()
            for product in PROGRAMS + COMPANIONS:
                swift_build(root, [*RELEASE, "--product", product], None, output / "release-build.log")
            print(f"== Built for release in {summary.clock(time.monotonic() - started)}", flush=True)
        return cls(folder_of(root, RELEASE), concurrent.futures.ThreadPoolExecutor(1).submit(build))

    def wait(self):
        """Until they are there."""
        if self.building is not None:
            self.building.result()
