import PiconetWire

/// The peers that may connect to this node while it is hidden, each until its own deadline.
public struct ExpectedPeers: Sendable {
  /// How many keys may be expected at once.
  public static let limit = 64
  /// The rule that `isDuration` checks, as a human-readable message.
  public static let durationRule = "a peer is expected for more than 0 s, and at most 24 hours"

  private var deadlines: [PeerID: Instant] = [:]

  /// Returns whether a peer may be expected for this long: more than 0 s, and at most 24 hours.
  public static func isDuration(_ duration: Duration) -> Bool { duration > .zero && duration <= .seconds(86_400) }

  var isEmpty: Bool { deadlines.isEmpty }

  /// Returns whether this key is expected now.
  func contains(_ peer: PeerID, at now: Instant) -> Bool { deadlines[peer].map { now < $0 } ?? false }

  /// When the first expectation ends; nil if no peer is expected.
  var nextDeadline: Instant? { deadlines.values.min() }

  /// Expects a key until `duration` has passed. If the key is expected already, the new deadline replaces the old one.
  /// - Throws: `limitExceeded` if the duration is not allowed, or if `limit` keys are expected already.
  mutating func expect(_ peer: PeerID, for duration: Duration, at now: Instant) throws(Ending) {
    guard Self.isDuration(duration) else { throw Ending(.limitExceeded, .us, Self.durationRule) }
    // The timer may be late.
    removeEnded(at: now)
    guard deadlines[peer] != nil || deadlines.count < Self.limit else {
      throw Ending(.limitExceeded, .us, "\(Self.limit) peers are expected")
    }
    deadlines[peer] = now + duration
  }

  mutating func remove(_ peer: PeerID) { deadlines[peer] = nil }

  mutating func removeEnded(at now: Instant) {
    if let first = nextDeadline, first <= now { deadlines = deadlines.filter { now < $0.value } }
  }
}
