"""Figures between real adapters, and the report. Started by Tools/hardware-test."""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import time

import adapters
import air
from processes import Failure, Process
from respond import CHANNEL, NAME, PSM, SESSION, TRIPS
from rounds import figures, measure, ratio
from subjects import Bench, SDU, address_of, enlarge_buffers


class Peer:
    """The figures between an adapter here and a machine that responds, whose imagerecv has this fingerprint."""

    def __init__(self, bench, peer, fingerprint):
        self.bench, self.peer, self.fingerprint = bench, peer, fingerprint

    def tools(self, transport):
        bench = self.bench
        start = time.monotonic()
        with Process([bench.program("imagesend"), "--to", NAME, "--fingerprint", self.fingerprint, "--session", SESSION, "--any",
                      "--adapter", bench.adapters[0], "--transport", transport, "--json", bench.file],
                     {"XDG_STATE_HOME": os.path.join(bench.folder, "sender"),
                      "XDG_CACHE_HOME": os.path.join(bench.folder, "sender", "cache")}) as sender:
            found = sender.event("found", 60)[1] - start
            connected = sender.event("connected", 60)[1]
            stored = sender.event("stored", 300)[1]
            sender.event("finished")
        time.sleep(2)  # the other side starts anew
        return {"mb_s": bench.size / (stored - connected) / 1e6, "found_s": found, "whole_s": stored - start}

    def bare(self, transport):
        port, piece = (PSM["receive"], SDU) if transport == "l2cap" else (CHANNEL["receive"], 65536)
        with Process([self.bench.program("bluetooth-baseline"), "send", transport, self.bench.addresses[0], self.peer, str(port),
                      str(self.bench.size), str(piece)]) as sender:
            line = sender.until("seconds", 300)[0]
        time.sleep(1)
        return {"mb_s": self.bench.size / json.loads(line)["seconds"] / 1e6}

    def bare_trip(self, transport):
        port = (PSM if transport == "l2cap" else CHANNEL)["echo"]
        with Process([self.bench.program("bluetooth-baseline"), "ping", transport, self.bench.addresses[0], self.peer, str(port),
                      str(TRIPS), "64"]) as sender:
            line = sender.until("p50_us", 120)[0]
        time.sleep(1)
        return {"us": json.loads(line)["p50_us"]}


