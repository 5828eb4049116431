import Testing

@testable import PiconetEngine
@testable import PiconetRuntime

/// What waits before the bottleneck of a path goes until then.
private final class Queue {
  var freeAt = 0.0
}

/// A path in virtual time, with a rate, a delay and an endless queue.
///
/// A relay at its end tells what it has passed on as the protocol asks it to: after 4,096 bytes, or 1,024 when it has
/// passed on everything. TCP acknowledges each second segment, and a single one after 40 ms.
private struct CarryingPath {
  let rate: Double
  /// In seconds, both ways together.
  var delay: Double
  let source: PathFlight.Source
  private(set) var time = 0.0
  /// Several connections may share it.
  var queue = Queue()
  private var packets = FirstInFirstOut<(at: Double, count: Int)>()
  private var acknowledgements = FirstInFirstOut<(at: Double, upTo: Int)>()
  private var delayedAcknowledgement: Double?
  private var written = 0
  private(set) var carried = 0
  private var acknowledged = 0
  /// What has arrived, and how much of it an acknowledgement is on its way for.
  private var reported = 0
  private var lookAt: Double?

  init(rate: Double, delay: Double, toldBy source: PathFlight.Source) {
    self.rate = rate
    self.delay = delay
    self.source = source
  }

  var now: Instant { Instant(nanoseconds: UInt64(time * 1e9)) }
  /// How long what is written now waits.
  var queueing: Double { max(0, queue.freeAt - time) }

  /// Bytes that are not ours go first.
  mutating func carryOther(_ count: Int) { queue.freeAt = max(queue.freeAt, time) + Double(count) / rate }

  mutating func write(_ count: Int, _ flight: inout PathFlight) {
    var left = count
    while left > 0 {
      let packet = source == .kernel ? min(left, 1_448) : left
      left -= packet
      written += packet
      queue.freeAt = max(queue.freeAt, time) + Double(packet) / rate
      packets.append((queue.freeAt + delay / 2, packet))
    }
    flight.wrote(count, at: now)
    if source == .kernel, flight.isWorthALook { _ = look(&flight) }
  }

  private mutating func look(_ flight: inout PathFlight) -> Bool {
    // The handshake found the path empty, and what was seen once is not forgotten.
    shortest = min(shortest, delay)
    let hasRoom = flight.acknowledged(
      inFlight: written - acknowledged, roundTrip: .nanoseconds(Int64(shortest * 1e9)), at: now)
    lookAt = flight.isWorthALook ? time + Double(flight.patience.wholeNanoseconds) / 1e9 : nil
    return hasRoom
  }
  private var shortest = Double.infinity

  /// Goes on to the next thing that happens, or to `end`, and tells the sender's side of it.
  /// - Returns: whether the sender is told that more may go.
  mutating func advance(to end: Double, _ flight: inout PathFlight) -> Bool {
    var hasRoom = false
    time = max(time, next(before: end))
    if let packet = packets.first, packet.at <= time {
      _ = packets.popFirst()
      carried += packet.count
      let unreported = carried - reported
      let isDue =
        source == .kernel
        ? unreported > 1_448 : unreported >= 4_096 || (packets.isEmpty && unreported >= 1_024)
      if isDue { acknowledge() } else if source == .kernel { delayedAcknowledgement = time + 0.04 }
    }
    if let delayed = delayedAcknowledgement, delayed <= time { acknowledge() }
    if let acknowledgement = acknowledgements.first, acknowledgement.at <= time {
      _ = acknowledgements.popFirst()
      acknowledged = acknowledgement.upTo
      if source == .relay {
        hasRoom = flight.acknowledged(inFlight: written - acknowledged, roundTrip: nil, at: now)
      }
    }
    if let lookAt, lookAt <= time { hasRoom = look(&flight) || hasRoom }
    return hasRoom
  }

  /// When the next thing happens, or `end` if that is before.
  func next(before end: Double) -> Double {
    [packets.first?.at, acknowledgements.first?.at, delayedAcknowledgement, lookAt].compactMap { $0 }.reduce(end, min)
  }

