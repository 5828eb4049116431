"""A link: a socket, TLS on it, frames in that, and both hellos. Sections 1 to 4 of Documentation/wire-format.md."""
import dataclasses
import os
import socket
import time

import frames
import hello
import tls
from fields import Incomplete, integer, word
from frames import Close, Frame, Hello, Listening, Ping, Pong
from hello import Greeting
from identity import Identity

# How long a test waits at most unless it says otherwise.
PATIENCE = 10.0


class LinkEnded(Exception):
    """The other side has ended the link; `reason` is None if it has not said why."""

    def __init__(self, reason: int | None, detail: str = ""):
        super().__init__(f"the link was ended: reason {reason} {detail!r}")
        self.reason, self.detail = reason, detail


class Late(Exception):
    """What a test waited for has not come."""


@dataclasses.dataclass
class Node:
    """What others see of us: one identity, one start of it."""
    identity: Identity = dataclasses.field(default_factory=Identity)
    name: str = dataclasses.field(default_factory=lambda: f"Python {os.urandom(3).hex()}")
    session_id: str = "interoperability"
    incarnation: int = dataclasses.field(default_factory=lambda: int.from_bytes(os.urandom(8), "big"))
    capabilities: int = hello.RESUME | hello.STREAMS | hello.REMOVAL | hello.TYPED_CODES | hello.INTRODUCTIONS
    # More parameters for the hello, or others in place of ours.
    parameters: dict[int, bytes] = dataclasses.field(default_factory=dict)
    # How many associations have begun with each node since our start.
    begun: dict[bytes, int] = dataclasses.field(default_factory=dict)

    @property
    def order(self) -> tuple[bytes, int]:
        return self.identity.id, self.incarnation

    def own_parameters(self) -> dict[int, bytes]:
        return {hello.SESSION_ID: self.session_id.encode(), hello.NAME: self.name.encode(), hello.INCARNATION: word(self.incarnation),
                hello.CAPABILITIES: integer(self.capabilities), **self.parameters}

    def held_with(self, peer: bytes) -> dict[int, bytes]:
        """What a hello says of the associations with this peer."""
        begun = self.begun.get(peer, 0)
        return {hello.BEGUN: integer(begun)} if begun else {}


