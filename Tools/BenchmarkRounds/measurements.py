"""What is measured: each function makes one measurement of one program and gives its figures by name."""
import os
import shutil
import subprocess
import time

from processes import Failed, Process, Relay, both_ends, cabled_hosts, shaped_hosts
from shares import EqualShares

# The start of a JPEG file; the tools look no further.
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb")


class Bench:
    """Where the programs and the files of a run are."""

    def __init__(self, programs, folder, same, two):
        self.baseline = os.path.join(programs, "tls-baseline")
        self.ours = os.path.join(programs, "piconet-benchmark")
        self.multipeer = os.path.join(programs, "multipeer-benchmark")
        self.shaped_link = os.path.join(programs, "shaped-link")
        self.imagesend = os.path.join(programs, "imagesend")
        self.imagerecv = os.path.join(programs, "imagerecv")
        self.piconet = os.path.join(programs, "piconet")
        self.folder = folder
        # (client's processor, server's processor)
        self.same = same
        self.two = two
        self.big = os.path.join(folder, "big")
        # Sparse: more than a slow link carries while messages are timed.
        self.slow = os.path.join(folder, "slow")
        self.photo = os.path.join(folder, "photo.jpg")
        self.received = os.path.join(folder, "received")

    def warm_up(self, size):
        """Makes the files. Twice the big one, so that the memory behind the tmpfs has been touched before anything is timed."""
        block = os.urandom(1 << 20)
        for name in ("big", "warm"):
            with open(os.path.join(self.folder, name), "wb") as file:
                for _ in range(size >> 20):
                    file.write(block)
        os.unlink(os.path.join(self.folder, "warm"))
        with open(self.slow, "wb") as file:
            file.truncate(1 << 30)
        with open(self.photo, "wb") as file:
            file.write(JPEG + os.urandom(3_000_000 - len(JPEG)))


def round_trip(bench, program, size, count, cpus):
    options = ["--size", str(size), "--count", str(count)]
    client, server = both_ends(program, "pingpong", options, options, cpus, bench.folder)
    return {"p50": client["p50_us"], "p99": client["p99_us"], "rss": max(client["rss_kib"], server["rss_kib"]) / 1024}


def rate(bench, program, size, count, cpus):
    options = ["--size", str(size), "--count", str(count)]
    client, server = both_ends(program, "rate", options, options, cpus, bench.folder)
    cpu = client["user"] + client["sys"] + server["user"] + server["sys"]
    return {
        "rate": count / client["wall"], "cpu_us": cpu / count * 1e6,
        "rss": max(client["rss_kib"], server["rss_kib"]) / 1024,
    }


def transfer(size, wall, ends):
    """The figures of one file's way, from the two processes' own."""
    cpu = sum(end["user"] + end["sys"] for end in ends)
    return {
        "gb_s": size / wall / 1e9, "cpu": cpu / (size / 2**30), "rss": max(end["rss_kib"] for end in ends) / 1024,
    }


def bulk(bench, program, options, cpus):
    out = os.path.join(bench.folder, "out")
    try:
        client, server = both_ends(
            program, "bulk", ["--out", out] + options, ["--file", bench.big] + options, cpus, bench.folder)
        size = os.path.getsize(bench.big)
        if os.path.getsize(out) != size:
            raise Failed(f"{program} bulk: {os.path.getsize(out)} bytes arrived of {size}")
        return transfer(size, client["wall"], (client, server))
    finally:
        if os.path.exists(out):
            os.unlink(out)


class Receiver:
    """A real imagerecv, measured from outside, found by name."""

    def __init__(self, bench, cpu, name, options):
        shutil.rmtree(bench.received, ignore_errors=True)
        os.mkdir(bench.received)
        self.name = name
        make_known(bench)
        self.process = Process(
            [bench.baseline, "run", "--cpu", str(cpu), "--", bench.imagerecv, "--name", name, "--accept", "all",
             "--directory", bench.received, "--json"] + options,
            environment(bench, "receiver"), bench.folder)
        # It says nothing when it is ready; a second is ample, and is in no figure.
        time.sleep(1)


def make_known(bench):
    """As a person does once, so that imagesend sends to the receiver without one."""
    def run(who, *words):
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True,
                              env={**os.environ, **environment(bench, who)}).stdout.strip()
    run("sender", bench.piconet, "trust", "add", "Receiver", run("receiver", bench.imagerecv, "--fingerprint"))


def environment(bench, who):
    return {"XDG_STATE_HOME": os.path.join(bench.folder, "state-" + who), "XDG_CACHE_HOME": os.path.join(bench.folder, "cache-" + who),
            "PICONET_INTERFACES": "lo"}


