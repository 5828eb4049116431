import PiconetWire

/// The limit on addresses dialled because of one key's introductions: 256 in ten minutes.
struct IntroducerBudget: Sendable {
  static let limit = 256
  static let time = Duration.seconds(600)
  /// The number of remembered keys.
  private static let keyLimit = 256

  private var begun: [PeerID: (since: Instant, count: Int)] = [:]

  mutating func take(from introducer: PeerID, at now: Instant) -> Bool {
    if begun.count >= Self.keyLimit, begun[introducer] == nil {
      begun = begun.filter { now < $0.value.since + Self.time }
      guard begun.count < Self.keyLimit else { return false }
    }
    var (since, count) = begun[introducer] ?? (now, 0)
    if since + Self.time <= now { (since, count) = (now, 0) }
    guard count < Self.limit else { return false }
    begun[introducer] = (since, count + 1)
    return true
  }
}
