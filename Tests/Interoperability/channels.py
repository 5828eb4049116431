"""Messages in the channels above 0: section 6 of Documentation/wire-format.md, both ways."""
import collections
import time

import hello
from association import MESSAGE_COST, Association
from fields import integer
from frames import ChannelCredit, ChannelFragment, ChannelMessage
from link import PATIENCE


class Channels:
    """The channels of one association. Whole messages wait until they are read here, and so does their credit."""

    def __init__(self, association: Association):
        self.association = association
        parameters = association.node.parameters
        self.count = hello.whole_integer(parameters.get(hello.CHANNELS, integer(1)))
        self.window = hello.whole_integer(parameters.get(hello.CHANNEL_WINDOW, integer(hello.DEFAULTS[hello.CHANNEL_WINDOW])))
        self.window_there = association.greeting.number(hello.CHANNEL_WINDOW)
        self.spent: collections.Counter[int] = collections.Counter()
        self.credit: collections.defaultdict[int, int] = collections.defaultdict(lambda: self.window_there)
        self.parts: collections.defaultdict[int, bytes] = collections.defaultdict(bytes)
        self.whole: collections.defaultdict[int, collections.deque[bytes]] = collections.defaultdict(collections.deque)
        self.came: collections.Counter[int] = collections.Counter()
        self.read: collections.Counter[int] = collections.Counter()
        self.given: collections.defaultdict[int, int] = collections.defaultdict(lambda: self.window)

    def send(self, channel: int, message: bytes, waits: bool = True) -> bool:
        """Sends in parts of at most half a window. False if there is too little credit and it does not wait."""
        piece = min(self.association.greeting.number(hello.FRAME_LIMIT) - 1, self.window_there // 2)
        parts = [message[place:place + piece] for place in range(0, len(message), piece)] or [b""]
        for index, part in enumerate(parts):
            is_last = index == len(parts) - 1
            cost = len(part) + (MESSAGE_COST if is_last else 0)
            until = time.monotonic() + PATIENCE
            while self.spent[channel] + cost > self.credit[channel]:
                if not waits:
                    return False
                self.take_one(max(0.001, until - time.monotonic()))
            self.spent[channel] += cost
            self.association.send((ChannelMessage if is_last else ChannelFragment)(channel, part))
        return True

    def receive(self, channel: int, patience: float = PATIENCE) -> bytes:
        until = time.monotonic() + patience
        while not self.whole[channel]:
            self.take_one(max(0.001, until - time.monotonic()))
        message = self.whole[channel].popleft()
        self.read[channel] += len(message) + MESSAGE_COST
        self.grant(channel)
        return message

    def take_one(self, patience: float) -> None:
        found = self.association.wait_for(ChannelCredit, ChannelMessage, ChannelFragment, patience=patience)
        if isinstance(found, ChannelCredit):
            self.credit[found.channel] = max(self.credit[found.channel], found.limit)
            return
        channel = found.channel
        assert channel < self.count, f"channel {channel} of {self.count}"
        is_whole = isinstance(found, ChannelMessage)
        self.came[channel] += len(found.part) + (MESSAGE_COST if is_whole else 0)
        assert self.came[channel] <= self.given[channel], "more messages than were credited"
        self.parts[channel] += found.part
        if is_whole:
            self.whole[channel].append(self.parts.pop(channel))
        else:
            self.grant(channel)

    def grant(self, channel: int) -> None:
        limit = self.read[channel] + len(self.parts[channel]) + self.window
        if limit - self.given[channel] >= self.window / 4:
            self.given[channel] = limit
            self.association.link.send(ChannelCredit(channel, limit))
