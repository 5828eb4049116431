import PiconetEngine

/// Decides when an adapter that failed, was switched off or was pulled out is used again. A pure machine.
///
/// If a person switches an adapter off, it stays off. An adapter that was absent and has come back is switched on, as
/// at the start.
struct AdapterRecovery: Sendable {
  enum Adapter: Hashable, Sendable {
    case absent
    case off(index: UInt16)
    case on(index: UInt16)
  }

  enum Step: Hashable, Sendable {
    case wait(until: Instant)
    /// Prepare it; `isPowering`: it was off, and this process switches it on.
    case prepare(index: UInt16, isPowering: Bool)
  }

  /// How often to check whether the adapter is there and on, which costs nothing.
  static let glance = Duration.seconds(2)
  /// The pause after a first failure, doubled after each further one.
  static let firstPause = Duration.seconds(1)
  /// The longest pause after a failure.
  static let longestPause = Duration.seconds(60)

  private var failures = 0
  private var notBefore = Instant(nanoseconds: 0)
  private var wasAbsent: Bool

  /// - Parameter isNew: the adapter has just been chosen, so it may be switched on.
  init(isNew: Bool) { wasAbsent = isNew }

  /// Returns the next step, given the adapter's present state.
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

  /// Notes that preparing it failed, or that it has failed since: each further attempt waits longer.
  mutating func failed(at now: Instant) {
    let pause = Self.firstPause * Int(1 << min(failures, 10))
    notBefore = now + min(pause, Self.longestPause)
    failures += 1
  }

  /// Notes that it is ready; if a person switches it off from now on, it stays off.
  mutating func succeeded() {
    wasAbsent = false
    failures = 0
  }
}
