/// The priority of a channel. The next frame comes from the channel of the highest priority that has something to send
/// now. Channels of the same priority take turns, a frame each.
@nonexhaustive
public enum ChannelPriority: UInt8, Sendable, Hashable, CaseIterable, Codable {
  /// Goes before all others.
  case high
  /// The priority of a channel unless set otherwise.
  case normal
  /// Goes after all others. Like files, it never fills all the room for bytes that wait ahead of the kernel.
  case low
}
