import PiconetEngine

/// Whether the radio that discovery scans with is needed for something else: dialling, a handshake, bulk in either
/// direction.
///
/// A short message or a heartbeat is no use: with those alone a connected node would never search again. A pause in a
/// transfer does not end the use at once, or a scan would begin in each.
struct RadioUse: Sendable, Equatable {
  /// This long after its last use the radio counts as busy still.
  static let hold: Duration = .seconds(2)
  /// This many bytes within `span`, over all links of the radio, are bulk.
  static let bulk = 8 << 10
  static let span: Duration = .milliseconds(500)

  /// Dials and handshakes that have begun and not ended: a scan beside them would be in their way.
  private(set) var openUses = 0
  /// Links with bytes that the kernel does not take.
  private(set) var blockedLinks = 0
  /// When the last dial or handshake has ended.
  private(set) var lastOpenUse: Instant?
  private var lastUse: Instant?
  private var spanStart: Instant?
  private var spanBytes = 0

  /// A dial or a handshake has begun.
  mutating func began() { openUses += 1 }

  /// What has begun is over, with whatever result.
  mutating func ended(at now: Instant) {
    openUses -= 1
    lastOpenUse = now
    lastUse = now
  }

  /// Unsent bytes wait for room.
  mutating func blocked() { blockedLinks += 1 }

  mutating func unblocked(at now: Instant) {
    blockedLinks -= 1
    lastUse = now
  }

  /// Bytes were sent or received.
  mutating func moved(_ count: Int, at now: Instant) {
    if let spanStart, now < spanStart + Self.span {
      spanBytes += count
    } else {
      spanStart = now
      spanBytes = count
    }
    if spanBytes >= Self.bulk { lastUse = now }
  }

  func isBusy(at now: Instant) -> Bool {
    if openUses > 0 || blockedLinks > 0 { return true }
    guard let lastUse else { return false }
    return now < lastUse + Self.hold
  }

  /// When the radio is free again if nothing uses it until then; nil if it is free, or in use with no end in sight.
  func nextDeadline(at now: Instant) -> Instant? {
    guard openUses == 0, blockedLinks == 0, let lastUse, now < lastUse + Self.hold else { return nil }
    return lastUse + Self.hold
  }
}
