import PiconetWire

/// What there is for some channels, in the order in which they were first used. Nearly always there are one or two, and
/// each message looks its own up several times: comparing numbers costs less than hashing them.
struct ChannelTable<Value> {
  private var channels: [MessageChannel] = []
  /// By the places that `index` gives, which stay.
  var values: [Value] = []

  @inline(__always)
  func index(of channel: MessageChannel) -> Int? {
    for index in channels.indices where channels[index] == channel { return index }
    return nil
  }

  /// - Parameter new: what the channel gets if there is nothing yet.
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
