"""Messages in channels, against `piconet ping --listen`, which answers in the channel in which it was asked."""
import frames
import hello
from association import joined, resumed
from channels import Channels
from fields import integer
from frames import ChannelCredit, ChannelFragment, ChannelMessage, Message
from link import LinkEnded, Node
from place import Place
from reasons import Reason
from test_messages import REPLY, REQUEST, ping_message


def node(channels: int = 64, window: int = 65_536) -> Node:
    return Node(parameters={hello.CHANNELS: integer(channels), hello.CHANNEL_WINDOW: integer(window)})


def test_channels(place: Place):
    """messages of every length come back in their channel, through a window that is smaller than they are"""
    _, address = place.listener("ping")
    member = joined(address, node(window=1_024))
    channels = Channels(member)
    assert member.greeting.number(hello.CHANNELS) == 64
    limit = member.greeting.number(hello.MESSAGE_LIMIT)
    for number, length in enumerate((0, 1, 503, 504, 1_024, 16_381, 50_000, limit - 8)):
        for channel in (1, 7, 63):
            message = bytes(index % 251 for index in range(length))
            channels.send(channel, ping_message(REQUEST, number, message))
            assert channels.receive(channel) == ping_message(REPLY, number, message), (channel, length)
    member.leave()


def test_channels_stop_alone(place: Place):
    """a channel whose messages we don't read stops itself alone: answers in others go on coming"""
    _, address = place.listener("ping")
    member = joined(address, node(window=8_000))
    channels = Channels(member)
    # More answers of 16,000 bytes than we let come.
    asked = 0
    while asked < 4 and channels.send(5, ping_message(REQUEST, asked, bytes(8_000)), waits=False):
        asked += 1
    assert asked == 4
    for number in range(20):
        channels.send(6, ping_message(REQUEST, number, bytes(1_000)))
        assert channels.receive(6) == ping_message(REPLY, number, bytes(1_000))
        member.send_message(ping_message(REQUEST, number, b"0"))
        assert member.receive_message() == ping_message(REPLY, number, b"0")
    assert channels.came[5] <= 8_000 + 8_040
    for number in range(asked):
        assert channels.receive(5) == ping_message(REPLY, number, bytes(8_000))
    member.leave()


def test_channels_after_resume(place: Place):
    """on another link what was not acknowledged comes again, once, and the credit of each channel that was used is told"""
    _, address = place.listener("ping")
    member = joined(address, node())
    channels = Channels(member)
    channels.send(9, ping_message(REQUEST, 1, bytes(5_000)))
    assert channels.receive(9) == ping_message(REPLY, 1, bytes(5_000))
    member.link.drop()
    resumed(member, address)
    member.link.send(ChannelCredit(9, channels.given[9]))
    told = member.wait_for(ChannelCredit, where=lambda frame: frame.channel == 9)
    assert told.limit >= channels.credit[9]
    channels.send(9, ping_message(REQUEST, 2, b"again"))
    assert channels.receive(9) == ping_message(REPLY, 2, b"again")
    member.leave()


def broken_by(place: Place, *sent: frames.Frame, parameters: Node | None = None) -> int:
    """The reason with which the program ends a link on which these come."""
    program, address = place.listener("ping")
    member = joined(address, parameters or node())
    member.send(*sent)
    try:
        raise AssertionError(f"the link goes on, with {member.wait_for(frames.Close)}")
    except LinkEnded as end:
        program.check_alive()
        return end.reason


def test_channels_above_limit(place: Place):
    """a message in parts that is above the message limit ends the association with its reason"""
    assert broken_by(place, *[ChannelFragment(3, bytes(16_000)) for _ in range(7)]) == Reason.LIMIT_EXCEEDED


def test_channels_of_credit(place: Place):
    """credit for channels in which nothing was sent, or less than before, changes nothing"""
    _, address = place.listener("ping")
    member = joined(address, node(window=1_024))
    channels = Channels(member)
    member.link.send(*[ChannelCredit(channel, limit) for channel in range(1, 64) for limit in (0, (1 << 62) - 1, 1)])
    channels.send(4, ping_message(REQUEST, 1, bytes(3_000)))
    # `Channels` counts: if the program believed the former credit, it would overrun its window.
    assert channels.receive(4) == ping_message(REPLY, 1, bytes(3_000))
    member.leave()


def test_channels_interleaved(place: Place):
    """parts of messages in 63 channels at once, each between those of the others, become the messages that they were"""
    _, address = place.listener("ping")
    member = joined(address, node(window=131_072))
    channels = Channels(member)
    messages = {channel: ping_message(REQUEST, channel, bytes([channel]) * 2_000) for channel in range(1, 64)}
    for place_of_part in range(0, 2_000, 500):
        member.send(*[ChannelFragment(channel, message[place_of_part:place_of_part + 500]) for channel, message in messages.items()])
    member.send(Message(ping_message(REQUEST, 0, b"0")))
    member.send(*[ChannelMessage(channel, message[2_000:]) for channel, message in messages.items()])
    assert member.receive_message() == ping_message(REPLY, 0, b"0")
    for channel, message in messages.items():
        assert channels.receive(channel) == bytes([REPLY]) + message[1:]
    member.leave()
