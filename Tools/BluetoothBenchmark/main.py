"""Measures Piconet over Bluetooth against BlueZ's own tools, bare sockets in C, and obexd's object push, between two
adapters of this machine. Started by Tools/bluetooth-benchmark."""
import argparse
import json
import os
import subprocess
import sys

import air
from processes import COUNTS_INSTRUCTIONS, Failure, into_memory
from rounds import figures, measure, ratio
from subjects import Bench, address_of, enlarge_buffers

TRIPS = 500
TOOLS = ["l2test", "rctest", "btmon", "busctl", "sysctl", "fault", "/usr/libexec/bluetooth/obexd", "/usr/lib/bluetooth/obexd",
         "dbus-daemon", "dbus-send"]


def main():
    parser = argparse.ArgumentParser(prog="Tools/bluetooth-benchmark", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--size", type=int, default=4 << 20, help="bytes of the file; default 4 MiB")
    parser.add_argument("--message", type=int, default=64, help="bytes of a message that goes there and back; default 64")
    parser.add_argument("--without", action="append", default=[], choices=["piconet", "push", "trips", "calls", "trace", "speed"])
    parser.add_argument("--pace", choices=["radio", "free"], default="radio",
                        help="radio (default): each packet takes the slots of 625 us that a radio without loss gives it, so that whole "
                        "3-DH5 packets carry 272,267 B/s; free: the emulated air takes what the processor gives, which shows what the "
                        "programs cost it")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    adapters = [name for name in os.environ.get("PICONET_ADAPTERS", "").split(",") if name]
    if len(adapters) < 2:
        parser.error("PICONET_ADAPTERS must name two adapters, such as hci0,hci1")
    if COUNTS_INSTRUCTIONS:
        into_memory([os.path.join(options.programs, name) for name in
                     ("imagesend", "imagerecv", "piconet-benchmark", "bluetooth-baseline")] + TOOLS)
    enlarge_buffers()
    if options.pace == "radio":
        subprocess.run(["fault", "slots", "1"], check=True, stdin=subprocess.DEVNULL)
    say = lambda words: print(words, file=sys.stderr, flush=True)

    # Real adapters have a radio's pace by themselves.
    paced = options.pace == "radio" or os.environ.get("PICONET_BLUETOOTH_VM") != "1"
    bench = Bench(options.programs, adapters, [address_of(name) for name in adapters], options.size, paced)
    found = {"rounds": options.rounds, "pace": options.pace, "clock": os.environ.get("PICONET_CLOCK", "host"), "size": options.size, "kernel": os.uname().release}
    ours = "piconet" not in options.without
    try:
        clock = "an instruction takes 1 ns" if COUNTS_INSTRUCTIONS else "of the host"
        lines = [f"Linux {found['kernel']}, the air's pace: {options.pace}, clock: {clock}, {options.rounds} rounds in turn, "
                 f"a file of {options.size} B; medians (least to greatest).", "",
                 "| | figure | Piconet against it | target |", "|---|---|---|---|"]
        if "speed" not in options.without:
            speeds = {}
            for transport in ("l2cap", "rfcomm"):
                if ours:
                    speeds[f"Piconet over {transport}"] = lambda transport=transport: bench.tools(transport)
                speeds["l2test" if transport == "l2cap" else "rctest"] = lambda transport=transport: bench.bluez(transport)
                speeds[f"bare {transport} in C"] = lambda transport=transport: bench.bare(transport)
            if "push" not in options.without:
                speeds["obexd's object push"] = bench.push
            results = found["goodput"] = measure(options.rounds, speeds, say)
            for transport, tool in (("l2cap", "l2test"), ("rfcomm", "rctest")):
                mine = f"Piconet over {transport}"
                lines += rows(results, "mb_s", "{:.2f} MB/s", mine, [
                    (tool, ">= 0.95", 0.95), (f"bare {transport} in C", "", None), ("obexd's object push", ">= 1.2", 1.2)])
        if "trips" not in options.without:
            trips = {}
            for transport in ("l2cap", "rfcomm"):
                if ours:
                    trips[f"Piconet over {transport}"] = lambda transport=transport: bench.our_trip(transport, TRIPS, options.message)
                trips[f"bare {transport} in C"] = lambda transport=transport: bench.bare_trip(transport, TRIPS, options.message)
            results = found[f"round trip of {options.message} B"] = measure(options.rounds, trips, say)
            for transport in ("l2cap", "rfcomm"):
                target = ("<= 1.2", -1.2) if transport == "l2cap" else ("", None)
                lines += rows(results, "us", "{:.0f} us", f"Piconet over {transport}", [(f"bare {transport} in C", *target)],
                              f"round trip of {options.message} B: ")
        if ours and "calls" not in options.without:
            results = found["call of an object"] = measure(
                options.rounds, {over: lambda over=over: bench.our_call(over, TRIPS) for over in ("l2cap", "rfcomm")}, say)
            for over, values in results.items():
                values = [got for got in values if got]
                if not values:
                    lines.append(f"| call of an object with two short strings over {over} | not measured | | <= 1.5: missed |")
                    continue
                times = figures([got["times"] for got in values])
                met = "met" if times[0] <= 1.5 else "missed"
                lines.append(f"| call of an object with two short strings over {over} | {figures([got['us'] for got in values])[0]:.0f} us | "
                             f"{times[0]:.2f} ({times[1]:.2f} to {times[2]:.2f}) times the round trip of a message of 64 B | <= 1.5: {met} |")
        if ours and "trace" not in options.without:
            found["trace"] = {}
            # What is on the air does not depend on the pace, but btmon may be too slow for another one.
            if os.environ.get("PICONET_BLUETOOTH_VM") == "1":
                subprocess.run(["fault", "slots", "1"], check=True, stdin=subprocess.DEVNULL)
            for transport in ("l2cap", "rfcomm"):
                try:
                    counted = air.of_transfer(bench, transport)
                except (Failure, OSError, ValueError) as failure:
                    lines.append(f"| bytes on the air over {transport} | {failure} | | <= 1.02: missed |")
                    continue
                found["trace"][transport] = counted
                each = counted["sent"] / options.size
                lines.append(f"| sent on the air over {transport} for each byte of the file | {each:.4f} | | "
                             f"<= 1.02: {'met' if each <= 1.02 else 'missed'} |")
                lines.append(f"| the same, 3-DH5 air time by slots | {options.size / (counted['slots'] * 625e-6) / 1e3:.1f} kB/s | | |")
    finally:
        bench.close()
    missed = sum(": missed" in line for line in lines)
    lines += ["", f"{sum(': met' in line for line in lines)} targets met, {missed} missed."]
    print("\n".join(lines))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({**found, "table": lines}, file, indent=1)
    return 0


def rows(results, key, words, mine, others, title=""):
    def cell(name):
        values = [got[key] for got in results.get(name, []) if got]
        if not values:
            return None
        middle, least, most = figures(values)
        return f"{words.format(middle)} ({least:.2f} to {most:.2f})" if key == "mb_s" else f"{words.format(middle)} ({least:.0f} to {most:.0f})"

    lines = []
    if mine in results:
        lines.append(f"| {title}{mine} | {cell(mine) or 'not measured'} | | |")
    for name, target, limit in others:
        if name not in results:
            continue
        against = ratio(results, key, mine, name) if mine in results else None
        met = ""
        if against and limit:
            met = ": met" if (against[0] >= limit if limit > 0 else against[0] <= -limit) else ": missed"
        share = f"{against[0]:.2f} ({against[1]:.2f} to {against[2]:.2f})" if against else ""
        lines.append(f"| {title}{name} | {cell(name) or 'not measured'} | {share} | {target}{met} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
