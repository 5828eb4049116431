"""Measures Piconet against plain blocking sockets with OpenSSL, side by side. Started by Tools/benchmark."""
import argparse
import datetime
import os
import shutil
import sys
import tempfile

import instructions
import measurements
import table
from processes import Failed
from table import Subject

MICROSECONDS = ("p50", "us", "{:.1f}")
THROUGHPUT = ("gb_s", "GB/s", "{:.2f}")
RATE = ("rate", "/s", "{:,.0f}")
MILLISECONDS = ("ms", "ms", "{:.0f}")


def at_most(limit):
    return lambda value: value <= limit


def at_least(limit):
    return lambda value: value >= limit


def round_trips(bench, ours, options):
    groups = []
    for size in (64, 1000):
        for words, cpus in (("one core", bench.same), ("two cores", bench.two)):
            def measure(program, size=size, cpus=cpus):
                return lambda: measurements.round_trip(bench, program, size, options.trips, cpus)
            baseline = Subject("baseline", MICROSECONDS, measure(bench.baseline))
            piconet = Subject(
                options.subject, MICROSECONDS, measure(ours), baseline, [("<= 1.5 x", "ratio", "p50", at_most(1.5))])
            groups.append((f"(a) round trip of {size} B, {words}", [piconet, baseline]))
    return groups


def files(bench, ours, options):
    def measure(program, *more):
        return lambda: measurements.bulk(bench, program, list(more), bench.two)
    targets = [
        (">= 0.8 x its throughput", "ratio", "gb_s", at_least(0.8)), ("<= 1.25 x its CPU", "ratio", "cpu", at_most(1.25)),
        ("< 32 MiB", "value", "rss", lambda value: value < 32),
    ]
    baseline = Subject("baseline", THROUGHPUT, measure(bench.baseline))
    # The same job: Piconet hashes the file at both ends and compares.
    hashing = Subject("baseline with SHA-256 at both ends", THROUGHPUT, measure(bench.baseline, "--sha256"), baseline)
    subjects = [Subject(options.subject, THROUGHPUT, measure(ours), baseline, targets)]
    if not options.control:
        subjects.append(Subject(
            "imagesend to imagerecv, start to end", THROUGHPUT, lambda: measurements.tools_bulk(bench, bench.two), baseline,
            targets))
    for subject in subjects:
        subject.same_job = hashing
    return [(f"(b) file of {options.mebibytes} MiB", subjects + [baseline, hashing])]


