"""Processes that end when their measurement does."""
import json
import os
import select
import shutil
import subprocess
import time


class Failure(Exception):
    """A measurement that could not be made, and why."""


# A clock that counts instructions runs away whenever the machine waits for its host, and its time costs nothing.
COUNTS_INSTRUCTIONS = os.environ.get("PICONET_CLOCK") == "instructions"
PATIENCE = 20 if COUNTS_INSTRUCTIONS else 1


class Process:
    """One started program; its output is read line by line, each line with the time at which it came."""

    def __init__(self, words, environment=None, merge=False, silent=False):
        """`silent`: its output is not read, and it does not wait for that."""
        self.words = words
        self.child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if silent else subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE, env={**os.environ, **(environment or {})})
        self.rest = b""
        self.said = []

    def line(self, seconds=30):
        """The next line and its time; None at the end."""
        deadline = time.monotonic() + seconds * PATIENCE
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise Failure(f"{self.words[0]} said nothing for {seconds * PATIENCE} s, at last: {self.said[-3:]}")
            more = os.read(self.child.stdout.fileno(), 65536)
            if not more:
                return None
            self.rest += more
        now = time.monotonic()
        line, self.rest = self.rest.split(b"\n", 1)
        self.said.append(line.decode(errors="replace"))
        return self.said[-1], now

    def until(self, wanted, seconds=30):
        """The first line with `wanted` in it, and its time."""
        while True:
            got = self.line(seconds)
            if got is None:
                errors = b"" if self.child.stderr is None else self.child.stderr.read()
                raise Failure(f"{os.path.basename(self.words[0])} ended before '{wanted}': "
                              f"{(self.said[-3:], errors.decode(errors='replace')[-300:])}")
            if wanted in got[0]:
                return got

    def event(self, name, seconds=30):
        """The event `name` of a program that was started with --json, and its time."""
        line, when = self.until(f'"event":"{name}"', seconds)
        return json.loads(line), when

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(3 * PATIENCE)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child.wait()
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def into_memory(programs):
    """In the virtual machine, where it is copied when it is touched: programs, and the libraries they are linked with."""
    for program in programs:
        path = shutil.which(program)
        if path is None:
            continue
        linked = subprocess.run(["ldd", path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
        for file in {os.path.realpath(word) for word in [path] + linked.split() if word.startswith("/")}:
            os.utime(file)
