"""What a build costs, module by module, by what the compiler writes of itself (-stats-output-dir).

  Tools/test --build-times [demo|release|tests]...   builds these, or all three, anew in folders of their own, and prints a table of each
  Tools/test --build-times --statistics FOLDER       prints the table of a build that has left its statistics there
  Tools/test --build-times --statistics FOLDER --bound   and fails if it cost a quarter more than Tools/TestRun/build_bound.json allows

The bound is a ratio, since machines differ: the processor time of the demo's build over that of a fixed source file, compiled here and
now."""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import builds
from summary import clock

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOUND = ROOT / "Tools/TestRun/build_bound.json"
TOLERANCE = 1.25
NAME = re.compile(r"stats-(\d+)-swift-frontend-([^-]+)-")
TOTAL = re.compile(r"time\.swift-frontend\..*\.(user|sys|wall)$")
# What each of them builds, beside the scratch path.
BUILDS = {"demo": ([], [["--product", name] for name in ("imagesend", "imagerecv", "piconet-thumbnail")], {}),
          "release": (builds.RELEASE, [["--product", name] for name in builds.PROGRAMS + builds.COMPANIONS], {}),
          "tests": ([], [["--build-tests"]], {"PICONET_OPTIMIZED": "1"})}


class Module:
    """The frontends of one module: how many there were, their processor time, and when they ran."""

    def __init__(self):
        self.frontends, self.processor, self.begun, self.ended = 0, 0.0, float("inf"), 0.0

    def add(self, begun, seconds):
        self.frontends += 1
        self.processor += seconds["user"] + seconds["sys"]
        self.begun = min(self.begun, begun)
        self.ended = max(self.ended, begun + seconds["wall"])


def modules(folder):
    """Name of each module in the statistics of this folder -> `Module`."""
    found = collections.defaultdict(Module)
    for path in pathlib.Path(folder).glob("*.json"):
        named = NAME.match(path.name)
        if not named:
            continue
        seconds = dict.fromkeys(("user", "sys", "wall"), 0.0)
        for key, value in json.loads(path.read_text()).items():
            total = TOTAL.match(key)
            if total:
                seconds[total.group(1)] = float(value)
        # The file is named when the frontend begins.
        found[named.group(2)].add(int(named.group(1)) / 1e6, seconds)
    return dict(found)


def table(found, most=40):
    """Lines: the dearest module first."""
    if not found:
        return ["no module was compiled"]
    start = min(module.begun for module in found.values())
    ranked = sorted(found.items(), key=lambda item: -item[1].processor)
    lines = [f"{'module':32} {'processor':>10} {'from':>8} {'to':>8}"]
    lines += [f"{name:32} {module.processor:8.1f} s {module.begun - start:6.1f} s {module.ended - start:6.1f} s" for name, module in ranked[:most]]
    if ranked[most:]:
        lines.append(f"{f'{len(ranked) - most} smaller ones':32} {sum(module.processor for _, module in ranked[most:]):8.1f} s")
    lines.append(f"{'all':32} {sum(module.processor for module in found.values()):8.1f} s")
    return lines


def reference_source():
    """The same text always: what a common Swift module asks of the compiler."""
    lines = ["struct Pair<First, Second> { var first: First; var second: Second }"]
    for number in range(120):
        lines.append(f"""
        struct Record{number}: Hashable, Sendable, Comparable {{
          var name: String
          var values: [Int]
          static func < (left: Self, right: Self) -> Bool {{ (left.name, left.values.count) < (right.name, right.values.count) }}
          func total() -> Int {{ values.map {{ $0 &* {number} }}.filter {{ $0 % 3 == 0 }}.reduce(0, &+) }}
          func paired() -> [Pair<Int, String>] {{ values.enumerated().map {{ Pair(first: $0.offset, second: name + "\\($0.element)") }} }}
        }}""")
    return "\n".join(lines)


def reference_seconds():
    """The processor time of compiling that: the median of three."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "reference.swift")
        source.write_text(reference_source())
        seconds = []
        # The first one fills the module cache.
        for _ in range(4):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(["swiftc", "-c", "-parse-as-library", "-module-cache-path", folder + "/cache", "-o", folder + "/reference.o", str(source)],
                           stdin=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return sorted(seconds[1:])[1]


def verdict(processor, reference, bound):
    """(is within the bound, the line that says so)."""
    ratio, limit = processor / reference, bound * TOLERANCE
    told = f"the build took {processor:.0f} s of a processor, {ratio:.1f} times the reference ({reference:.2f} s); the bound is {bound:.1f} and a quarter"
    return ratio <= limit, told if ratio <= limit else told + ": mend what made it dearer, or raise Tools/TestRun/build_bound.json with the reason"


def build(name):
    """Builds it anew; returns its statistics' folder."""
    settings, whats, variables = BUILDS[name]
    scratch = ROOT / ".build/times" / name
    shutil.rmtree(scratch, ignore_errors=True)
    statistics = scratch / "statistics"
    statistics.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("PICONET_OPTIMIZED", "PICONET_TESTS")} | variables
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for what in whats:
        builds.swift_build(ROOT, [*settings, "--scratch-path", str(scratch), *what, "-Xswiftc", "-stats-output-dir", "-Xswiftc", str(statistics)],
                           environment, scratch / "build.log")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"== {name}: built in {clock(time.monotonic() - started)}, {processor:.0f} s of a processor", flush=True)
    return statistics


def main():
    parser = argparse.ArgumentParser(prog="Tools/test --build-times")
    parser.add_argument("builds", nargs="*", choices=[*BUILDS, []])
    parser.add_argument("--statistics", type=pathlib.Path)
    parser.add_argument("--bound", action="store_true")
    options = parser.parse_args()
    if options.statistics:
        found = modules(options.statistics)
        print("\n".join(table(found)))
        if not options.bound:
            return 0
        if not found:
            print("== FAILED: there is nothing to hold against the bound")
            return 1
        is_within, told = verdict(sum(module.processor for module in found.values()), reference_seconds(), json.loads(BOUND.read_text())["demo"])
        print(("== " if is_within else "== FAILED: ") + told)
        return 0 if is_within else 1
    for name in options.builds or BUILDS:
        print("\n".join(table(modules(build(name)))), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except builds.Stop as reason:
        print(f"== Tools/test --build-times: FAILED: {reason}")
        sys.exit(1)
