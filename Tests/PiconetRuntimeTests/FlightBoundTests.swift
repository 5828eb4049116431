import Testing

@testable import PiconetEngine
@testable import PiconetRuntime

/// A path with a rate, a delay and an endless queue, in virtual time; a sender that always has more.
private struct Path {
  let rate: Double
  /// In seconds, both ways together.
  let delay: Double
  var time = 0.0
  private var written: UInt64 = 0
  private var acknowledged: UInt64 = 0
  /// When the path will have carried what was written, and when what of it is acknowledged.
  private var freeAt = 0.0
  private var acknowledgements = FirstInFirstOut<(at: Double, upTo: UInt64)>()
  /// How long the packet that was written last waits before it is through.
  private(set) var queueing = 0.0
  private(set) var carried: UInt64 = 0

  init(rate: Double, delay: Double) {
    self.rate = rate
    self.delay = delay
  }

  var inFlight: Int { Int(written - acknowledged) }

  mutating func write(_ count: Int) {
    var left = count
    while left > 0 {
      let packet = min(left, 1_448)
      left -= packet
      written += UInt64(packet)
      freeAt = max(freeAt, time) + Double(packet) / rate
      // Every packet is acknowledged.
      acknowledgements.append((freeAt + delay, written))
    }
    queueing = max(0, freeAt - time)
  }

  mutating func advance(_ seconds: Double) {
    time += seconds
    while let next = acknowledgements.first, next.at <= time {
      acknowledged = next.upTo
      _ = acknowledgements.popFirst()
    }
  }

  func sample() -> FlightBound.Sample {
    FlightBound.Sample(
      inFlight: inFlight, written: written,
      roundTrip: .microseconds(Int64((delay + 1_448 / rate) * 1e6)), at: Instant(nanoseconds: UInt64(time * 1e9)))
  }

  var acknowledgedCount: UInt64 { acknowledged }
}

@Suite("What a TCP connection may have in flight")
struct FlightBoundTests {
  /// Sends for some seconds as a link does: looks whenever it is near the bound, or its patience has run out.
  /// - Returns: the part of the rate that was used, and the longest time in the queue, both in the second half.
  private func send(_ path: inout Path, _ bound: inout FlightBound, seconds: Double) -> (used: Double, queueing: Double)
  {
    let end = path.time + seconds
    let middle = path.time + seconds / 2
    var before: UInt64?
    var longest = 0.0
    while path.time < end {
      let room = bound.room(inFlight: path.inFlight)
      path.write(room)
      if path.time >= middle {
        if before == nil { before = path.acknowledgedCount }
        longest = max(longest, path.queueing)
      }
      bound.sampled(path.sample())
      path.advance(Double(bound.patience.wholeNanoseconds) / 1e9)
      bound.sampled(path.sample())
    }
    return (Double(path.acknowledgedCount - (before ?? 0)) / path.rate / (path.time - middle), longest)
  }

  @Test(
    "a path of any rate and length is kept busy, and its queue short",
    arguments: [250e3, 2.5e6, 25e6, 250e6], [0.000_2, 0.005, 0.08])
  func anyPath(rate: Double, delay: Double) {
    var path = Path(rate: rate, delay: delay)
    var bound = FlightBound()
    let (used, queueing) = send(&path, &bound, seconds: 20)
    #expect(used > 0.9, "\(used) of the rate")
    #expect(queueing < 0.03 + delay / 2, "\(queueing) s in the queue")
  }

  @Test("a path that becomes slow has a short queue again soon, and one that becomes fast is soon busy")
  func changes() {
    var bound = FlightBound()
    var fast = Path(rate: 25e6, delay: 0.005)
    _ = send(&fast, &bound, seconds: 5)
    let before = bound.limit
    var slow = Path(rate: 250e3, delay: 0.005)
    slow.time = fast.time
    let slowed = send(&slow, &bound, seconds: 10)
    #expect(bound.limit < before / 10)
    #expect(slowed.queueing < 0.05)
    fast = Path(rate: 25e6, delay: 0.005)
    fast.time = slow.time
    let quickened = send(&fast, &bound, seconds: 10)
    #expect(quickened.used > 0.9)
  }

  @Test("a path that carries little learns nothing, and loses nothing by it")
  func idle() {
    var bound = FlightBound()
    let before = bound.limit
    for second in 0..<100 {
      bound.sampled(
        FlightBound.Sample(
          inFlight: 0, written: UInt64(second * 100), roundTrip: .milliseconds(1),
          at: Instant(nanoseconds: UInt64(second) * 1_000_000_000)))
    }
    #expect(bound.limit == before)
  }

  @Test("the bound keeps within its limits whatever the samples say")
  func limits() {
    var bound = FlightBound()
    for step in 0..<1_000 {
      bound.sampled(
        FlightBound.Sample(
          inFlight: step % 3 == 0 ? 0 : .max / 2, written: UInt64(step),
          roundTrip: .seconds(step % 2 * 1_000), at: Instant(nanoseconds: UInt64(step) * 1_000_000)))
      #expect((3 << 10...64 << 20).contains(bound.limit))
      #expect(bound.patience >= .microseconds(500) && bound.patience <= .milliseconds(5))
    }
  }
}
