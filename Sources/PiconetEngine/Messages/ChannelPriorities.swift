import PiconetWire

/// The priority of each channel: `normal` unless set otherwise.
public struct ChannelPriorities: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The channels whose priority is not `normal`.
  private(set) var others: [MessageChannel: ChannelPriority] = [:]

  /// Gives every channel the priority `normal`.
  public init() {}

  /// Sets the given priorities. If a channel is named several times, its last priority counts.
  public init(dictionaryLiteral elements: (MessageChannel, ChannelPriority)...) {
    for (channel, priority) in elements { self[channel] = priority }
  }

  /// The priority of one channel.
  public subscript(_ channel: MessageChannel) -> ChannelPriority {
    get { others[channel] ?? .normal }
    set { others[channel] = newValue == .normal ? nil : newValue }
  }
}