class Link:
    """One end of a connection, with TLS. Each wait for frames has a limit."""

    def __init__(self, connection: socket.socket, node: Node, is_dialler: bool, protocols: list[bytes] | None = None, compacts: bool = False):
        self.socket, self.node, self.is_dialler = connection, node, is_dialler
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.channel = tls.Channel(node.identity, is_dialler, [tls.PLAIN] if protocols is None else protocols, compacts)
        self.waiting = bytearray()
        self.ended = False
        self.greeting: Greeting | None = None
        self.frame_limit = hello.whole_integer(node.parameters.get(hello.FRAME_LIMIT, integer(hello.DEFAULTS[hello.FRAME_LIMIT])))

    @classmethod
    def dial(cls, address: tuple[str, int], node: Node, **options) -> "Link":
        """A link to this address on which both hellos were said.

        - source: our own address, of which lo has many."""
        link = cls.secured(address, node, **options)
        try:
            link.greet()
        except BaseException:
            link.drop()
            raise
        return link

    @classmethod
    def secured(cls, address: tuple[str, int], node: Node, source: str = "", **options) -> "Link":
        """A link that has only TLS."""
        connection = socket.create_connection(address, PATIENCE, (source, 0))
        link = cls(connection, node, True, **options)
        try:
            link.shake_hands()
        except BaseException:
            link.drop()
            raise
        return link

    @classmethod
    def accept(cls, listener: socket.socket, node: Node, patience: float = PATIENCE, **options) -> "Link":
        listener.settimeout(patience)
        try:
            connection, _ = listener.accept()
        except TimeoutError as error:
            raise Late("nobody has dialled") from error
        link = cls(connection, node, False, **options)
        try:
            link.shake_hands()
            link.greet()
        except BaseException:
            link.drop()
            raise
        return link

    @property
    def peer(self) -> bytes:
        return self.channel.peer

    @property
    def is_smaller(self) -> bool:
        return self.node.order < (self.peer, self.greeting.incarnation)

    # Bytes

    def write(self, data: bytes, patience: float = PATIENCE) -> None:
        self.socket.settimeout(patience)
        try:
            self.socket.sendall(data)
        except TimeoutError as error:
            raise Late("the other side takes nothing") from error
        except OSError as error:
            raise LinkEnded(None, str(error)) from error

    def read_some(self, until: float) -> None:
        left = until - time.monotonic()
        if left <= 0:
            raise Late("nothing has come")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(262_144)
        except TimeoutError as error:
            raise Late("nothing has come") from error
        except OSError as error:
            raise LinkEnded(None, str(error)) from error
        if not data:
            raise LinkEnded(None, "end of the connection")
        self.channel.take(data)

    def shake_hands(self, patience: float = PATIENCE) -> None:
        until = time.monotonic() + patience
        while not self.channel.advance():
            self.write(self.channel.outgoing())
            self.read_some(until)
        self.write(self.channel.outgoing())
        if self.channel.protocol not in (tls.PLAIN, tls.COMPACT):
            raise tls.HandshakeError(f"the protocol is {self.channel.protocol!r}")

    # Frames

    def send_bytes(self, plaintext: bytes, patience: float = PATIENCE) -> None:
        self.write(self.channel.seal(plaintext), patience)

    def send(self, *many: Frame, patience: float = PATIENCE) -> None:
        self.send_bytes(b"".join(frame.encode() for frame in many), patience)

    def receive(self, patience: float = PATIENCE) -> Frame:
        """The next frame, whatever it is.
        - Raises: `LinkEnded` with the reason of a `close`, `Late`."""
        until = time.monotonic() + patience
        while True:
            if self.waiting:
                try:
                    found, count = frames.decode(bytes(self.waiting[:2 * frames.LARGEST_BODY]), self.frame_limit)
                    del self.waiting[:count]
                    if isinstance(found, Close):
                        self.ended = True
                        raise LinkEnded(found.reason, found.detail)
                    return found
                except Incomplete:
                    pass
            data, is_over = self.channel.open()
            self.waiting += data
            if data:
                continue
            if is_over:
                raise LinkEnded(None, "close_notify")
            self.read_some(until)

    def expect(self, kind: type, patience: float = PATIENCE):
        """The next frame; where the other side listens is of no interest here."""
        until = time.monotonic() + patience
        found = self.receive(patience)
        while isinstance(found, Listening):
            found = self.receive(max(0.001, until - time.monotonic()))
        if not isinstance(found, kind):
            raise AssertionError(f"{kind.__name__} was expected, and {found} came")
        return found

    # Hellos

    def greet(self, patience: float = PATIENCE) -> None:
        """Exchanges both hellos."""
        own = Hello(1, 1, {**self.node.own_parameters(), **self.node.held_with(self.peer)})
        if self.is_dialler:
            self.send(own)
            self.greeting = Greeting(self.expect(Hello, patience))
        else:
            self.greeting = Greeting(self.expect(Hello, patience))
            self.send(own)

    def ping(self, token: int = 7, patience: float = PATIENCE) -> None:
        """Makes a round trip; what else comes is dropped."""
        self.send(Ping(token))
        until = time.monotonic() + patience
        while self.receive(max(0.01, until - time.monotonic())) != Pong(token):
            pass

    def end(self, patience: float = PATIENCE) -> LinkEnded:
        """Waits until the other side ends this link, and returns how; what comes before is dropped."""
        until = time.monotonic() + patience
        try:
            while True:
                self.receive(max(0.01, until - time.monotonic()))
        except LinkEnded as ended:
            return ended

    def close(self, reason: int = 0, detail: str = "") -> None:
        try:
            if self.greeting is not None and not self.ended:
                self.send(Close(reason, detail))
            self.write(self.channel.close())
        except (LinkEnded, Late):
            pass
        self.drop()

    def drop(self) -> None:
        """Ends without a goodbye, as if the process had died."""
        self.socket.close()
