"""Packets of Multicast DNS (RFC 6762, RFC 6763) on lo, for "Discovery over IP" in Documentation/wire-format.md."""
import dataclasses
import socket
import struct
import time

from link import Late, Node

GROUP, PORT, LOOPBACK = "224.0.0.251", 5353, "127.0.0.1"
SERVICE = ("_piconet", "_tcp", "local")
A, PTR, TXT, SRV, ANY = 1, 12, 16, 33, 255
IN, FLUSH = 1, 0x8000
RESPONSE = 0x8400


def name(labels) -> bytes:
    encoded = [label if isinstance(label, bytes) else label.encode() for label in labels]
    return b"".join(bytes([len(label)]) + label for label in encoded) + b"\0"


@dataclasses.dataclass
class Record:
    labels: tuple
    type: int
    data: bytes
    seconds: int = 120
    kind: int = IN

    def encode(self) -> bytes:
        return name(self.labels) + struct.pack(">HHIH", self.type, self.kind, self.seconds, len(self.data)) + self.data


def response(*records: Record) -> bytes:
    return struct.pack(">6H", 0, RESPONSE, 0, len(records), 0, 0) + b"".join(record.encode() for record in records)


def in_one(*packets: bytes) -> bytes:
    """A packet with the records of these, so that none of them is known before the others."""
    count = sum(int.from_bytes(packet[6:8], "big") for packet in packets)
    return struct.pack(">6H", 0, RESPONSE, 0, count, 0, 0) + b"".join(packet[12:] for packet in packets)


def query(*questions: tuple) -> bytes:
    """A packet that asks for each of these (labels, type)."""
    return struct.pack(">6H", 0, 0, len(questions), 0, 0, 0) + b"".join(
        name(labels) + struct.pack(">HH", kind, IN) for labels, kind in questions)


def texts(node: Node, called: str | None = None, info: dict[str, str] = {}) -> bytes:
    """The data of the TXT record: what a node says of itself, with `called` in place of its name, and what its application tells."""
    pairs = ["v=1", "id=" + node.identity.fingerprint, f"inc={node.incarnation:016x}", "n=" + (called or node.name), "s=" + node.session_id]
    pairs += [f"i.{key}={value}" for key, value in info.items()]
    return b"".join(bytes([len(pair.encode())]) + pair.encode() for pair in pairs)


def service(node: Node, port: int, label: str | None = None, seconds: int = 120, host: str | None = None, address: str = LOOPBACK,
            called: str | None = None, info: dict[str, str] = {}) -> bytes:
    """A packet with all records of one node's service."""
    instance = ((label or node.name).encode()[:63], *SERVICE)
    target = (host or "h" + node.identity.fingerprint[:16], "local")
    return response(
        Record(SERVICE, PTR, name(instance), seconds),
        Record(instance, SRV, struct.pack(">HHH", 0, 0, port) + name(target), seconds, IN | FLUSH),
        Record(instance, TXT, texts(node, called, info), seconds, IN | FLUSH),
        Record(target, A, socket.inet_aton(address), seconds, IN | FLUSH))


def read_name(packet: bytes, place: int) -> tuple[tuple[bytes, ...], int]:
    """The labels of a name, and where it ends."""
    labels, after, jumps = [], None, 0
    while packet[place]:
        if packet[place] >= 0xC0:
            after = after or place + 2
            place = int.from_bytes(packet[place:place + 2], "big") & 0x3FFF
            jumps += 1
            if jumps > 64:
                raise ValueError("a name in a circle")
            continue
        labels.append(packet[place + 1:place + 1 + packet[place]])
        place += 1 + packet[place]
    return tuple(labels), after or place + 1


def read(packet: bytes) -> tuple[list[tuple], list[Record]]:
    """The questions as (labels, type), and all records; the targets of PTR and SRV are written out."""
    _, _, questions, *counts = struct.unpack(">6H", packet[:12])
    place, asked, found = 12, [], []
    for _ in range(questions):
        labels, place = read_name(packet, place)
        asked.append((labels, int.from_bytes(packet[place:place + 2], "big")))
        place += 4
    for _ in range(sum(counts)):
        labels, place = read_name(packet, place)
        kind, of, seconds, count = struct.unpack(">HHIH", packet[place:place + 10])
        start = place + 10
        data = packet[start:start + count]
        if kind == PTR:
            data = name(read_name(packet, start)[0])
        elif kind == SRV:
            data = data[:6] + name(read_name(packet, start + 6)[0])
        found.append(Record(labels, kind, data, seconds, of))
        place = start + count
    return asked, found


def pairs(data: bytes) -> dict[str, str]:
    """Keys and values of a TXT record."""
    found, place = {}, 0
    while place < len(data):
        key, _, value = data[place + 1:place + 1 + data[place]].decode(errors="replace").partition("=")
        found.setdefault(key.lower(), value)
        place += 1 + data[place]
    return found


class Neighbour:
    """A socket on lo in the group of Multicast DNS."""

    def __init__(self, source: str = LOOPBACK):
        """`source`: the address from which it sends."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind(("", PORT))
        lo = socket.inet_aton(LOOPBACK)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + lo)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(source))
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)

    def close(self) -> None:
        self.socket.close()

    def say(self, packet: bytes) -> None:
        self.socket.sendto(packet, (GROUP, PORT))

    def hear(self, patience: float) -> bytes:
        self.socket.settimeout(max(0.001, patience))
        try:
            return self.socket.recv(9_000)
        except TimeoutError as error:
            raise Late("no packet has come") from error

    def find(self, called: str, patience: float = 10.0) -> tuple[dict[str, str], int]:
        """Asks for the services; returns the text and the port of the one with this name."""
        until, port, text = time.monotonic() + patience, {}, {}
        asked = 0.0
        while True:
            if time.monotonic() - asked > 1:
                self.say(query((SERVICE, PTR)))
                asked = time.monotonic()
            try:
                _, records = read(self.hear(min(0.5, until - time.monotonic())))
            except Late:
                if time.monotonic() > until:
                    raise
                continue
            for record in records:
                if record.type == SRV:
                    port[record.labels] = int.from_bytes(record.data[4:6], "big")
                elif record.type == TXT:
                    text[record.labels] = pairs(record.data)
            for labels, found in text.items():
                if found.get("n") == called and labels in port:
                    return found, port[labels]


def advertise_while(neighbour: Neighbour, packets: list[bytes], is_over, patience: float = 15.0) -> None:
    """Sends these packets four times a second until `is_over`, which is asked at each packet that comes and twenty times a second."""
    until, next_time = time.monotonic() + patience, 0.0
    while not is_over():
        now = time.monotonic()
        if now > until:
            raise Late("nobody has taken notice of what is advertised")
        if now >= next_time:
            for packet in packets:
                neighbour.say(packet)
            next_time = now + 0.25
        try:
            neighbour.hear(0.05)
        except Late:
            pass
