import PiconetEngine
import PiconetWire

/// Veiled devices in sight whose keys have yet to be looked for. That costs an HMAC for every known key, and any device
/// can invent veils as fast as packets can be sent. A period therefore has room for a limited number of HMACs, and the
/// rest waits in order. A value: its owner supplies the time.
struct VeilQueue: Sendable {
  static let period = Duration.milliseconds(100)
  /// About four milliseconds of processor time.
  static let attemptsPerPeriod = 4096
  /// The number of devices that may wait. Beyond it none is added.
  static let limit = 4096

  private var waiting: [Sighting] = []
  private var periodEnd: Instant?
  private var attempts = 0

  /// Adds a device; one that waits already keeps its place.
  mutating func append(_ sighting: Sighting) {
    if !update(sighting), waiting.count < Self.limit { waiting.append(sighting) }
  }

  /// Updates a waiting device of which more has become known.
  /// - Returns: false if it does not wait.
  @discardableResult
  mutating func update(_ sighting: Sighting) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.isSameNode(as: sighting.peer, sighting.incarnation) }) else {
      return false
    }
    waiting[index] = sighting
    return true
  }

  mutating func remove(_ veil: PeerID, _ incarnation: Incarnation) {
    waiting.removeAll { $0.isSameNode(as: veil, incarnation) }
  }

  mutating func removeAll() { waiting = [] }

  /// Returns the device whose key is to be looked for next, if the period has room.
  mutating func next(at now: Instant) -> Sighting? {
    if waiting.isEmpty { return nil }
    if periodEnd.map({ $0 <= now }) ?? true { (periodEnd, attempts) = (now + Self.period, 0) }
    return attempts < Self.attemptsPerPeriod ? waiting.removeFirst() : nil
  }

  /// Notes that looking for a key took this many HMACs. If that uses the period up, the next one begins after a pause,
  /// however long the work took.
  mutating func spent(_ count: Int, until now: Instant) {
    attempts += count
    if attempts >= Self.attemptsPerPeriod { periodEnd = now + Self.period }
  }

  /// When the next device has its turn; nil: none waits.
  var nextDeadline: Instant? { waiting.isEmpty ? nil : periodEnd }
}

extension Sighting {
  fileprivate func isSameNode(as peer: PeerID, _ incarnation: Incarnation) -> Bool {
    self.peer == peer && self.incarnation == incarnation
  }
}
