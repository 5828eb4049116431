"""Messages, against `piconet ping`: section 6 of the document, and what a ping's messages are: section 16."""
import socket

import hello
from association import Association, joined
from fields import integer
from frames import UnreliableMessage
from link import Link, Node
from place import Place

REQUEST, REPLY = 0x70, 0x71


def ping_message(kind: int, number: int, payload: bytes) -> bytes:
    return bytes([kind]) + number.to_bytes(7, "big") + payload


def test_messages(place: Place):
    """messages of every length come back, whole and in their order, in fragments both ways"""
    # Our frame limit makes the program send fragments, too.
    _, address = place.listener("ping")
    member = joined(address, Node(parameters={hello.FRAME_LIMIT: integer(1_024)}))
    limit = member.greeting.number(hello.MESSAGE_LIMIT)
    for number, length in enumerate((0, 1, 1_015, 1_016, 1_017, 16_381, 50_000, limit - 8)):
        message = bytes(index % 251 for index in range(length))
        member.send_message(ping_message(REQUEST, number, message), piece=None if number % 2 else 1_000)
        assert member.receive_message() == ping_message(REPLY, number, message), length
    member.leave()


def test_message_window(place: Place):
    """three times the message window goes through, with credit both ways"""
    _, address = place.listener("ping")
    member = joined(address, Node(parameters={hello.MESSAGE_WINDOW: integer(100_000)}))
    for number in range(40):
        member.send_message(ping_message(REQUEST, number, bytes(80_000)))
        assert len(member.receive_message()) == 80_008
    assert member.spent > 3 * member.greeting.number(hello.MESSAGE_WINDOW)
    member.leave()


def test_unreliable(place: Place):
    """an unreliable message does no harm to a program that has no use for it, whatever its number"""
    program, address = place.listener("ping")
    member = joined(address)
    member.send(UnreliableMessage(1, b"here"), UnreliableMessage(1 << 60, b""), UnreliableMessage(2, b"late"))
    member.send_message(ping_message(REQUEST, 1, b"x"))
    assert member.receive_message() == ping_message(REPLY, 1, b"x")
    program.check_alive()


def test_pings_of_the_program(place: Place):
    """piconet ping measures us, who answer"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "127.0.0.1:%d" % server.getsockname()[1]
        program = place.start("piconet", "ping", "--count", "3", "--interval", "0.01", "--session", "interoperability", address)
        member = Association(Link.accept(server, Node()))
        member.let_in()
        for _ in range(3):
            asked = member.receive_message()
            assert asked[0] == REQUEST, asked[:8]
            member.send_message(bytes([REPLY]) + asked[1:])
        member.see_off()
        assert program.wait() == 0, program.error_text()
