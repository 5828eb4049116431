import Testing

@testable import PiconetEngine

@Suite("The time of an engine, which leaves out gaps")
struct AwakeTimeTests {
  private func expect(
    gap isGap: Bool, _ time: inout AwakeTime, to clock: Instant, due: Instant?,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let passed = time.pass(to: clock, due: due)
    #expect(passed == isGap, sourceLocation: sourceLocation)
  }

  @Test("is the driver's clock as long as that calls in time, or nothing was due")
  func inTime() {
    var time = AwakeTime()
    for (clock, due) in [(1, nil), (100, nil), (102, 101), (300, 300), (400, 500)] as [(UInt64, UInt64?)] {
      expect(gap: false, &time, to: seconds(clock), due: due.map { seconds($0) })
      #expect(time.time(at: seconds(clock)) == seconds(clock))
    }
  }

  @Test("goes on where it stood if the driver calls far too late", arguments: [30, 300, 5 * 86_400] as [UInt64])
  func gap(length: UInt64) {
    var time = AwakeTime()
    expect(gap: false, &time, to: seconds(10), due: nil)
    expect(gap: true, &time, to: seconds(10 + length), due: seconds(12))
    #expect(time.time(at: seconds(10 + length)) == seconds(10))
    #expect(time.clock(at: seconds(10)) == seconds(10 + length))
    expect(gap: false, &time, to: seconds(13 + length), due: seconds(12 + length))
    #expect(time.time(at: seconds(13 + length)) == seconds(13))
  }

  @Test("counts what a deadline is behind from the last turn, in which it was past already")
  func alreadyDue() {
    var time = AwakeTime()
    expect(gap: false, &time, to: seconds(10), due: seconds(9))
    expect(gap: false, &time, to: seconds(11), due: seconds(9))
    expect(gap: true, &time, to: seconds(13), due: seconds(9))
  }

  @Test("never passes the end of the clock")
  func extremes() {
    var time = AwakeTime()
    let end = Instant(nanoseconds: .max)
    expect(gap: false, &time, to: Instant(nanoseconds: 0), due: nil)
    expect(gap: true, &time, to: end, due: seconds(1))
    #expect(time.time(at: end) == Instant(nanoseconds: 0) && time.clock(at: end) == end)
  }
}
