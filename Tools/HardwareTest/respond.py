"""The other machine of `Tools/hardware-test --peer`: receives files, bytes and messages from whoever comes, until interrupted.

It takes files of any device in Bluetooth range and throws them away, and with --listen serves the adapter to whoever reaches that
address: run it only as long as the test takes."""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from subjects import Bench, address_of, enlarge_buffers

NAME, SESSION = "Piconet hardware test", "piconet-hardware-test"
# Where the bare program waits; above what bluetoothd gives out by itself.
PSM = {"receive": 0x1071, "echo": 0x1073}
CHANNEL = {"receive": 28, "echo": 29}
TRIPS = 500


def bare(programs, address, total):
    for transport, ports, piece in (("l2cap", PSM, 32668), ("rfcomm", CHANNEL, 65536)):
        for role in ("receive", "echo"):
            count, size = (total, piece) if role == "receive" else (TRIPS, 64)
            yield [os.path.join(programs, "bluetooth-baseline"), role, transport, address, "-", str(ports[role]), str(count), str(size)]


def main():
    parser = argparse.ArgumentParser(prog="Tools/hardware-test respond", description=__doc__)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--listen")
    options = parser.parse_args()
    # In L2CAP's basic mode nothing slows a sender down: a bare receiver without room loses what comes, and the channel.
    enlarge_buffers()
    adapter = os.environ["PICONET_ADAPTERS"].split(",")[0]
    address = address_of(adapter)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="piconet-responder.") as folder:
        wanted = list(bare(options.programs, address, options.size))
        wanted.append([os.path.join(options.programs, "imagerecv"), "--name", NAME, "--session", SESSION, "--accept", "all", "--any",
                       "--max-size", "16M", "--count", "1", "--directory", folder, "--adapter", adapter, "--transport", "bluetooth"])
        own = {**os.environ, "XDG_STATE_HOME": os.path.join(folder, ".state"), "XDG_CACHE_HOME": os.path.join(folder, ".cache")}
        fingerprint = subprocess.run([os.path.join(options.programs, "imagerecv"), "--fingerprint"], stdin=subprocess.DEVNULL,
                                     capture_output=True, env=own, check=True, text=True).stdout.strip()
        agent = None
        running = {}
        # The bare sockets have to be reached also while imagerecv starts anew.
        before = [(key, kind, value) for key, kind, wish in (("DiscoverableTimeout", "u", "0"), ("Discoverable", "b", "true"))
                  for value in Bench.exchange(adapter, key, kind, wish)]
        try:
            if options.listen:
                agent = subprocess.Popen([os.path.join(options.programs, "far-adapter"), "--listen", options.listen, "--adapter",
                                          adapter], stdin=subprocess.DEVNULL,
                                         start_new_session=True)  # a second signal, the terminal's, would end it at once
            print(f"responding at {address}: Tools/hardware-test --peer {address} --fingerprint {fingerprint}" + (
                f" --far {options.listen}" if options.listen else ""), flush=True)
            while True:
                if agent is not None and agent.poll() is not None:
                    sys.exit(f"far-adapter ended with {agent.returncode}")
                for index, words in enumerate(wanted):
                    child = running.get(index)
                    if child is not None and child.poll() is None:
                        continue
                    if child is not None and child.returncode != 0:
                        print(f"{os.path.basename(words[0])} {words[1]} ended with {child.returncode}", flush=True)
                        time.sleep(1)
                    for name in (name for name in os.listdir(folder) if name != ".state"):
                        path = os.path.join(folder, name)
                        # A sender may have had folders made.
                        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
                    running[index] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=own)
                time.sleep(0.2)
        except KeyboardInterrupt:
            pass
        finally:
            children = list(running.values()) + ([agent] if agent is not None else [])
            for child in children:
                child.terminate()
            for child in children:
                child.wait()
            for key, kind, value in before:
                Bench.exchange(adapter, key, kind, value)


if __name__ == "__main__":
    main()
