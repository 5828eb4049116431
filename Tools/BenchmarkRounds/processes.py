"""Starts what is measured, always as two processes, and reads the JSON line that each prints at its end."""
import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

TIMEOUT = 600.0


class Failed(Exception):
    """One measurement could not be made; the text says why."""


class Process:
    """One program whose standard output and error go to files, ended at the latest by close()."""

    def __init__(self, arguments, environment, folder, cpu=None, input=subprocess.DEVNULL):
        """With `cpu` it has that processor alone from its beginning: Swift's pool of threads is as wide as what a program has then.
        `subprocess.PIPE` as `input` stays open, with nothing to read, until close(), or until this program ends."""
        self.arguments = arguments
        self.output = tempfile.TemporaryFile("w+", dir=folder)
        self.errors = tempfile.TemporaryFile("w+", dir=folder)
        self.process = subprocess.Popen(
            arguments, stdin=input, stdout=self.output, stderr=self.errors,
            env={**os.environ, **environment},
            preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))

    def text(self, file):
        # pread: the child writes at the offset that both share.
        return os.pread(file.fileno(), 16 << 20, 0).decode("utf-8", "replace")

    def complaint(self, what):
        tail = "\n".join((self.text(self.output) + self.text(self.errors)).splitlines()[-8:])
        return Failed(f"{os.path.basename(self.arguments[0])} {' '.join(self.arguments[1:3])}: {what}\n{tail}")

    def wait_for(self, prefix, timeout=10.0):
        """The rest of the first line of output that begins with `prefix`."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for line in self.text(self.output).splitlines():
                if line.startswith(prefix):
                    return line[len(prefix):].strip()
            if self.process.poll() is not None:
                break
            select.select([], [], [], 0.005)
        raise self.complaint(f"no line {prefix!r}")

    def wait(self):
        try:
            status = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise self.complaint(f"not done after {TIMEOUT:.0f} s") from None
        if status != 0:
            raise self.complaint(f"exit status {status}")

    def result(self, file):
        """The last line that is a JSON object."""
        for line in reversed(self.text(file).splitlines()):
            if line.startswith("{"):
                try:
                    return json.loads(line)
                except ValueError:
                    break
        raise self.complaint("no JSON line")

    def close(self):
        if self.process.poll() is None:
            # `tls-baseline run` passes SIGTERM on; what it started dies with it in any case.
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.output.close()
        self.errors.close()


def both_ends(program, mode, server, client, cpus, folder):
    """Runs one server and one client of `program` and gives the results of (client, server)."""
    started = []
    try:
        ends = []
        for end, options, cpu in (("--server", server, cpus[1]), ("--client", client, cpus[0])):
            port = ends[0].wait_for("READY") if ends else "0"
            state = os.path.join(folder, "state" + end)
            process = Process(
                [program, mode, end, "--port", port, "--cpu", str(cpu)] + options,
                {"XDG_STATE_HOME": state, "PICONET_INTERFACES": "lo"}, folder, cpu)
            started.append(process)
            ends.append(process)
        for process in reversed(ends):
            process.wait()
        return ends[1].result(ends[1].output), ends[0].result(ends[0].output)
    finally:
        for process in started:
            process.close()


class ShapedHosts:
    """Two network namespaces on the ends of a shaped link."""
    addresses = ("10.78.0.1", "10.78.0.2")

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        self.namespaces = []
        # Processes that keep them.
        self.sleepers = []

    def start(self, host, arguments):
        process = Process(
            ["nsenter", f"--net={self.namespaces[host]}"] + arguments,
            {"XDG_STATE_HOME": os.path.join(self.folder, f"state-host{host}")}, self.folder)
        self.started.append(process)
        return process

    def make_namespace(self):
        process = Process(["unshare", "--net", "sh", "-c", "ip link set lo up && echo READY && exec sleep 600"], {}, self.folder)
        self.started.append(process)
        process.wait_for("READY")
        self.sleepers.append(process.process.pid)
        self.namespaces.append(f"/proc/{process.process.pid}/ns/net")


    def join_by_cables(self, networks):
        """A pair of Ethernet devices between the two hosts for each network, such as `10.78.0`."""
        for number, network in enumerate(networks):
            ends = [f"cable{number}", "netns", str(self.sleepers[0]), "type", "veth", "peer", "name", f"cable{number}",
                    "netns", str(self.sleepers[1])]
            subprocess.run(["ip", "link", "add"] + ends, check=True)
            for host in (0, 1):
                self.configure(host, "addr", "add", f"{network}.{host + 1}/30", "dev", f"cable{number}")
                self.configure(host, "link", "set", f"cable{number}", "up")

    def configure(self, host, *words):
        subprocess.run(["nsenter", f"--net={self.namespaces[host]}", "ip", *words], check=True)


class Relay:
    """Hands one TCP connection on, until it is cut: both ends are reset then, and nothing gets through any more."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            near, _ = self.listener.accept()
            far = socket.create_connection(self.target)
        except OSError:
            return
        self.sockets = [near, far]
        for source, target in ((near, far), (far, near)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.pump, args=(source, target), daemon=True).start()

    def pump(self, source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
        except OSError:
            pass

    def cut(self):
        self.listener.close()
        for end in self.sockets:
            # The threads that read wake up; with nothing to linger for the connection is reset.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.shutdown(socket.SHUT_RD)
            end.close()


@contextlib.contextmanager
def cabled_hosts(networks, folder):
    """Two network namespaces with a cable for each network."""
    hosts = ShapedHosts(folder)
    try:
        for _ in hosts.addresses:
            hosts.make_namespace()
        hosts.join_by_cables(networks)
        yield hosts
    finally:
        for process in reversed(hosts.started):
            process.close()


@contextlib.contextmanager
def shaped_hosts(program, settings, folder):
    """`settings` are those of shaped-link, such as rate=2000 for 2 Mbit/s."""
    hosts = ShapedHosts(folder)
    try:
        for _ in hosts.addresses:
            hosts.make_namespace()
        ends = [word for pair in zip(hosts.namespaces, hosts.addresses) for word in pair]
        # It ends with its standard input.
        link = Process([program] + ends + settings, {}, folder, input=subprocess.PIPE)
        hosts.started.append(link)
        link.wait_for("READY")
        yield hosts
    finally:
        for process in reversed(hosts.started):
            process.close()