  private mutating func acknowledge() {
    acknowledgements.append((time + delay / 2, carried))
    reported = carried
    delayedAcknowledgement = nil
  }
}

@Suite("What is in flight on a path whose length is not known, or changes")
struct PathFlightTests {
  private static let sources: [PathFlight.Source] = [.kernel, .relay]

  private struct Figures {
    /// The part of the rate that was used.
    var used = 0.0
    /// The longest time, in seconds, that a message would have waited, and that which nine of ten would not.
    var longest = 0.0
    var usual = 0.0
  }

  /// Sends as much of a file as there is room for, in frames as the engine makes them.
  private func fill(_ path: inout CarryingPath, _ flight: inout PathFlight) {
    while flight.pace.room > 0 { path.write(min(16_381, max(1_024, flight.pace.bound / 4)), &flight) }
  }

  /// Sends a file over the path, in frames as the engine makes them, and a message each 20 ms.
  /// - Parameter others: for how long, in seconds, what others send keeps the path busy.
  private func send(
    _ path: inout CarryingPath, _ flight: inout PathFlight, seconds: Double, messages: Int = 64, others: Double = 0
  ) -> Figures {
    let start = path.time
    let before = path.carried
    var waits: [Double] = []
    var nextMessage = start
    var mayWrite = true
    while path.time < start + seconds {
      if path.queueing < others { path.carryOther(Int((others - path.queueing) * path.rate)) }
      // Only after a write, or when told to: the room is not looked at in between.
      if mayWrite { fill(&path, &flight) }
      mayWrite = false
      if path.time >= nextMessage {
        waits.append(path.queueing)
        path.write(messages, &flight)
        mayWrite = true
        nextMessage += 0.02
      }
      if path.advance(to: min(nextMessage, start + seconds), &flight) { mayWrite = true }
    }
    waits.sort()
    return Figures(
      used: Double(path.carried - before) / path.rate / seconds, longest: waits[waits.count - 1],
      usual: waits[waits.count * 9 / 10])
  }

  @Test(
    "a path of any rate and length is kept busy, and its queue short",
    arguments: sources.flatMap { source in
      [250e3, 2.5e6, 10e6].flatMap { rate in [0.000_2, 0.005, 0.08].map { (source, rate, $0) } }
    })
  func anyPath(source: PathFlight.Source, rate: Double, delay: Double) {
    var path = CarryingPath(rate: rate, delay: delay, toldBy: source)
    var flight = PathFlight(toldBy: source)
    _ = send(&path, &flight, seconds: 2)
    let figures = send(&path, &flight, seconds: 22)
    #expect(figures.used > 0.85, "\(figures) of the rate")
    #expect(figures.usual < 0.045 + delay / 2, "\(figures) s in the queue")
    #expect(figures.longest < 0.08 + delay, "\(figures) s in the queue")
  }

  @Test(
    "what else the path carried when the connection was new is forgotten: then its queue is short", arguments: sources)
  func besideOthers(source: PathFlight.Source) {
    var path = CarryingPath(rate: 250e3, delay: 0.002, toldBy: source)
    var flight = PathFlight(toldBy: source)
    _ = send(&path, &flight, seconds: 1, others: 0.1)
    _ = send(&path, &flight, seconds: 12)
    let figures = send(&path, &flight, seconds: 5)
    #expect(figures.longest < 0.06, "\(figures)")
    #expect(figures.used > 0.85, "\(figures)")
  }

  @Test(
    "beside others that keep the queue of the path long, bulk goes on; when they have gone, the queue is short again",
    arguments: sources)
  func besideOthersForLong(source: PathFlight.Source) {
    var path = CarryingPath(rate: 2.5e6, delay: 0.002, toldBy: source)
    var flight = PathFlight(toldBy: source)
    _ = send(&path, &flight, seconds: 1)
    _ = send(&path, &flight, seconds: 30, others: 0.1)
    let beside = send(&path, &flight, seconds: 30, others: 0.1)
    #expect(beside.used > 0.2, "\(beside)")
    _ = send(&path, &flight, seconds: 12)
    let alone = send(&path, &flight, seconds: 20)
    #expect(alone.used > 0.9, "\(alone)")
    #expect(alone.longest < 0.06, "\(alone)")
  }