def send(bench, cpu, name, options, file):
    """Runs imagesend to its end and gives its figures; wall is from its start to its end."""
    process = Process(
        [bench.baseline, "run", "--cpu", str(cpu), "--", bench.imagesend, "--to", name, "--json"] + options + [file],
        environment(bench, "sender"), bench.folder)
    try:
        process.wait()
        if '"event":"stored"' not in process.text(process.output):
            raise process.complaint("not stored")
        return process.result(process.errors)
    finally:
        process.close()


def tools_bulk(bench, cpus):
    """The whole file with the real tools: start, discovery and handshake included."""
    receiver = Receiver(bench, cpus[1], "Bulk", ["--any", "--count", "1"])
    try:
        sender = send(bench, cpus[0], receiver.name, ["--any"], bench.big)
        receiver.process.wait()
        end = receiver.process.result(receiver.process.errors)
        return transfer(os.path.getsize(bench.big), sender["wall"], (sender, end))
    finally:
        receiver.process.close()
        shutil.rmtree(bench.received, ignore_errors=True)


def tools_photo(bench, cpus):
    """One photo of 3 MB: from the start of imagesend until it has heard that the photo is stored, and has ended."""
    receiver = Receiver(bench, cpus[1], "Photo", ["--count", "1"])
    try:
        return {"ms": send(bench, cpus[0], receiver.name, [], bench.photo)["wall"] * 1000}
    finally:
        receiver.process.close()
        shutil.rmtree(bench.received, ignore_errors=True)


def message_beside_file(bench, count, settings):
    """Messages of 64 B, one every 20 ms, beside a file on a slow link between two network namespaces."""
    out = os.path.join(bench.folder, "lanes")
    with shaped_hosts(bench.shaped_link, settings, bench.folder) as hosts:
        common = ["--size", "64", "--count", str(count)]
        server = hosts.start(1, [bench.ours, "lanes", "--server", "--listen", hosts.addresses[1], "--out", out] + common)
        port = server.wait_for("READY")
        client = hosts.start(
            0, [bench.ours, "lanes", "--client", "--address", f"{hosts.addresses[1]}:{port}", "--file", bench.slow] + common)
        client.wait()
        server.wait()
        figures = server.result(server.output)
    return {"p50": figures["p50_ms"], "p99": figures["p99_ms"], "worst": figures["worst_ms"],
            "kb_s": figures["bulk_bytes_per_second"] / 1000}


def failover_phases(cut, client, server):
    """From the cut of the way in use until the next message is delivered over the other one, in ms."""
    client.wait()
    server.wait()
    near, far = client.result(client.output), server.result(server.output)
    # What was on its way when the cut came does not count.
    first = next((moment for moment in far["arrivals_ns"] if moment >= near["noticed_ns"]), None)
    if first is None:
        raise Failed("failover: no message came over the other way")
    noticed, found, delivered = ((moment - cut) / 1e6 for moment in (near["noticed_ns"], near["resumed_ns"], first))
    return {"noticed": noticed, "found": found - noticed, "delivered": delivered, "ms": delivered}


def failover_after_reset(bench):
    """The connection goes through a relay that resets it; the other way is without the relay."""
    started = []
    try:
        def start(*arguments):
            process = Process(
                [bench.ours, "failover", *arguments], environment(bench, "failover-" + arguments[0]), bench.folder)
            started.append(process)
            return process
        server = start("--server", "--cpu", str(bench.two[1]))
        port = server.wait_for("READY")
        relay = Relay(int(port))
        client = start(
            "--client", "--cpu", str(bench.two[0]), "--address", f"127.0.0.1:{relay.port}", "--other-address",
            f"127.0.0.1:{port}")
        client.wait_for("CUT")
        cut = time.monotonic_ns()
        relay.cut()
        return failover_phases(cut, client, server)
    finally:
        for process in reversed(started):
            process.close()


def failover_after_silence(bench):
    """Two hosts with two cables, one of which is pulled: neither host is told."""
    networks = ("10.78.0", "10.79.0")
    with cabled_hosts(networks, bench.folder) as hosts:
        server = hosts.start(1, [bench.ours, "failover", "--server", "--listen", "*"])
        port = server.wait_for("READY")
        ways = [f"{network}.2:{port}" for network in networks]
        client = hosts.start(
            0, [bench.ours, "failover", "--client", "--address", ways[0], "--other-address", ways[1]])
        client.wait_for("CUT")
        cut = time.monotonic_ns()
        hosts.configure(0, "link", "set", "cable0", "down")
        return failover_phases(cut, client, server)


