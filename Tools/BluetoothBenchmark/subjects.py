"""What is measured: each function makes one measurement between two adapters and returns its figure."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from processes import PATIENCE, Failure, Process

SDU = 32668  # 32 whole 3-DH5 packets less the L2CAP header
RFCOMM_WRITE = 8064  # eight RFCOMM frames of BlueZ; rctest blocks, and stands still with writes of 16 kB
RFCOMM_FILLING = 1008  # a frame that fits one 3-DH5 packet, which those of BlueZ do not: better where the air takes its time


def enlarge_buffers():
    """As root: l2test has no option for its send buffer, and stands still with large SDUs and the default; and nothing slows a sender
    down in L2CAP's basic mode, so that what a receiver has no room for is lost, and the channel with it."""
    if os.getuid() != 0:
        return False
    sizes = {"net.core.wmem_max": 4 << 20, "net.core.wmem_default": 2 << 20, "net.core.rmem_max": 16 << 20,
             "net.core.rmem_default": 8 << 20}
    return subprocess.run(["sysctl", "-qw"] + [f"{key}={value}" for key, value in sizes.items()], check=False).returncode == 0


class Bench:
    """The two adapters, the programs, and a file to send."""

    def __init__(self, programs, adapters, addresses, size, paced=True):
        self.programs, self.adapters, self.addresses, self.size, self.paced = programs, adapters, addresses, size, paced
        self.folder = tempfile.mkdtemp(prefix="piconet-bluetooth.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.file = os.path.join(self.folder, "file")
        with open(self.file, "wb") as file:
            file.write(os.urandom(size))
        self.port = 0
        self.obex = None
        # What waits for connections with bare sockets does not ask bluetoothd for it, so we do, and take it back.
        self.before = [(name, key, kind, value) for name in adapters
                       for key, kind, value in (("DiscoverableTimeout", "u", "0"), ("Discoverable", "b", "true"))
                       for value in self.exchange(name, key, kind, value)]

    @staticmethod
    def exchange(adapter, key, kind, value):
        """Sets a property of bluetoothd's adapter; what it was, or nothing where there is no bluetoothd."""
        place = ["org.bluez", f"/org/bluez/{adapter}", "org.bluez.Adapter1", key]
        was = subprocess.run(["busctl", "get-property"] + place, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if was.returncode != 0:
            return []
        subprocess.run(["busctl", "set-property"] + place + [kind, value], stdin=subprocess.DEVNULL, check=False)
        return [was.stdout.split()[1]]

    def close(self):
        for name, key, kind, value in self.before:
            self.exchange(name, key, kind, value)
        for process in self.obex or ():
            process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name):
        return os.path.join(self.programs, name)

    def psm(self):
        """Odd, and another each time: the last one may not be free yet."""
        self.port = (self.port + 1) % 100
        return 0x1001 + 2 * (self.port + 20)

    def channel(self):
        self.port = (self.port + 1) % 10
        return 20 + self.port

    def tools(self, transport, finds=False, seconds=60):
        """imagesend to imagerecv: MB/s from connected to stored; dialled by address, or found by name."""
        session = f"benchmark-{os.getpid()}"
        target = tempfile.mkdtemp(dir=self.folder)
        state = [{"XDG_STATE_HOME": os.path.join(self.folder, side), "XDG_CACHE_HOME": os.path.join(self.folder, side, "cache")}
                 for side in ("receiver", "sender")]
        try:
            with Process([self.program("imagerecv"), "--name", "Benchmark", "--session", session, "--accept", "all", "--count", "1",
                          "--any", "--directory", target, "--adapter", self.adapters[1], "--transport", transport, "--json"],
                         state[0]) as receiver:
                listening = receiver.event("listening")[0]
                whom = ["--to", "Benchmark"] if finds else ["--address", listening["addresses"][0]]
                with Process([self.program("imagesend"), *whom, "--fingerprint", listening["peer"], "--session", session, "--any", "--adapter",
                              self.adapters[0], "--transport", transport, "--json", self.file], state[1]) as sender:
                    start = time.monotonic()
                    found = sender.event("found", seconds)[1] - start if finds else None
                    connected = sender.event("connected", seconds)[1]
                    stored = sender.event("stored", seconds)[1]
                    sender.event("finished")
            got = {"mb_s": self.size / (stored - connected) / 1e6, "whole_s": stored - start}
            return {**got, "found_s": found} if finds else got
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def bare(self, transport):
        """The C program over the same kind of socket, with the options that are best here."""
        port = self.psm() if transport == "l2cap" else self.channel()
        piece = SDU if transport == "l2cap" else RFCOMM_FILLING if self.paced else 65536
        words = ["-", str(port), str(self.size), str(piece)]
        program = self.program("bluetooth-baseline")
        with Process([program, "receive", transport, self.addresses[1]] + words) as receiver:
            receiver.until("READY")
            words[0] = self.addresses[1]
            with Process([program, "send", transport, self.addresses[0]] + words) as sender:
                line = receiver.until("seconds", 60)[0]
                sender.until("seconds", 10)
        return {"mb_s": self.size / float(re.search(r'"seconds":([0-9.]+)', line)[1]) / 1e6}

    def bluez(self, transport):
        """BlueZ's own l2test or rctest."""
        if transport == "l2cap":
            tool, port, piece = "l2test", self.psm(), SDU
            receives, sends = ["-I", str(SDU)], ["-O", str(SDU), "-g", "3000"]
        else:
            tool, port, piece = "rctest", self.channel(), RFCOMM_FILLING if self.paced else RFCOMM_WRITE
            receives, sends = [], []
        if shutil.which(tool) is None:
            raise Failure(f"no {tool} (package bluez-test-tools)")
        with Process([tool, "-i", self.adapters[1], "-r", "-P", str(port), "-b", str(self.size)] + receives, merge=True) as receiver:
            receiver.until("Waiting for connection")
            count = self.size // piece + 2
            with Process([tool, "-i", self.adapters[0], "-s", "-P", str(port), "-b", str(piece), "-N", str(count)] + sends
                         + [self.addresses[1]], merge=True):
                line = receiver.until("bytes in", 60)[0]
        received, seconds = re.search(r"(\d+) bytes in ([0-9.]+) sec", line).groups()
        return {"mb_s": int(received) / float(seconds) / 1e6}

    def push(self):
        """An object push by obexd, which is both ends of it."""
        target = os.path.join(self.folder, "pushed")
        if self.obex is None:
            daemon = next((path for path in ("/usr/libexec/bluetooth/obexd", "/usr/lib/bluetooth/obexd") if os.path.exists(path)), None)
            if daemon is None or shutil.which("dbus-daemon") is None:
                raise Failure("no obexd (package bluez-obexd) or no dbus-daemon")
            os.makedirs(target)
            bus = Process(["dbus-daemon", "--session", "--nofork", "--print-address"], merge=True)
            os.environ["DBUS_SESSION_BUS_ADDRESS"] = bus.line()[0]
            self.obex = [Process([daemon, "-n", "-a", "-r", target], merge=True), bus]
            deadline = time.monotonic() + 10 * PATIENCE
            while "org.bluez.obex" not in self.names() and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(1)  # its service record is bluetoothd's by then
        for name in os.listdir(target):
            os.unlink(os.path.join(target, name))
        with Process([self.program("bluetooth-baseline"), "push", self.addresses[0], self.addresses[1], self.file]) as sender:
            line = sender.until("seconds", 120)[0]
        if sum(os.path.getsize(os.path.join(target, name)) for name in os.listdir(target)) != self.size:
            raise Failure("obexd did not store the whole file")
        return {"mb_s": self.size / float(re.search(r'"seconds":([0-9.]+)', line)[1]) / 1e6}

    @staticmethod
    def names():
        with Process(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"],
                     merge=True) as asked:
            while asked.line() is not None:
                pass
            return " ".join(asked.said)

    def bare_trip(self, transport, trips, size=64):
        port = self.psm() if transport == "l2cap" else self.channel()
        program = self.program("bluetooth-baseline")
        more = [str(port), str(trips), str(size)]
        with Process([program, "echo", transport, self.addresses[1], "-"] + more) as receiver:
            receiver.until("READY")
            with Process([program, "ping", transport, self.addresses[0], self.addresses[1]] + more) as sender:
                line = sender.until("p50_us", 60)[0]
        return {"us": float(re.search(r'"p50_us":([0-9.]+)', line)[1])}

    def our_trip(self, transport, trips, size=64):
        more = ["--transport", transport, "--size", str(size), "--count", str(trips)]
        program = self.program("piconet-benchmark")
        with Process([program, "pingpong", "--server", "--adapter", self.adapters[1]] + more) as receiver:
            place = receiver.until("READY")[0].split()[1]
            with Process([program, "pingpong", "--client", "--adapter", self.adapters[0], "--address", place] + more) as sender:
                line = sender.until("p50_us", 60)[0]
        return {"us": float(re.search(r'"p50_us":([0-9.]+)', line)[1])}

    def our_call(self, transport, calls):
        """A call of an object with two short strings, and a message's round trip between the same two."""
        more = ["--transport", transport, "--count", str(calls)]
        program = self.program("piconet-benchmark")
        with Process([program, "calls", "--server", "--adapter", self.adapters[1]] + more) as receiver:
            place = receiver.until("READY")[0].split()[1]
            with Process([program, "calls", "--client", "--adapter", self.adapters[0], "--address", place] + more) as sender:
                line = sender.until("call_p50_us", 60)[0]
        call, message = (float(re.search(rf'"{what}_p50_us":([0-9.]+)', line)[1]) for what in ("call", "message"))
        return {"us": call, "message_us": message, "times": call / message}


def address_of(adapter):
    """The address of hciN, from the kernel: ioctl HCIGETDEVINFO, whose answer is struct hci_dev_info."""
    import fcntl
    info = bytearray(100)
    info[0:2] = int(adapter[3:]).to_bytes(2, "little")
    with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as hci:
        fcntl.ioctl(hci.fileno(), 0x800448D3, info)
    return ":".join(f"{octet:02X}" for octet in reversed(info[10:16]))
