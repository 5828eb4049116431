import Synchronization

@testable import PiconetFiles

/// The clocks of a machine that a test restarts and sets.
final class SetClock: Sendable {
  private let moment = Mutex(KeptAge.Moment(boot: 1, running: 100, wall: 1_800_000_000))

  private let asked = Mutex(0)

  var now: KeptAge.Moment {
    asked.withLock { $0 += 1 }
    return moment.withLock { $0 }
  }

  /// How often `now` was asked for.
  var looks: Int { asked.withLock { $0 } }

  func pass(_ seconds: Int64) {
    moment.withLock {
      $0.running += seconds
      $0.wall += seconds
    }
  }

  /// What NTP, or a person, does.
  func put(_ wall: Int64) { moment.withLock { $0.wall = wall } }

  func restart(wall: Int64) {
    moment.withLock { $0 = KeptAge.Moment(boot: $0.boot &+ 1, running: 30, wall: wall) }
  }
}
