/// The state of a transfer, seen from either side.
public struct TransferProgress: Sendable, Hashable {
  /// The number of bytes that the receiver has stored.
  public var stored: UInt64
  /// The number of bytes of the whole resource.
  public var total: UInt64
  /// The fraction that the receiver has stored, from 0 to 1; 1 for an empty resource.
  public var fractionCompleted: Double { total == 0 ? 1 : Double(stored) / Double(total) }
  /// The number of bytes that an earlier transfer had stored, and that were not sent again.
  public var resumedFrom: UInt64 = 0
  /// The number of bytes that a side has read to find out whether the receiver has the content already: of the
  /// receiver's file before the offer is accepted, of the sender's afterwards. It grows only where this takes a while.
  public var compared: UInt64 = 0
  /// For an outgoing transfer: whether the receiver has said that it lacks content of it.
  package var isLacked = false
  /// Whether this side has paused it.
  public var isPaused = false
  /// Whether the other side has paused it.
  public var isPausedByRemote = false
}

/// The states of a transfer: as it is at first, and again after each change. A slow reader sees the latest state, not
/// each one. Ends with the transfer.
public struct TransferChanges: AsyncSequence, Sendable {
  public typealias Element = TransferProgress
  let watched: Watched<TransferProgress>

  public struct AsyncIterator: AsyncIteratorProtocol {
    let watched: Watched<TransferProgress>
    var version: UInt64 = 0

    public mutating func next() async -> TransferProgress? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> TransferProgress? {
      guard let (value, version) = await watched.next(after: version, isolation: actor) else { return nil }
      self.version = version
      return value
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(watched: watched) }
}
