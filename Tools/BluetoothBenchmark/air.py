"""What crosses the air: counted in a trace of btmon (btsnoop, the monitor's format), or predicted by packet arithmetic.

`python3 Tools/BluetoothBenchmark/air.py 3000000` predicts a photo of 3 MB, from one side to the other, over a radio that loses nothing."""
import os
import struct
import subprocess
import sys
import time

from processes import PATIENCE, Failure, Process

ACL_SENT, ACL_RECEIVED = 4, 5
PACKET_3DH5, SLOTS_3DH5 = 1021, 6


def records(path):
    """(adapter, opcode, bytes) of each record."""
    with open(path, "rb") as file:
        magic, version, kind = struct.unpack(">8sII", file.read(16))
        if magic != b"btsnoop\0" or version != 1 or kind != 2001:
            raise ValueError("no trace of btmon")
        while len(head := file.read(24)) == 24:
            original, included, flags, _, _ = struct.unpack(">IIIIq", head)
            yield flags >> 16, flags & 0xffff, file.read(included)


def count(path, adapter):
    """What `adapter` sent and received over ACL: bytes without HCI's header, which is not on the air, and L2CAP PDUs.

    `slots` is what the PDUs sent would take of a radio's time: whole 3-DH5 packets, the smallest packet that holds the
    rest, and one slot for each answer."""
    figures = {"sent": 0, "received": 0, "pdus": 0, "slots": 0}
    for index, opcode, data in records(path):
        if index != adapter or opcode not in (ACL_SENT, ACL_RECEIVED) or len(data) < 4:
            continue
        handle, length = struct.unpack("<HH", data[:4])
        figures["sent" if opcode == ACL_SENT else "received"] += length
        starts = (handle >> 12) & 3 != 1
        if opcode == ACL_SENT and starts and len(data) >= 8:
            figures["pdus"] += 1
            figures["slots"] += slots(struct.unpack("<H", data[4:6])[0] + 4)
    return figures


def of_transfer(bench, transport):
    """What the sender's adapter put on the air for one transfer, with btmon listening. Needs CAP_NET_RAW."""
    path = os.path.join(bench.folder, "trace")
    # What waits for btmon, which is behind the air by seconds: it prints each packet too.
    subprocess.run(["sysctl", "-qw", "net.core.rmem_max=134217728", "net.core.rmem_default=134217728"], check=False)
    with Process(["btmon", "-w", path], merge=True, silent=True) as monitor:
        deadline = time.monotonic() + 10 * PATIENCE
        while not (os.path.exists(path) and os.path.getsize(path) > 16):
            if monitor.child.poll() is not None or time.monotonic() > deadline:
                raise Failure("btmon writes no trace")
            time.sleep(0.1)
        bench.tools(transport)
        size = 0
        while size < (size := os.path.getsize(path)):
            time.sleep(1)
    counted = count(path, int(bench.adapters[0][3:]))
    os.unlink(path)
    if counted["sent"] < bench.size:
        raise Failure(f"the trace lacks packets: {counted}")
    return counted


def slots(pdu):
    full, rest = divmod(pdu, PACKET_3DH5)
    smallest = next((packet for size, packet in ((0, -1), (83, 1), (552, 3), (PACKET_3DH5, 5)) if rest <= size), 5)
    return full * SLOTS_3DH5 + (smallest + 1)


# What Documentation/wire-format.md and RFC 8446 add, and what BlueZ's sockets take at once.
SLOT = 625e-6
RECORD_PLAIN, RECORD_ADDED = 16384, 2 + 1 + 8  # compact header, content type, tag of TLS_AES_128_CCM_8_SHA256
CHUNK_ADDED = 3 + 1  # a frame's header, and a transfer's number below 64
L2CAP_HEADER, SDU = 4, 32 * PACKET_3DH5 - 4
RFCOMM_FRAME, RFCOMM_ADDED = 1008, 5  # address, control, two bytes of length, check


def predict(size):
    """(what, PDUs, bytes on the air, slots) of a file of `size` bytes, without handshakes and acknowledgements."""
    records = -(-size // (RECORD_PLAIN - CHUNK_ADDED))
    stream = size + records * (CHUNK_ADDED + RECORD_ADDED)

    def packets(most, added):
        full, rest = divmod(stream, most)
        pdus = [most + added] * full + ([rest + added] if rest else [])
        return len(pdus), sum(pdus), sum(map(slots, pdus))

    return [
        ("L2CAP, SDU of 32,668 B", *packets(SDU, L2CAP_HEADER)),
        ("L2CAP, a record an SDU", *packets(RECORD_PLAIN + RECORD_ADDED, L2CAP_HEADER)),
        ("L2CAP, SDU of 672 B (BlueZ's default)", *packets(672, L2CAP_HEADER)),
        ("RFCOMM, frames of 1,008 B", *packets(RFCOMM_FRAME, RFCOMM_ADDED + L2CAP_HEADER)),
        ("RFCOMM, frames of 127 B (RFCOMM's default)", *packets(127, RFCOMM_ADDED - 1 + L2CAP_HEADER)),
    ]


def table(size):
    ceiling = PACKET_3DH5 / (SLOTS_3DH5 * SLOT)
    yield "| | PDUs | bytes on the air for each of the photo | slots | time | of the ceiling |"
    yield "|---|---|---|---|---|---|"
    for what, pdus, carried, taken in predict(size):
        seconds = taken * SLOT
        yield (f"| {what} | {pdus:,} | {carried / size:.4f} | {taken:,} | {seconds:.2f} s | "
               f"{100 * size / seconds / ceiling:.1f} % |")


if __name__ == "__main__":
    print("\n".join(table(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000)))
