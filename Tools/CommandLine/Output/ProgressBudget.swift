/// How many progress reports may be made for all files together: a peer that begins a hundred transfers and lets them
/// drip must not fill a log. A value: its owner supplies the time.
struct ProgressBudget: Sendable {
  /// For peers that a person lets push, or has chosen: four files have ten a second each.
  static let trustedRate = 40
  /// For all others together: as many as a file has in half a minute, then one a second.
  static let othersBurst = 256

  private var trusted: NoticeAllowance
  private var others: NoticeAllowance

  init(_ now: ContinuousClock.Instant) {
    trusted = NoticeAllowance(Self.trustedRate, then: .seconds(1) / Self.trustedRate, now)
    others = NoticeAllowance(Self.othersBurst, then: .seconds(1), now)
  }

  /// Whether one may be made now; if so, it counts as made.
  mutating func take(isTrusted: Bool, at now: ContinuousClock.Instant) -> Bool {
    isTrusted ? trusted.take(at: now) : others.take(at: now)
  }
}
