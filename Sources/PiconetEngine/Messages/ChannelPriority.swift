/// Which channel sends next: the one of highest priority that has something which may go now. Channels of the same
/// priority take turns, a frame each.
@nonexhaustive
public enum ChannelPriority: UInt8, Sendable, Hashable, CaseIterable, Codable {
  /// Before all others.
  case high
  /// The priority of a channel unless set otherwise.
  case normal
  /// Behind all others. Like files, it never fills all the room of what may wait ahead of the kernel.
  case low
}
