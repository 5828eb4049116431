import PiconetEngine

/// When an adapter that failed, was switched off or pulled out is taken up again. A pure machine.
///
/// Who switches an adapter off means it: it is waited for. One that was away and is back is switched on, as one is at
/// the start.
struct AdapterRecovery: Sendable {
  enum Adapter: Hashable, Sendable {
    case absent
    case off(index: UInt16)
    case on(index: UInt16)
  }

  enum Step: Hashable, Sendable {
    case wait(until: Instant)
    /// It is to be prepared; `isPowering`: it was off, and we switch it on.
    case prepare(index: UInt16, isPowering: Bool)
  }

  /// How often it is looked whether the adapter is there and on, which costs nothing.
  static let glance = Duration.seconds(2)
  /// After a first failure; doubled after each further one,
  static let firstPause = Duration.seconds(1)
  /// up to this.
  static let longestPause = Duration.seconds(60)

  private var failures = 0
  private var notBefore = Instant(nanoseconds: 0)
  private var wasAbsent: Bool

  /// - Parameter isNew: the adapter has just been chosen: it may be switched on.
  init(isNew: Bool) { wasAbsent = isNew }

  /// What there is to do, the adapter being as it is.
  mutating func step(_ adapter: Adapter, at now: Instant) -> Step {
    switch adapter {
    case .absent:
      wasAbsent = true
      return .wait(until: now + Self.glance)
    case .off where !wasAbsent: return .wait(until: now + Self.glance)
    case .off(let index):
      return now < notBefore ? .wait(until: notBefore) : .prepare(index: index, isPowering: true)
    case .on(let index):
      return now < notBefore ? .wait(until: notBefore) : .prepare(index: index, isPowering: false)
    }
  }

  /// It was prepared, or has failed since: the next attempt waits longer each time.
  mutating func failed(at now: Instant) {
    let pause = Self.firstPause * Int(1 << min(failures, 10))
    notBefore = now + min(pause, Self.longestPause)
    failures += 1
  }

  /// It is ready; whoever switches it off from now on means it.
  mutating func succeeded() {
    wasAbsent = false
    failures = 0
  }
}
