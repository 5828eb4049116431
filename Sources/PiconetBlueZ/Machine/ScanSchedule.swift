import PiconetEngine

/// A scan that has begun, and when it should end.
public struct ScanWindow: Sendable, Hashable {
  public var since: Instant
  public var until: Instant

  public init(since: Instant, until: Instant) {
    self.since = since
    self.until = until
  }
}

/// The schedule of scans and rests.
struct ScanSchedule: Sendable {
  private enum Phase: Sendable {
    case idle
    /// A scan may start at this time.
    case resting(until: Instant)
    /// bluetoothd scans.
    case scanning(since: Instant, until: Instant)
  }

  private var phase = Phase.idle
  private var eagerUntil = Instant(nanoseconds: 0)
  private var isBusy = false
  /// Whether it may scan even while others use the radio.
  private var hasTurn = false
  /// The time since which a pause has been wanted; nil: none is wanted.
  private var pauseSince: Instant?
  /// The end of the last whole scan, or the beginning of the search.
  private var lastWhole = Instant(nanoseconds: 0)
  /// The scan of another node of this process, which ours joins.
  private var sibling: ScanWindow?
  let settings: BlueZSettings

  init(settings: BlueZSettings) { self.settings = settings }

  /// Begins a search, with eager scans.
  mutating func begin(at now: Instant) {
    eagerUntil = now + settings.eagerness
    lastWhole = now
    if case .scanning = phase { return }
    phase = .resting(until: now)
  }

  mutating func end() { phase = .idle }

  mutating func setBusy(_ isBusy: Bool, at now: Instant) {
    if self.isBusy, !isBusy, case .resting(let until) = phase {
      phase = .resting(until: max(until, now + settings.quiet))
    }
    self.isBusy = isBusy
  }

  /// Sets whether it has a turn. A turn while others send is short, so the scan begins at once.
  mutating func setTurn(_ hasTurn: Bool, at now: Instant) {
    self.hasTurn = hasTurn
    if hasTurn, case .resting(let until) = phase { phase = .resting(until: min(until, now)) }
  }

  /// Whether others use the radio.
  var isHeldOff: Bool { isBusy && !hasTurn }

  /// Sets whether a connection over LE is wanted, which Linux does not make while it scans.
  mutating func setPauseWanted(_ isWanted: Bool, at now: Instant) {
    if isWanted != (pauseSince != nil) { pauseSince = isWanted ? now : nil }
  }

  /// The end of the wanted pause; nil: no pause is wanted. If a whole scan is long overdue, it is not broken off again:
  /// without whole scans no device would ever be missed.
  private var pauseEnd: Instant? {
    guard let pauseSince else { return nil }
    if case .scanning(let since, _) = phase, since > lastWhole + settings.wholeScanInterval { return nil }
    return pauseSince + settings.longestPause
  }

  /// Notes that another node of this process scans. A resting node joins that scan for as long as it lasts, since it
  /// occupies the radio anyway. Only while both rest can others use the radio, and does BlueZ forget the devices it has
  /// heard.
  mutating func siblingScans(_ window: ScanWindow, at now: Instant) {
    guard now < window.until else { return }
    sibling = window
    if case .resting(let until) = phase { phase = .resting(until: min(until, now)) }
  }

  /// The scan that bluetoothd does for us; nil: none.
  var window: ScanWindow? {
    if case .scanning(let since, let until) = phase { ScanWindow(since: since, until: until) } else { nil }
  }

  /// Returns whether bluetoothd should scan now.
  func wantsScan(at now: Instant) -> Bool {
    if isHeldOff { return false }
    if let pauseEnd, now < pauseEnd { return false }
    return switch phase {
    case .idle: false
    case .resting(let until): now >= until
    case .scanning(_, let until): now < until
    }
  }

  mutating func started(at now: Instant) {
    if case .idle = phase { return }
    guard let sibling, now < sibling.until else {
      phase = .scanning(since: now, until: now + settings.scan)
      return
    }
    // A node that joins at once hears a whole scan.
    let isAtOnce = now <= sibling.since + settings.eagerRest
    phase = .scanning(since: isAtOnce ? sibling.since : now, until: sibling.until)
  }

  /// - Returns: true if the scan was long enough to decide which devices were not heard.
  mutating func stopped(at now: Instant) -> Bool {
    guard case .scanning(let since, let until) = phase else { return false }
    sibling = nil
    if now < until, !isHeldOff, pauseSince != nil {
      // The scan goes on right after the pause, whose time counts from now.
      phase = .resting(until: now)
      pauseSince = now
      return false
    }
    if now >= until { lastWhole = now }
    phase = .resting(until: now + (isHeldOff ? settings.quiet : now < eagerUntil ? settings.eagerRest : settings.rest))
    return now >= until && now - since >= settings.scan
  }

  /// Notes that the scan has ended early; the next one may start at once.
  mutating func interrupted() {
    guard case .scanning = phase else { return }
    sibling = nil
    phase = .resting(until: Instant(nanoseconds: 0))
  }

  var nextDeadline: Instant? {
    if isHeldOff { return nil }
    return switch phase {
    case .idle: nil
    case .resting(let until): max(until, pauseEnd ?? until)
    case .scanning(_, let until): until
    }
  }
}
