"""Manifests: which of its files a sender need not offer. Section 16 of the document."""
import hashlib
import os
import re

import document
import transfers
from association import joined
from place import Place

PROBE, PROBED = b"piconet-manifest 1 0\n", b"piconet-manifest-answer 1 0\n"


def golden(name: str) -> bytes:
    return re.search(rf"^```{name}\n(.*?)^```$", document.PATH.read_text(), re.MULTILINE | re.DOTALL).group(1).encode()


def line(content: bytes, name: str) -> bytes:
    return b"%d %s %s\n" % (len(content), hashlib.sha256(content).hexdigest().encode(), name.encode())


def ask(member, number: int, *lines: bytes) -> list[bytes]:
    member.send_message(b"piconet-manifest 1 %d\n" % number + b"".join(lines))
    first, *rest = member.receive_message().split(b"\n")
    assert first == b"piconet-manifest-answer 1 %d" % number and rest.pop() == b"", first
    return rest


def test_manifests(place: Place):
    """what was stored is there, under the name that it got; what differs in a byte, or a name, or a folder, is not"""
    member = joined(place.receiver().address)
    contents = {name: os.urandom(1_000) for name in ("beach.jpg", "sun.png", "rain.jpg")}
    for number, (name, content) in enumerate(contents.items()):
        assert transfers.send(member, content, name, number=number).is_stored
    other = os.urandom(1_000)
    assert transfers.send(member, other, "rain.jpg", number=9).is_stored
    lines = [line(content, name) for name, content in contents.items()]
    assert ask(member, 0) == []
    assert ask(member, 7, *lines, line(other, "rain.jpg")) == [b"=", b"=", b"=", b"+rain (2).jpg"]
    absent = [line(other, "sun.png"), line(contents["sun.png"] + b"x", "sun.png"), line(contents["sun.png"], "moon.png"),
              line(contents["sun.png"], "below/sun.png"), line(contents["sun.png"], "../sun.png"), line(contents["sun.png"], ".")]
    assert ask(member, 2**64 - 1, *absent) == [b"-"] * len(absent)
    assert ask(member, 7, *[b"1000 " + b"1" * 64 + b" a.jpg\n"] * 512) == [b"-"] * 512
    member.leave()


def test_other_messages(place: Place):
    """the document's manifest has an answer; messages that are none have none, and do no harm"""
    program = place.receiver()
    member = joined(program.address)
    manifest = golden("golden-manifest")
    large = b"33554432 " + b"1" * 64 + b" a\n"
    for message in (b"", b"\0" * 90_000, manifest[:-1], manifest + b"\n", manifest.replace(b" 1 7", b" 2 7"), manifest.replace(b"1111", b"11 11", 1),
                    manifest.replace(b"sun", b"\xff"), PROBE + large + large, PROBE + b"1 " + b"1" * 64 + b" a\n" * 513,
                    golden("golden-manifest-answer"), b"piconet-manifest 1 -1\n"):
        member.send_message(message)
    member.send_message(PROBE)
    assert member.receive_message() == PROBED
    member.send_message(manifest)
    assert member.receive_message() == b"piconet-manifest-answer 1 7\n-\n-\n-\n"
    program.check_alive()
    member.leave()
