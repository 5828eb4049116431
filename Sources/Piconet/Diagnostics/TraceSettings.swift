/// Where a node records what it takes and does, for a bug report that can be replayed.
///
/// A trace holds everything that was said, to whom and when, with names and addresses: treat it like the messages
/// themselves. Only this user can read it. The device's key is not in it.
public struct TraceSettings: Sendable, Hashable {
  /// The file: created, or replaced, at the start.
  public var path: String
  /// Contents of messages and files are replaced by as many zeros, so that the trace can be shown to others. Names,
  /// addresses, sizes, times, contexts of invitations, metadata and digests of files stay.
  public var isRedacted = false
  /// The largest size of the file in bytes: the recording ends there. Default 1 GiB.
  public var limit: UInt64 = 1 << 30

  /// All contents, at most 1 GiB.
  public init(path: String) { self.path = path }
}
