import Testing

@testable import PiconetCommandLine

@Suite("The rate of a transfer")
struct TransferRateTests {
  private let start = ContinuousClock.now

  @Test("is unknown at first")
  func unknown() {
    var rate = TransferRate()
    #expect(rate.bytesPerSecond == nil)
    rate.record(done: 0, at: start)
    rate.record(done: 1_000_000, at: start + .milliseconds(50))
    #expect(rate.bytesPerSecond == nil)
    #expect(rate.timeLeft(forBytes: 10) == nil)
  }

  @Test("is exact while it is steady, from the first sample on and whatever the pace of reports")
  func steady() throws {
    var rate = TransferRate()
    for milliseconds in stride(from: 0, through: 8000, by: 37) {
      rate.record(done: Int64(milliseconds) * 1000, at: start + .milliseconds(milliseconds))
      if milliseconds > 150 {
        let estimate = try #require(rate.bytesPerSecond)
        #expect(abs(estimate - 1_000_000) < 1)
      }
    }
    let left = try #require(rate.timeLeft(forBytes: 5_000_000))
    #expect(left > .milliseconds(4990) && left < .milliseconds(5010))
  }

  @Test("follows a change: after its memory about two thirds of the way")
  func change() throws {
    var rate = TransferRate()
    var done: Int64 = 0
    for tick in 0..<200 {
      rate.record(done: done, at: start + .milliseconds(tick * 100))
      done += tick < 170 ? 100_000 : 0
    }
    // After 2.9 to 3 seconds of stall, e^-1 of 1 MB/s is left.
    let estimate = try #require(rate.bytesPerSecond)
    #expect(estimate > 330_000 && estimate < 420_000)
  }

  @Test("starts over when the file does, and a stall for ever has no time left")
  func restart() {
    var rate = TransferRate()
    rate.record(done: 0, at: start)
    rate.record(done: 500, at: start + .seconds(1))
    #expect(rate.bytesPerSecond == 500)
    rate.record(done: 100, at: start + .seconds(2))
    #expect(rate.bytesPerSecond == nil)
    rate.record(done: 100, at: start + .seconds(3))
    #expect(rate.bytesPerSecond == 0)
    #expect(rate.timeLeft(forBytes: 1) == nil)
  }
}

@Suite("Figures for people")
struct HumanFiguresTests {
  @Test(
    "bytes",
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1550, "1.6 kB"), (9949, "9.9 kB"), (9950, "10 kB"),
      (999_499, "999 kB"), (999_500, "1.0 MB"), (12_345_678, "12 MB"), (5_368_709_120, "5.4 GB"),
      (Int64.max, "9.2 EB"), (-5, "0 B"),
    ] as [(Int64, String)])
  func bytes(count: Int64, expected: String) { #expect(HumanFigures.bytes(count) == expected) }

  @Test("times", arguments: [(0, "0:00"), (7, "0:07"), (750, "12:30"), (7500, "2:05:00"), (-1, "0:00")])
  func times(seconds: Int, expected: String) { #expect(HumanFigures.time(.seconds(seconds)) == expected) }
}
