import PiconetEngine
import Testing

@testable import PiconetBluetooth

@Suite("An adapter that failed is taken up again")
struct AdapterRecoveryTests {
  static let start = Instant(nanoseconds: 1_000_000_000)

  @Test func whoSwitchesItOffMeansItAndItIsUsedWhenItIsOnAgain() {
    var recovery = AdapterRecovery(isNew: false)
    #expect(recovery.step(.off(index: 0), at: Self.start) == .wait(until: Self.start + AdapterRecovery.glance))
    #expect(recovery.step(.on(index: 0), at: Self.start) == .prepare(index: 0, isPowering: false))
  }

  @Test func oneThatWasAwayAndIsBackUnderAnotherNumberIsSwitchedOn() {
    var recovery = AdapterRecovery(isNew: false)
    #expect(recovery.step(.absent, at: Self.start) == .wait(until: Self.start + AdapterRecovery.glance))
    #expect(recovery.step(.off(index: 3), at: Self.start) == .prepare(index: 3, isPowering: true))
    recovery.succeeded()
    #expect(recovery.step(.off(index: 3), at: Self.start) == .wait(until: Self.start + AdapterRecovery.glance))
  }

  @Test func aNewOneIsSwitchedOn() {
    var recovery = AdapterRecovery(isNew: true)
    #expect(recovery.step(.off(index: 0), at: Self.start) == .prepare(index: 0, isPowering: true))
  }

  @Test func failuresAreFollowedByGrowingPausesOfAMinuteAtMost() {
    var recovery = AdapterRecovery(isNew: true)
    var now = Self.start
    var pauses: [Duration] = []
    for _ in 0..<10 {
      recovery.failed(at: now)
      guard case .wait(let until) = recovery.step(.on(index: 0), at: now) else { return #expect(Bool(false)) }
      pauses.append(until - now)
      now = until
      #expect(recovery.step(.on(index: 0), at: now) == .prepare(index: 0, isPowering: false))
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map { .seconds($0) })
    recovery.succeeded()
    recovery.failed(at: now)
    #expect(recovery.step(.on(index: 0), at: now) == .wait(until: now + AdapterRecovery.firstPause))
  }
}