def rates(bench, ours, options):
    groups = []
    for size, count in ((64, options.messages), (1000, options.messages // 8)):
        def measure(program, size=size, count=count):
            return lambda: measurements.rate(bench, program, size, count, bench.two)
        baseline = Subject("baseline", RATE, measure(bench.baseline))
        targets = [(">= 1,000,000/s", "value", "rate", at_least(1e6))] if size == 64 else []
        groups.append((f"(c) messages of {size} B", [Subject(options.subject, RATE, measure(ours), baseline, targets), baseline]))
    return groups


def photos(bench, ours, options):
    if options.control:
        return []
    subject = Subject(
        "start of imagesend to stored", MILLISECONDS, lambda: measurements.tools_photo(bench, bench.two),
        targets=[("< 500 ms", "value", "ms", lambda value: value < 500)])
    return [("(d) one photo of 3 MB, found by name", [subject])]


def lanes(bench, ours, options):
    if options.control:
        return []
    subject = Subject(
        "Piconet", ("p99", "ms, 99th percentile", "{:.1f}"),
        lambda: measurements.message_beside_file(bench, options.beside, ["rate=2000", "queue=30000"]),
        targets=[("<= 60 ms", "value", "p99", at_most(60)), ("of 250 kB/s for the file", "value", "kb_s", at_least(200))])
    return [("(e) message of 64 B beside a file, 2 Mbit/s", [subject])]


def failovers(bench, ours, options):
    if options.control:
        return []
    def phases(subject):
        return (f"noticed after {table.median(subject, 'noticed'):.1f} ms, the other way found "
                f"{table.median(subject, 'found'):.1f} ms later")
    silence = Subject(
        "a cable is pulled, nobody is told", ("ms", "ms", "{:.0f}"), lambda: measurements.failover_after_silence(bench),
        targets=[("<= 11 s, 10 of which are the silence", "value", "ms", at_most(11_000))], remark=phases)
    # Each takes the silence after which a link is taken for dead.
    silence.most_rounds = 3
    reset = Subject(
        "the connection is reset", ("ms", "ms", "{:.1f}"), lambda: measurements.failover_after_reset(bench),
        targets=[("<= 100 ms", "value", "ms", at_most(100))], remark=phases)
    return [("(f) from the cut to the next message over the other way", [subject]) for subject in (reset, silence)]


def many_peers(bench, ours, options):
    if options.control:
        return []
    groups = []
    for count in (8, 64, 256):
        def remark(subject):
            return (f"{table.median(subject, 'kib'):.0f} KiB a peer; while nothing is sent {table.median(subject, 'idle'):.0f} us of "
                    f"processor time a second for each, {table.median(subject, 'wakeups'):.0f} wakeups a second in all")
        subject = Subject(
            "one of them", MICROSECONDS,
            lambda count=count: measurements.peers(bench, count, options.trips // 4, options.idle), remark=remark,
            targets=[("<= 64 KiB a peer", "value", "kib", at_most(64)), ("<= 50 us/s a peer", "value", "idle", at_most(50))])
        subject.most_rounds = 3
        groups.append((f"(g) round trip of 64 B, two cores, {count} peers connected", [subject]))
    return groups


def calls(bench, ours, options):
    if options.control:
        return []
    def remark(subject):
        return (f"{table.median(subject, 'ratio'):.2f} times the round trip of a message of 64 B between such tasks of the same processes, "
                f"{table.median(subject, 'message'):.1f} us (on the nodes' threads {table.median(subject, 'fastest'):.1f}); "
                f"8 callers at once: {table.median(subject, 'rate'):.0f} calls a second")
    return [("(i) call of an object with two short strings, two cores", [
        Subject(
            name, MICROSECONDS, lambda more=more: measurements.calls(bench, options.trips, more), remark=remark,
            targets=[("<= 2 times the message", "value", "ratio", at_most(2)), (">= 40,000 calls/s", "value", "rate", at_least(40_000))])
        for name, more in (("between ordinary tasks", []), ("between the nodes' own threads", ["--on-node-thread"]))])]


def paces(bench, ours, options):
    if options.control:
        return []
    figure = ("p99", "us, 99th percentile", "{:.0f}")
    def remark(subject):
        return f"half of them within {table.median(subject, 'p50'):.0f} us"
    node = Subject("import Piconet", figure, lambda: measurements.pace(bench, "piconet", options.pace), remark=remark)
    facade = Subject(
        "import MultipeerConnectivity", figure, lambda: measurements.pace(bench, "facade", options.pace), node,
        [("<= 2 x", "ratio", "p99", at_most(2))], remark)
    for subject in (node, facade):
        subject.most_rounds = 3
    return [(f"(j) 10,000 messages of 60 B a second for {options.pace} s, one way, two cores", [facade, node])]


def relays(bench, ours, options):
    if options.control:
        return []
    groups = []
    def compare(title, unit, measure, target):
        copy = Subject("two links, and a program that copies", unit, lambda: measure("copy"))
        groups.append((title, [Subject("over a relay", unit, lambda: measure("relay"), copy, [target] if target else []), copy]))
    compare("(k) round trip of 64 B with one node between", MICROSECONDS,
            lambda way: measurements.round_trip_between(bench, way, 64, options.trips // 4), ("<= 1.3 x", "ratio", "p50", at_most(1.3)))
    megabytes = ("mb_s", "MB/s", "{:.0f}")
    for title, mode, size in (("messages of 1000 B", "rate", 1_000), ("a stream in writes of 16,000 B", "stream", 16_000)):
        # So long that the beginning of a connection does not count.
        count = max(100_000_000, options.messages * 20) // size
        # Each of the three is a device in truth: with the ends on one processor the two of them are what limits.
        compare(f"(k) {title} with one node between, half a processor each", megabytes,
                lambda way, mode=mode, size=size, count=count: measurements.rate_between_alike(bench, way, mode, size, count),
                (">= 0.8 x", "ratio", "mb_s", at_least(0.8)))
        compare(f"(k) {title} with one node between, the ends on one processor", megabytes,
                lambda way, mode=mode, size=size, count=count: measurements.rate_between(bench, way, mode, size, count), None)
    groups.append(("(k) message of 64 B beside a file, over a relay, 2 Mbit/s", [Subject(
        "Piconet", ("p99", "ms, 99th percentile", "{:.1f}"),
        lambda: measurements.message_beside_file_between(bench, options.beside, ["rate=2000", "queue=30000"]),
        targets=[("<= 120 ms", "value", "p99", at_most(120)), ("of 250 kB/s for the file", "value", "kb_s", at_least(150))])]))
    def remark(subject):
        return (f"{table.median(subject, 'frames'):.0f} control frames for each until all {64 * 63} are there, after "
                f"{table.median(subject, 's'):.1f} s; while nothing is said {table.median(subject, 'idle'):.2f} a second")
    group = Subject("each of the 63 members of each node", ("kib", "KiB", "{:.0f}"),
                    lambda: measurements.group(bench, 64, options.idle), remark=remark)
    group.most_rounds = 1
    groups.append(("(k) a group of 64, all in one process", [group]))
    return groups


def tell(words):
    print(words, file=sys.stderr, flush=True)


def machine():
    model = next(
        (line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "processor unknown")
    memory = int(open("/proc/meminfo").readline().split()[1]) / 2**20
    return f"{len(os.sched_getaffinity(0))} cores ({model}), {memory:.0f} GiB, Linux {os.uname().release}"


def main():
    parser = argparse.ArgumentParser(prog="Tools/benchmark", description=__doc__, epilog="""\
        Prints a Markdown table: medians of all rounds with the least and the greatest; ratios are taken within a round. Exits with
        0 if everything could be measured, whether or not the targets are met, and with 1 if not.""")
    parser.add_argument("--only", default="abcdefghijk", help="some of a (round trip), b (file), c (rate), d (photo), e (lanes), f (failover), g (many peers), h (instructions of a round trip), i (calls of objects), j (Multipeer Connectivity at a pace), k (over relays, and groups); default abcdefghijk")
    parser.add_argument(
        "--instructions", action="store_true",
        help="only h, which a busy machine does not change: what a round trip executes, counted by valgrind, by kind and by module")
    parser.add_argument("--repeats", type=int, default=7, help="rounds of each; default 7")
    parser.add_argument("--quick", action="store_true", help="3 rounds of a tenth of the work: to see that it runs")
    parser.add_argument(
        "--control", action="store_true", help="the baseline in Piconet's place: what a ratio is worth on this machine")
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.instructions:
        options.only = "h"
    options.trips, options.messages, options.mebibytes, options.beside, options.idle, options.pace = 20_000, 8_000_000, 1024, 500, 10, 60
    options.subject = "the baseline again" if options.control else "Piconet"
    if options.quick:
        options.repeats, options.trips, options.messages, options.mebibytes, options.beside, options.idle = 3, 2_000, 800_000, 100, 150, 3
        options.pace = 6

    cpus = sorted(os.sched_getaffinity(0))
    folder = tempfile.mkdtemp(prefix="piconet-benchmark.", dir="/dev/shm")
    try:
        bench = measurements.Bench(options.programs, folder, (cpus[0], cpus[0]), (cpus[0], cpus[-1]))
        if options.only == "h":
            return count_instructions(bench, options)
        bench.warm_up(options.mebibytes << 20)
        ours = bench.baseline if options.control else bench.ours
        groups = []
        for letter, make in (("a", round_trips), ("b", files), ("c", rates), ("d", photos), ("e", lanes),
                             ("f", failovers), ("g", many_peers), ("i", calls), ("j", paces), ("k", relays)):
            if letter in options.only:
                groups += make(bench, ours, options)
        before = os.getloadavg()[0]
        table.run(groups, options.repeats, tell)
        report(groups, options, before)
        counted = count_instructions(bench, options) if "h" in options.only else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if table.all_measured(groups) and counted == 0 else 1


def report(groups, options, before):
    print(f"{datetime.date.today().isoformat()}, {machine()}. {options.repeats} rounds, the programs in turn, pinned, "
          "127.0.0.1, cubic, TLS_AES_128_GCM_SHA256.")
    if before > 0.5:
        print(f"The machine was not idle: load average {before:.1f} at the start.")
    print()
    for line in table.write(groups):
        print(line)


def count_instructions(bench, options):
    programs = [bench.baseline if options.control else bench.ours, bench.baseline]
    try:
        lines = list(instructions.write([options.subject, "baseline"], programs, bench.folder, tell))
    except Failed as failure:
        tell(f"instructions: not counted: {failure}")
        return 1
    print("\n".join(["", *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