def calls(bench, count, more):
    """Round trips of a message, calls one after the other, and calls of 8 tasks at once, between the same two processes."""
    options = ["--count", str(count)] + more
    client, server = both_ends(bench.ours, "calls", options, options, bench.two, bench.folder)
    return {
        "p50": client["call_p50_us"], "p99": client["call_p99_us"], "message": client["message_p50_us"],
        "fastest": client["message_on_node_thread_p50_us"],
        "ratio": client["call_p50_us"] / client["message_p50_us"], "rate": client["calls_per_s"],
        "rss": max(client["rss_kib"], server["rss_kib"]) / 1024,
    }


def pace(bench, way, seconds):
    """10,000 messages of 60 B a second; how long they are on their way, from the call that sends to the call that takes."""
    options = ["--seconds", str(seconds)]
    _, server = both_ends(bench.multipeer, way, options, options, bench.two, bench.folder)
    return {"p50": server["p50_us"], "p99": server["p99_us"], "rss": server["rss_kib"] / 1024}


def peers(bench, count, trips, seconds):
    """One node with this many peers: all of them are one other process, on the other processor."""
    options = ["--peers", str(count), "--count", str(trips), "--seconds", str(seconds)]
    client, server = both_ends(bench.ours, "peers", options, options, bench.two, bench.folder)
    return {
        "p50": client["p50_us"], "kib": server["kib_per_peer"], "idle": server["idle_cpu_us_per_peer_s"],
        "wakeups": server["idle_wakeups_per_s"], "rss": server["resident_kib"] / 1024,
    }


def between(bench, way, mode, options, shares=None):
    """Two ends with a node between them that relays or copies; gives the results of (client, server). The ends share one
    processor, or with `shares` all three have as much."""
    started = []
    try:
        def start(end, cpu, *words):
            pinned = [] if shares else ["--cpu", str(cpu)]
            process = Process(
                [bench.ours, *words, "--over", way, *pinned], environment(bench, "between-" + end), bench.folder)
            started.append(process)
            if shares:
                shares.add(process)
            return process
        ends = [start(end, bench.two[0], mode, "--" + end, *options) for end in ("client", "server")]
        addresses = ["127.0.0.1:" + end.wait_for("READY") for end in ends]
        start("middle", bench.two[1], "middle", "--client", "--address", addresses[0], "--other-address", addresses[1])
        for end in ends:
            end.wait()
        return [end.result(end.output) for end in ends]
    finally:
        for process in reversed(started):
            process.close()


def round_trip_between(bench, way, size, count):
    client, _ = between(bench, way, "pingpong", ["--size", str(size), "--count", str(count)])
    return {"p50": client["p50_us"], "p99": client["p99_us"]}


def rate_between(bench, way, mode, size, count):
    client, _ = between(bench, way, mode, ["--size", str(size), "--count", str(count)])
    return {"mb_s": size * count / client["wall"] / 1e6}


def rate_between_alike(bench, way, mode, size, count):
    with EqualShares() as shares:
        client, _ = between(bench, way, mode, ["--size", str(size), "--count", str(count)], shares)
    return {"mb_s": size * count / client["wall"] / 1e6}


def message_beside_file_between(bench, count, settings):
    """As `message_beside_file`, over a relay that is on the other side of the slow link, beside the server."""
    out = os.path.join(bench.folder, "lanes")
    with shaped_hosts(bench.shaped_link, settings, bench.folder) as hosts:
        common = ["--size", "64", "--count", str(count), "--over", "relay"]
        # On loopback: the client is not told where it is.
        server = hosts.start(1, [bench.ours, "lanes", "--server", "--listen", "127.0.0.1", "--out", out] + common)
        client = hosts.start(
            0, [bench.ours, "lanes", "--client", "--listen", hosts.addresses[0], "--file", bench.slow] + common)
        ports = [end.wait_for("READY") for end in (client, server)]
        hosts.start(1, ["env", "XDG_STATE_HOME=" + os.path.join(bench.folder, "state-relay"), bench.ours, "middle", "--client",
                        "--over", "relay", "--address", f"{hosts.addresses[0]}:{ports[0]}", "--other-address", f"127.0.0.1:{ports[1]}"])
        client.wait()
        server.wait()
        figures = server.result(server.output)
    return {"p50": figures["p50_ms"], "p99": figures["p99_ms"], "worst": figures["worst_ms"],
            "kb_s": figures["bulk_bytes_per_second"] / 1000}


def group(bench, count, seconds):
    """A group of this many nodes in one process, on a host of its own."""
    with cabled_hosts(("10.78.0",), bench.folder) as hosts:
        process = hosts.start(
            0, [bench.ours, "group", "--client", "--listen", "10.78.0.1", "--peers", str(count), "--seconds", str(seconds)])
        process.wait()
        figures = process.result(process.output)
    return {"kib": figures["kib_per_membership"], "frames": figures["frames_per_membership"], "s": figures["seconds"],
            "idle": figures["idle_frames_per_membership_s"]}
