import PiconetEngine
import Testing

@Suite("Time")
struct InstantTests {
  private let origin = Instant(nanoseconds: 0)
  private let end = Instant(nanoseconds: .max)

  @Test("a sum stays at the end of the clock")
  func sumClamps() {
    #expect(end + .nanoseconds(1) == end)
    #expect(Instant(nanoseconds: .max - 5) + .nanoseconds(5) == end)
    #expect(seconds(1) + .seconds(Int64.max) == seconds(1) + .nanoseconds(Int64.max))
  }

  @Test("a negative duration stays at the origin")
  func differenceClamps() {
    #expect(Instant(nanoseconds: 5) + .nanoseconds(-5) == origin)
    #expect(Instant(nanoseconds: 5) + .nanoseconds(-6) == origin)
    #expect(seconds(5) + .seconds(Int64.min) == origin)
    #expect(seconds(5) + .seconds(-2) == seconds(3))
  }

  @Test("the time between two instants has a sign and 63 bits")
  func betweenClamps() {
    #expect(seconds(5) - seconds(3) == .seconds(2))
    #expect(seconds(3) - seconds(5) == .seconds(-2))
    #expect(end - origin == .nanoseconds(Int64.max))
    #expect(origin - end == .nanoseconds(-Int64.max))
  }

  @Test("instants are ordered by their nanoseconds")
  func order() {
    #expect(origin < seconds(1))
    #expect(!(seconds(1) < seconds(1)))
  }

  static let durations: [(Duration, Int64)] = [
    (.zero, 0), (.nanoseconds(-1), -1), (.milliseconds(-1500), -1_500_000_000),
    (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
    (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1),
    (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.max) + Duration.nanoseconds(Int64(1)), .max),
    (.nanoseconds(Int64.min), .min), (.nanoseconds(Int64.min) - Duration.nanoseconds(Int64(1)), .min),
  ]

  @Test("a duration in whole nanoseconds is clamped to 64 bits, and cut towards zero", arguments: durations)
  func wholeNanoseconds(duration: Duration, expected: Int64) {
    #expect(duration.wholeNanoseconds == expected)
  }
}
