"""Streams, against `piconet cat`: section 9 of the document."""
import os
import socket
import subprocess

import hello
from association import Association, joined
from fields import integer
from frames import OpenStream, ResetStream, StopStream
from link import Link, Node
from place import Place
from reasons import Reason
from streams import IncomingStream, OutgoingStream

NAME = "piconet cat"


def test_both_ways(place: Place):
    """a megabyte each way, through small windows, with the ends told"""
    ours, theirs = os.urandom(1_000_000), os.urandom(1_000_003)
    path = place.folder / "input"
    path.write_bytes(theirs)
    with open(path, "rb") as given, open(place.folder / "output", "wb") as taken:
        program, address = place.listener("cat", stdin=given, stdout=taken)
    member = joined(address, Node(parameters={hello.STREAM_WINDOW: integer(10_000), hello.FRAME_LIMIT: integer(2_000)}))
    outgoing = OutgoingStream(member, 5, NAME)
    outgoing.write(ours)
    incoming = IncomingStream(member)
    assert incoming.name == NAME
    assert incoming.read_all(30) == theirs
    outgoing.end()
    assert program.wait() == 0, program.error_text()
    assert (place.folder / "output").read_bytes() == ours


def test_as_acceptor(place: Place):
    """piconet cat dials us, and its input comes as a stream"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = place.start("piconet", "cat", "--session", "interoperability", "127.0.0.1:%d" % server.getsockname()[1],
                              stdin=subprocess.PIPE)
        program.process.stdin.write(b"journal\n" * 1_000)
        program.process.stdin.close()
        member = Association(Link.accept(server, Node()))
        member.let_in()
        assert IncomingStream(member).read_all() == b"journal\n" * 1_000
        outgoing = OutgoingStream(member, 0, NAME)
        outgoing.write(b"answer")
        outgoing.end()
        assert program.wait() == 0, program.error_text()
        assert bytes(program.output) == b"answer"


def test_stop(place: Place):
    """a stream that we stop is reset, and the program ends with the rest"""
    with open("/dev/zero", "rb") as given:
        program, address = place.listener("cat", stdin=given)
    member = joined(address)
    incoming = IncomingStream(member)
    incoming.stop(Reason.DECLINED)
    member.wait_for(ResetStream, where=incoming.is_ours)
    OutgoingStream(member, 0, NAME).end()
    member.link.end()
    program.wait()


def test_reset(place: Place):
    """a stream that we reset is stopped, in answer, and its number serves again"""
    program, address = place.listener("ping")
    member = joined(address)
    # Nobody there takes streams with this name: each is stopped, once.
    for _ in range(3):
        member.send(OpenStream(7, "no such thing"), ResetStream(7, Reason.CANCELLED))
        member.wait_for(StopStream)
    member.link.ping()
    program.check_alive()
