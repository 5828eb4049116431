"""Counts what crossed the air in a trace of btmon (btsnoop, the monitor's format)."""
import struct

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


def slots(pdu):
    full, rest = divmod(pdu, PACKET_3DH5)
    smallest = next((packet for size, packet in ((0, -1), (83, 1), (552, 3), (PACKET_3DH5, 5)) if rest <= size), 5)
    return full * SLOTS_3DH5 + (smallest + 1)