  @Test(
    "several that share a path keep its queue short, and each has its share",
    arguments: sources.flatMap { source in [250e3, 2.5e6].flatMap { rate in [2, 3].map { (source, rate, $0) } } })
  func several(source: PathFlight.Source, rate: Double, count: Int) {
    let queue = Queue()
    var paths = (0..<count).map { _ in
      var path = CarryingPath(rate: rate, delay: 0.005, toldBy: source)
      path.queue = queue
      return path
    }
    var flights = paths.map { _ in PathFlight(toldBy: source) }
    var waits: [Double] = []
    var (time, end) = (0.0, 0.0)
    var carried = paths.map(\.carried)
    for index in paths.indices { fill(&paths[index], &flights[index]) }
    while time < 50 {
      end += 0.02
      while time < end {
        let next = paths.map { $0.next(before: end) }.reduce(end, min)
        for index in paths.indices {
          if paths[index].advance(to: next, &flights[index]) { fill(&paths[index], &flights[index]) }
        }
        time = next
      }
      if time >= 20 { waits.append(paths[0].queueing) }
      if time < 20 { carried = paths.map(\.carried) }
    }
    waits.sort()
    let shares = paths.indices.map { Double(paths[$0].carried - carried[$0]) / rate / 30 }
    #expect(shares.reduce(0, +) > 0.85, "\(shares)")
    #expect(shares.allSatisfy { $0 > 0.3 / Double(count) }, "\(shares)")
    let usual = waits[waits.count * 9 / 10]
    #expect(
      usual < (rate > 1e6 ? 0.06 : 0.06 * Double(count)), "\(usual) s in the queue, at most \(waits[waits.count - 1])")
  }

  @Test(
    "the path is replaced by a longer one, or a shorter one: that is busy soon, and its queue short",
    arguments: sources.flatMap { [($0, 0.000_2, 0.05), ($0, 0.05, 0.000_2)] })
  func pathChanges(source: PathFlight.Source, before: Double, after: Double) {
    var path = CarryingPath(rate: 5e6, delay: before, toldBy: source)
    var flight = PathFlight(toldBy: source)
    _ = send(&path, &flight, seconds: 15)
    path.delay = after
    _ = send(&path, &flight, seconds: 12)
    let figures = send(&path, &flight, seconds: 20)
    #expect(figures.used > 0.85, "\(figures)")
    #expect(figures.usual < 0.045 + after / 2, "\(figures)")
  }

  @Test(
    "messages beside the file, few or so many that they fill most of the path, do not keep a probe from its result",
    // In seconds, bytes, and a part of the rate: many messages take 200 kB/s of it.
    arguments: sources.flatMap { [($0, 0.1, 500, 0.93), ($0, 0.005, 4_000, 0.9)] })
  func messagesBeside(source: PathFlight.Source, delay: Double, messages: Int, used: Double) {
    var path = CarryingPath(rate: 250e3, delay: delay, toldBy: source)
    var flight = PathFlight(toldBy: source)
    let figures = send(&path, &flight, seconds: 60, messages: messages)
    #expect(figures.used > used, "\(figures)")
  }

  @Test(
    "short messages alone begin no probe, and what they wait for a frame of credit is no round trip", arguments: sources
  )
  func shortMessages(source: PathFlight.Source) {
    var path = CarryingPath(rate: 2.5e6, delay: 0.005, toldBy: source)
    var flight = PathFlight(toldBy: source)
    let before = flight.pace.bound
    for _ in 0..<2_000 {
      path.write(64, &flight)
      let end = path.time + 1
      while path.time < end { _ = path.advance(to: end, &flight) }
    }
    #expect(flight.pace.bound == before && flight.pace.room > before / 2)
    // Half an hour later a file finds a path of 5 ms, not of the seconds between messages.
    _ = send(&path, &flight, seconds: 1)
    let figures = send(&path, &flight, seconds: 5)
    #expect(figures.longest < 0.06, "\(figures)")
  }
}
