"""A second implementation of Documentation/wire-format.md, and tests of the programs and of members of groups with it, over loopback.

    /usr/bin/python3 -B Tests/Interoperability --programs .build/debug [PATTERN]

Needs Debian's python3-openssl and python3-cryptography, and a kernel that gives each test a network of its own."""
import argparse
import os
import pathlib
import signal
import sys
import time

import events
import runner


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/Interoperability", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="the folder with imagesend, imagerecv and piconet")
    parser.add_argument("--members", type=pathlib.Path, help="the folder with group-member, if it is another one")
    parser.add_argument("--events", type=pathlib.Path, help="write the results there, as Swift Testing writes them")
    parser.add_argument("--lanes", type=int, default=2 * len(os.sched_getaffinity(0)), help="tests at a time")
    parser.add_argument("--list", action="store_true", help="name the tests and run none")
    parser.add_argument("--marked", action="store_true", help="say of tests that fail as marked how they have failed")
    parser.add_argument("pattern", nargs="?", default="", help="a regular expression for tests' names")
    options = parser.parse_args()
    chosen = runner.tests(options.pattern)
    if options.list:
        for test in chosen:
            print(f"{test.id}: {test.name}" + (f"; fails today: {test.mark}" if test.mark else ""))
        return 0
    programs = options.programs.resolve()
    folders = {name: programs for name in ("imagesend", "imagerecv", "piconet")}
    folders["group-member"] = options.members.resolve() if options.members else programs
    for name, folder in folders.items():
        if not os.access(folder / name, os.X_OK):
            parser.error(f"there is no {name} in {folder}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    started = time.monotonic()

    def tell(test: runner.Test) -> None:
        if test.outcome == "failed" or options.marked and test.outcome == "as marked":
            print(f"{test.outcome.upper()} {test.id}: {test.name}", flush=True)
            print("".join(f"    {line}\n" for line in test.what.splitlines()), end="", flush=True)
    runner.run(chosen, folders, options.lanes, tell)
    if options.events:
        events.write(options.events, chosen)
    counts = {outcome: sum(test.outcome == outcome for test in chosen) for outcome in ("passed", "failed", "as marked", "skipped")}
    print(f"interoperability: {counts['passed']} passed, {counts['failed']} failed, {counts['as marked']} fail as marked, "
          f"{counts['skipped']} skipped, in {time.monotonic() - started:.0f} s")
    return 1 if counts["failed"] or not counts["passed"] + counts["as marked"] else 0


if __name__ == "__main__":
    sys.exit(main())
