import PiconetWire

/// A value for each channel in use, in the order in which the channels were first used. Nearly always there are one or
/// two, and each message looks its own up several times. Comparing numbers costs less than hashing them.
struct ChannelTable<Value> {
  private var channels: [MessageChannel] = []
  /// The values of the channels. `index` returns their indices, which stay the same.
  var values: [Value] = []

  @inline(__always)
  func index(of channel: MessageChannel) -> Int? {
    for index in channels.indices where channels[index] == channel { return index }
    return nil
  }

  /// - Parameter new: the channel's value if it has none yet.
  @inline(__always)
  mutating func index(of channel: MessageChannel, default new: @autoclosure () -> Value) -> Int {
    if let index = index(of: channel) { return index }
    channels.append(channel)
    values.append(new())
    return values.count - 1
  }

  var entries: some Sequence<(MessageChannel, Value)> { zip(channels, values) }
}

extension ChannelTable: Sendable where Value: Sendable {}
