import Testing

@testable import PiconetWire

@Suite("When a resource was last changed") struct ResourceTimeTests {
  @Test(
    "one number of nanoseconds holds what it can, to the last",
    arguments: [Int64.min, .min + 1, -1_000_000_001, -1, 0, 1, 999_999_999, .max - 1, .max])
  func holds(nanoseconds: Int64) {
    let time = ResourceTime(nanosecondsSince1970: nanoseconds)
    #expect(time.nanosecondsSince1970 == nanoseconds)
    #expect(time.nearestNanosecondsSince1970 == nanoseconds)
  }

  @Test("beyond its ends it holds none, and the nearest is the end")
  func beyond() throws {
    // 1601, where Windows begins to count; the nanosecond behind the last, and before the first; and the last seconds.
    for (seconds, nanoseconds, nearest) in [
      (-11_644_473_600, 5, Int64.min), (9_223_372_036, 854_775_808, .max), (-9_223_372_037, 145_224_191, .min),
      (.min, 0, .min), (.min, 999_999_999, .min), (.max, 999_999_999, .max),
    ] as [(Int64, UInt32, Int64)] {
      let time = try #require(ResourceTime(seconds: seconds, nanoseconds: nanoseconds))
      #expect(time.nanosecondsSince1970 == nil)
      #expect(time.nearestNanosecondsSince1970 == nearest)
    }
    #expect(ResourceTime(seconds: 0, nanoseconds: 1_000_000_000) == nil)
  }
}