def inquiry(adapter):
    """How long hcitool takes to look around: what finding a peer is compared with."""
    start = time.monotonic()
    got = subprocess.run(["hcitool", "-i", adapter, "inq", "--flush"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                         check=False)
    if got.returncode != 0:
        raise Failure("hcitool inq: " + got.stderr.decode(errors="replace").strip())
    return time.monotonic() - start


def signal_of(bench, missing):
    """How strongly the adapter hears the machine that responds, in dBm, as `piconet scan` reports it."""
    scan = [bench.program("piconet"), "scan", "--json", "--session", SESSION, "--transport", "bluetooth", "--adapter",
            bench.adapters[0]]
    heard = None
    with Process(scan, {"XDG_STATE_HOME": os.path.join(bench.folder, "scanner")}) as scanning:
        end = time.monotonic() + 30
        try:
            while heard is None:
                line = scanning.until('"event":"', max(0.1, end - time.monotonic()))[0]
                heard = json.loads(line).get("signal")
        except Failure as failure:
            missing.append(f"signal strength: {failure}")
    return heard


# What Swift Testing says about a test whose list of transports is empty here, and what that means.
NO_CASES = "No test cases found."
WHY_NO_CASES = "no transport here has what it needs: a third adapter, or emulated air (PICONET_FAULTS) that can be made worse"


def suites(path, status):
    with open(path, errors="replace") as file:
        text = file.read()
    if not text:
        return {"ran": False, "skipped": [], "failed": [], "passed": None}
    count = re.findall(r"Test run with (\d+) tests?", text)
    skipped = sorted({(name, WHY_NO_CASES if why == NO_CASES else why)
                      for name, why in re.findall(r'(?:Test|Suite) (.*?) skipped(?:: "(.*?)")?\.?$', text, re.MULTILINE)})
    failed = sorted(set(re.findall(r"^\S* ?Test ((?!run with ).*?) failed after", text, re.MULTILINE)))
    return {"ran": True, "passed": status == 0, "tests": sum(map(int, count)), "skipped": skipped, "failed": failed}


def numbers(options, bench, found, missing, say):
    peer = Peer(bench, options.peer, options.fingerprint) if options.peer else None
    has_buffers = enlarge_buffers()
    speed, trips = {}, {}
    for transport in ("l2cap", "rfcomm"):
        ours = peer.tools if peer else lambda transport: bench.tools(transport, finds=True)
        bare = peer.bare if peer else bench.bare
        speed[f"Piconet over {transport}"] = lambda transport=transport, ours=ours: ours(transport)
        if peer is None:
            speed["l2test" if transport == "l2cap" else "rctest"] = lambda transport=transport: bench.bluez(transport)
            trips[f"Piconet over {transport}"] = lambda transport=transport: bench.our_trip(transport, TRIPS)
        speed[f"bare {transport} in C"] = lambda transport=transport, bare=bare: bare(transport)
        trips[f"bare {transport} in C"] = lambda transport=transport: (
            peer.bare_trip(transport) if peer else bench.bare_trip(transport, TRIPS))
    if peer:
        missing.append("l2test and rctest: between two machines neither tells the sender when all has arrived; bare sockets in C do")
        missing.append("round trips of Piconet: between two machines only those of bare sockets are taken")
    elif not has_buffers:
        del speed["l2test"]
        missing.append("l2test: needs net.core.wmem_default=2097152 and net.core.rmem_default=8388608, which need root")
    reasons = {}
    found["goodput"] = measure(options.rounds, speed, say, reasons)
    found["trips"] = measure(options.rounds, trips, say, reasons)
    for name, results in list(found["goodput"].items()) + list(found["trips"].items()):
        if not any(results):
            missing.append(f"{name}: no round succeeded: {reasons.get(name, 'no time was told')}")
    try:
        found["inquiry_s"] = inquiry(bench.adapters[0])
    except (Failure, OSError, subprocess.TimeoutExpired) as failure:
        missing.append(f"an inquiry to compare with: {failure}")
    if options.peer:
        found["rssi"] = signal_of(bench, missing)
    elif os.getuid() == 0:
        trace_transfer(bench, found, missing)
    else:
        missing.append("bytes on the air: a trace by btmon needs CAP_NET_RAW")


def trace_transfer(bench, found, missing):
    try:
        trace = air.of_transfer(bench, "l2cap")
        # The kernel drops what btmon is too slow to take, and does not say so.
        if trace["sent"] < bench.size:
            raise Failure(f"btmon was too slow: it has seen {trace['sent']} of more than {bench.size} bytes")
        found["trace"] = trace
    except (Failure, OSError, ValueError) as failure:
        missing.append(f"bytes on the air: {failure}")


def report(found, missing):
    machine, tested = found["machine"], found["suites"]
    lines = ["# Piconet on these adapters", "", f"{found['date']}, Linux {machine['kernel']}, BlueZ {machine['bluez'] or 'unknown'}, "
             f"as {machine['user']}" + (f", with {found['peer']}" if found["peer"] else "") + ".", "",
             "| adapter | address | chip | driver | manufacturer | HCI | LMP | firmware | ACL |", "|---|---|---|---|---|---|---|---|---|"]
    for adapter in found["adapters"]:
        lines.append("| " + " | ".join(str(adapter.get(key) or "unknown") for key in (
            "name", "address", "chip", "driver", "manufacturer", "hci_version", "lmp_version", "firmware", "acl")) + " |")
    lines += ["", "## Suites", ""]
    if tested["ran"]:
        where = f"With nodes here and at the far adapter at {found['far']}: " if found["far"] else ""
        lines.append(f"{where}{tested['tests']} tests ran: " + ("all passed." if tested["passed"] else "FAILED: " + "; ".join(tested["failed"])))
        lines += [f"- skipped: {name}" + (f" ({why})" if why else "") for name, why in tested["skipped"]]
    else:
        lines.append("Not run: between two machines without --far, or with --figures, only figures are taken.")
    if "goodput" not in found:
        return "\n".join(lines + ["", "No figures were taken: --suites."]) + "\n"
    lines += ["", f"## Figures ({found['rounds']} rounds in turn; medians, least to greatest)", "", "| | |", "|---|---|"]
    for key, results, unit in (("mb_s", found.get("goodput", {}), "MB/s"), ("us", found.get("trips", {}), "us for 64 B and back")):
        for name, got in results.items():
            values = [each[key] for each in got if each]
            if values:
                middle, least, most = figures(values)
                lines.append(f"| {name} | {middle:.4g} {unit} ({least:.4g} to {most:.4g}) |")
    for transport, tool in (("l2cap", "l2test"), ("rfcomm", "rctest")):
        results = found.get("goodput", {})
        for other in (tool, f"bare {transport} in C"):
            mine = f"Piconet over {transport}"
            share = ratio(results, "mb_s", mine, other) if mine in results and other in results else None
            if share:
                lines.append(f"| {mine}, against {other} | {share[0]:.2f} ({share[1]:.2f} to {share[2]:.2f}) |")
    seen = [each["found_s"] for name, got in found.get("goodput", {}).items() if "Piconet" in name for each in got if each]
    if seen:
        middle, least, most = figures(seen)
        lines.append(f"| start of imagesend to found | {middle:.2f} s ({least:.2f} to {most:.2f}) |")
    if found.get("inquiry_s"):
        lines.append(f"| hcitool inq | {found['inquiry_s']:.2f} s |")
    if found.get("rssi") is not None:
        lines.append(f"| signal | {found['rssi']} dBm |")
    if found.get("trace"):
        lines.append(f"| sent on the air for each byte of the file, L2CAP | {found['trace']['sent'] / found['size']:.4f} |")
    lines += ["", "## Not measured, and why", ""] + ([f"- {reason}" for reason in missing] or ["Nothing was left out."])
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="Tools/hardware-test", description=__doc__)
    for name in ("--programs", "--report", "--suites"):
        parser.add_argument(name, required=True)
    parser.add_argument("--suites-status", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--peer")
    parser.add_argument("--fingerprint")
    parser.add_argument("--far")
    parser.add_argument("--no-figures", action="store_true")
    options = parser.parse_args()
    names = os.environ["PICONET_ADAPTERS"].split(",")
    say = lambda words: print(words, file=sys.stderr, flush=True)
    missing = []
    found = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "machine": adapters.machine(),
             "adapters": [adapters.adapter(name) for name in names], "peer": options.peer, "far": options.far, "rounds": options.rounds, "size": options.size,
             "suites": suites(options.suites, options.suites_status)}
    if not options.no_figures:
        bench = Bench(options.programs, names, [address_of(name) for name in names], options.size)
        try:
            numbers(options, bench, found, missing, say)
        finally:
            bench.close()
    found["missing"] = missing
    text = report(found, missing)
    for name, content in (("report.md", text), ("report.json", json.dumps(found, indent=1) + "\n")):
        with open(os.path.join(options.report, name), "w") as file:
            file.write(content)
    print(text)
    print(f"report: {os.path.abspath(options.report)}/report.md and report.json")
    mine = [results for name, results in found.get("goodput", {}).items() if "Piconet" in name]
    return 0 if all(any(results) for results in mine) else 1


if __name__ == "__main__":
    sys.exit(main())
