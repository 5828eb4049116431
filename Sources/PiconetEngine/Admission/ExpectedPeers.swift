import PiconetWire

/// Peers that a hidden node lets in over links that they open, each until a time of its own.
public struct ExpectedPeers: Sendable {
  /// How many keys may be expected at once.
  public static let limit = 64
  /// What `isDuration` holds a time to, for people.
  public static let durationRule = "a peer is expected for more than 0 s, and at most 24 hours"

  private var deadlines: [PeerID: Instant] = [:]

  /// Whether a peer can be expected for this long.
  public static func isDuration(_ duration: Duration) -> Bool { duration > .zero && duration <= .seconds(86_400) }

  var isEmpty: Bool { deadlines.isEmpty }

  /// Whether the time of this key is not over.
  func contains(_ peer: PeerID, at now: Instant) -> Bool { deadlines[peer].map { now < $0 } ?? false }

  /// When the first of them is over.
  var nextDeadline: Instant? { deadlines.values.min() }

  /// A key that is expected already has the new time in place of its previous one.
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
