import PiconetCalls
import Testing

@Suite("The time of calls, which leaves out gaps")
struct CallTimeTests {
  @Test("is the clock's as long as timers go off in time, or none is set")
  func inTime() {
    var time = AwakeTime()
    for (clock, due) in [(1, nil), (100, nil), (102, 101), (300, 300), (400, 500)] as [(Int, Int?)] {
      let now = time.time(at: .seconds(clock), due: due.map { .seconds($0) })
      #expect(now == .seconds(clock))
    }
  }

  @Test("leaves a call as much time as it had when the process stopped", arguments: [30, 300, 5 * 86_400])
  func gap(length: Int) {
    var time = AwakeTime()
    var calls = PeerCalls(instance: 1, own: CallLimits(frame: 1_000, calls: 10))
    let made = time.time(at: .seconds(10), due: nil)
    _ = try? calls.begin(1, [1], until: made + .seconds(25))
    let woken = time.time(at: .seconds(35 + length), due: calls.nextDeadline)
    let none = calls.expired(at: woken)
    #expect(woken == .seconds(10) && none.isEmpty)
    #expect(time.clock(at: .seconds(35)) == .seconds(60 + length))
    let end = time.time(at: .seconds(60 + length), due: calls.nextDeadline)
    let expired = calls.expired(at: end)
    // The member is told, too.
    #expect(expired.count == 2)
  }
}
