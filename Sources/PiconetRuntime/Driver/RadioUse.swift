import PiconetEngine

/// Whether the radio that discovery scans with is needed for something else: dialling, a handshake, bulk in either
/// direction.
///
/// Short messages and heartbeats don't count as use: otherwise a connected node would never search again. A pause in a
/// transfer does not end the use at once, or each pause would start a scan.
struct RadioUse: Sendable, Equatable {
  /// How long the radio counts as busy after its last use.
  static let hold: Duration = .seconds(2)
  /// The time for which handshakes of accepted links count at most in each `acceptedInterval`, all together. Any device
  /// can open links and send nothing on them, and must not keep the radio that way.
  static let accepted: Duration = .seconds(2)
  static let acceptedInterval: Duration = .seconds(10)
  /// This many bytes within `span`, over all links of the radio, are bulk.
  static let bulk = 8 << 10
  static let span: Duration = .milliseconds(500)

  /// Our own dials, and their handshakes, that are under way: a scan would disturb them.
  private(set) var ownUses = 0
  /// Accepted links in their handshakes.
  private(set) var acceptedUses = 0
  /// The time since which handshakes of accepted links count.
  private var acceptedSince: Instant?
  /// When the last dial or handshake that counted ended.
  private(set) var lastOpenUse: Instant?
  /// When bytes that count last moved or waited.
  private var lastBulk: Instant?
  private var spanStart: Instant?
  private var spanBytes = 0

  /// Notes that our dial, or its handshake, has begun.
  mutating func began() { ownUses += 1 }

  /// Notes that a dial or its handshake is over, with any result.
  mutating func ended(at now: Instant) {
    ownUses -= 1
    lastOpenUse = now
  }

  /// Notes that an accepted link's handshake has begun.
  mutating func acceptedBegan(at now: Instant) {
    acceptedUses += 1
    if acceptedSince.map({ $0 + Self.acceptedInterval <= now }) ?? true { acceptedSince = now }
  }

  mutating func acceptedEnded(at now: Instant) {
    let counted = acceptedEnd(at: now) != nil
    acceptedUses -= 1
    if counted { lastOpenUse = now }
  }

  /// Returns when the handshakes of accepted links will stop counting; nil: they don't count.
  private func acceptedEnd(at now: Instant) -> Instant? {
    guard acceptedUses > 0, let acceptedSince, now < acceptedSince + Self.accepted else { return nil }
    return acceptedSince + Self.accepted
  }

  /// Returns whether a dial or a handshake is under way that a scan would disturb.
  func isOpen(at now: Instant) -> Bool { ownUses > 0 || acceptedEnd(at: now) != nil }

  /// Notes that unsent bytes wait for room on a link, and something has changed there: the wait has begun or ended, or
  /// the kernel has taken some of them. A link on which nothing moves stops counting after the hold: a peer that does
  /// not read must not keep the radio.
  mutating func waited(at now: Instant) { lastBulk = now }

  /// Notes that bytes were sent or received.
  mutating func moved(_ count: Int, at now: Instant) {
    if let spanStart, now < spanStart + Self.span {
      spanBytes += count
    } else {
      spanStart = now
      spanBytes = count
    }
    if spanBytes >= Self.bulk { lastBulk = now }
  }

  func isBusy(at now: Instant) -> Bool {
    if isOpen(at: now) { return true }
    guard let lastUse else { return false }
    return now < lastUse + Self.hold
  }

  /// Returns whether bulk moves, or has moved within the hold.
  func isSending(at now: Instant) -> Bool { sendingEnd.map { now < $0 } ?? false }

  /// When the hold after the last bulk is over; nil: there was no bulk.
  var sendingEnd: Instant? { lastBulk.map { $0 + Self.hold } }

  private var lastUse: Instant? {
    guard let lastOpenUse, let lastBulk else { return lastOpenUse ?? lastBulk }
    return max(lastOpenUse, lastBulk)
  }

  /// Returns when handshakes of accepted links will stop counting, or else when the radio is free again if nothing uses
  /// it until then. Nil if it is free, or in use with no end in sight.
  func nextDeadline(at now: Instant) -> Instant? {
    if ownUses > 0 { return nil }
    if let acceptedEnd = acceptedEnd(at: now) { return acceptedEnd }
    guard let lastUse, now < lastUse + Self.hold else { return nil }
    return lastUse + Self.hold
  }
}
