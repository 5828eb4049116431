/// Where a node records what it takes and does, for a bug report that can be replayed.
///
/// A trace holds every message, its receiver and its time, with names and addresses: treat it like the messages
/// themselves. Only this user can read it. The device's key is not in it.
public struct TraceSettings: Sendable, Hashable {
  /// The file: created, or replaced, at the start.
  public var path: String
  /// Whether contents of messages and files are replaced by as many zeros, so that the trace can be shown to others.
  /// Names, addresses, sizes, times, contexts of invitations, metadata and digests of files stay.
  public var isRedacted = false
  /// The largest size of the file in bytes: the recording ends there. Default 1 GiB.
  public var limit: UInt64 = 1 << 30

  /// Settings that record all contents, at most 1 GiB.
  public init(path: String) { self.path = path }
}
