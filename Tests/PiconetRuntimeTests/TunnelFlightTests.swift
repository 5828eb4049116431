import Testing

@testable import PiconetEngine
@testable import PiconetRuntime

/// A path to a relay in virtual time, with a rate, a delay and an endless queue. The relay passes on what comes, and
/// tells so as the protocol asks it to: after 4,096 bytes, or 1,024 when it has passed on everything.
private struct RelayedPath {
  var rate: Double
  /// In seconds, both ways together.
  var delay: Double
  private(set) var time = 0.0
  private var freeAt = 0.0
  private var packets = FirstInFirstOut<(at: Double, count: Int)>()
  private var credits = FirstInFirstOut<(at: Double, count: Int)>()
  private var unreported = 0
  private var queued = 0
  private(set) var carried = 0

  init(rate: Double, delay: Double) {
    self.rate = rate
    self.delay = delay
  }

  var now: Instant { Instant(nanoseconds: UInt64(time * 1e9)) }
  /// How long what is written now waits.
  var queueing: Double { max(0, freeAt - time) }

  /// Bytes that are not of the tunnel go first.
  mutating func carryOther(_ count: Int) { freeAt = max(freeAt, time) + Double(count) / rate }

  mutating func write(_ count: Int) {
    freeAt = max(freeAt, time) + Double(count) / rate
    queued += count
    packets.append((freeAt + delay / 2, count))
  }

  /// Goes on to the next thing that happens, or to `end`.
  /// - Returns: what the relay tells then.
  mutating func advance(to end: Double) -> Int? {
    let next = min(packets.first?.at ?? end, credits.first?.at ?? end, end)
    time = max(time, next)
    if let packet = packets.first, packet.at <= time {
      _ = packets.popFirst()
      carried += packet.count
      queued -= packet.count
      unreported += packet.count
      if unreported >= 4_096 || (queued == 0 && unreported >= 1_024) {
        credits.append((time + delay / 2, unreported))
        unreported = 0
      }
    }
    guard let credit = credits.first, credit.at <= time else { return nil }
    _ = credits.popFirst()
    return credit.count
  }
}

@Suite("What a tunnel may have in flight")
struct TunnelFlightTests {
  private struct Figures {
    /// The part of the rate that was used.
    var used = 0.0
    /// The longest time, in seconds, that a message would have waited, and that which nine of ten would not.
    var longest = 0.0
    var usual = 0.0
  }

  /// Sends a file through the tunnel, in frames as the engine makes them, and a message each 20 ms.
  /// - Parameter others: for how long, in seconds, what others send keeps the path busy.
  private func send(
    _ path: inout RelayedPath, _ flight: inout TunnelFlight, seconds: Double, messages: Int = 64, others: Double = 0
  ) -> Figures {
    let start = path.time
    let before = path.carried
    var waits: [Double] = []
    var nextMessage = start
    while path.time < start + seconds {
      if path.queueing < others { path.carryOther(Int((others - path.queueing) * path.rate)) }
      while flight.pace.room > 0 {
        let count = min(16_381, max(1_024, flight.pace.bound / 4))
        path.write(count)
        flight.wrote(count, at: path.now)
      }
      if path.time >= nextMessage {
        waits.append(path.queueing)
        path.write(messages)
        flight.wrote(messages, at: path.now)
        nextMessage += 0.02
      }
      if let count = path.advance(to: min(nextMessage, start + seconds)) { _ = flight.passedOn(count, at: path.now) }
    }
    waits.sort()
    return Figures(
      used: Double(path.carried - before) / path.rate / seconds, longest: waits[waits.count - 1],
      usual: waits[waits.count * 9 / 10])
  }

  @Test(
    "a path of any rate and length is kept busy, and its queue short",
    arguments: [250e3, 2.5e6, 25e6], [0.000_2, 0.005, 0.08])
  func anyPath(rate: Double, delay: Double) {
    var path = RelayedPath(rate: rate, delay: delay)
    var flight = TunnelFlight()
    _ = send(&path, &flight, seconds: 2)
    let figures = send(&path, &flight, seconds: 38)
    #expect(figures.used > 0.85, "\(figures) of the rate")
    #expect(figures.usual < 0.045 + delay / 2, "\(figures) s in the queue")
    #expect(figures.longest < 0.06 + delay, "\(figures) s in the queue")
  }

  @Test("what else the path carried when the tunnel was new is forgotten: then its queue is short")
  func besideOthers() {
    var path = RelayedPath(rate: 250e3, delay: 0.002)
    var flight = TunnelFlight()
    _ = send(&path, &flight, seconds: 1, others: 0.1)
    _ = send(&path, &flight, seconds: 12)
    let figures = send(&path, &flight, seconds: 5)
    #expect(figures.longest < 0.06, "\(figures)")
    #expect(figures.used > 0.85, "\(figures)")
  }

  @Test(
    "the link to the relay is replaced: the new path, longer or shorter, is busy and its queue short within its probe",
    arguments: [(0.000_2, 0.05), (0.05, 0.000_2)])
  func pathChanges(before: Double, after: Double) {
    var path = RelayedPath(rate: 5e6, delay: before)
    var flight = TunnelFlight()
    _ = send(&path, &flight, seconds: 15)
    path.delay = after
    _ = send(&path, &flight, seconds: 12)
    let figures = send(&path, &flight, seconds: 20)
    #expect(figures.used > 0.85, "\(figures)")
    #expect(figures.usual < 0.045 + after / 2, "\(figures)")
  }

  @Test("messages that never let the path become empty end a probe, and bulk goes on")
  func floodOfMessages() {
    var path = RelayedPath(rate: 250e3, delay: 0.005)
    var flight = TunnelFlight()
    let figures = send(&path, &flight, seconds: 60, messages: 4_000)
    // The messages take 200 kB/s of it.
    #expect(figures.used > 0.9, "\(figures)")
  }

  @Test("short messages alone begin no probe, and what they wait for a frame of credit is no round trip")
  func shortMessages() {
    var path = RelayedPath(rate: 2.5e6, delay: 0.005)
    var flight = TunnelFlight()
    let before = flight.pace.bound
    for _ in 0..<2_000 {
      path.write(64)
      flight.wrote(64, at: path.now)
      let end = path.time + 1
      while path.time < end { if let count = path.advance(to: end) { _ = flight.passedOn(count, at: path.now) } }
    }
    #expect(flight.pace.bound == before && flight.pace.room > before / 2)
    // An hour later a file finds a path of 5 ms, not of the seconds between messages.
    _ = send(&path, &flight, seconds: 1)
    let figures = send(&path, &flight, seconds: 5)
    #expect(figures.longest < 0.06, "\(figures)")
  }
}
