import PiconetEngine

/// The bytes in flight on a connection, over TCP or through a tunnel: written and not acknowledged. It also keeps the
/// bound on bulk (`FlightBound`), and the shortest round trip of the path, from which the bound follows.
///
/// While bulk keeps a queue on the way, each measurement of a round trip includes the queue. So once in ten seconds
/// bulk pauses until the bytes in flight are acknowledged, and a little is sent over a path without our own bulk, as
/// BBR does (draft-ietf-ccwg-bbr, ProbeRTT). The path may have become longer: others fill its queue, or the link to the
/// relay was replaced. A sender that keeps to an old round trip then sends ever less, down to nearly nothing.
///
/// The queue of other senders counts up to `othersAtMost`. They may be senders like this one, which would make room for
/// one another's queues in turn, without end. So the connections of one clock probe at the same time, and over TCP no
/// more than `othersAtLeast` counts without the queue that another such sender keeps (`othersShare`).
///
/// A pure value: written and acknowledged bytes go in, with the time.
public struct PathFlight: Sendable {
  /// The source of acknowledgements.
  public enum Source: Sendable {
    /// The kernel, when it is asked. It also knows the shortest round trip of minutes.
    case kernel
    /// The relay, by `tunnelCredit`.
    case relay
  }

  private enum Probe: Sendable {
    /// No bulk goes until the bytes written before are acknowledged.
    case draining(upTo: UInt64)
    /// A little goes, behind `from` bytes. `first` is the round trip that was too long to be accepted at once.
    case measuring(from: UInt64, first: Duration?)
  }

  /// Bytes that are not acknowledged, as far as known.
  public private(set) var inFlight = 0
  private let source: Source
  private var bound: FlightBound
  private var written: UInt64 = 0
  private var lastAcknowledged: Instant?
  /// The bytes whose round trip is being measured: the total at which they are acknowledged, and the start.
  private var timed: (upTo: UInt64, at: Instant)?
  /// The shortest round trip that the kernel has seen, or that was ever measured in the tunnel.
  private var leastRoundTrip: Duration?
  /// The round trip that the bound uses: the shortest of the present path, with the queue of other senders.
  private var shortestRoundTrip: Duration?
  private var probe: Probe?
  private var probeEnds = Instant(nanoseconds: 0)
  /// When the shortest round trip is next measured; nil before it was first needed.
  private var nextProbe: Instant?
  /// Whether the last probe has found more than the kernel's shortest.
  private var isLonger = false
  /// The acknowledged bytes when the last probe ended, and when the bound was last near.
  private var acknowledgedAtProbe: UInt64 = 0
  private var lastNear: Instant?

  /// The size of a probe: so little that it hardly takes time, and so much that it is acknowledged at once.
  private static let probeCount = 3 << 10
  private static let probeInterval = Duration.seconds(10)
  private static let probePatience = Duration.seconds(2)
  /// A connection that was not near its bound for this long has rested; it then sends for a while before it pauses.
  private static let rest = Duration.seconds(3)
  private static let timeAfterRest = Duration.seconds(1)
  private static let othersAtLeast = Duration.milliseconds(30)
  /// The queue of one other connection like this one, and the time of the probe itself.
  private static let othersShare = Duration.milliseconds(15)
  private static let othersAtMost = Duration.milliseconds(400)

  public init(_ configuration: FlightBound.Configuration = FlightBound.Configuration(), toldBy source: Source) {
    self.source = source
    var configuration = configuration
    // A relay acknowledges each 4,096 bytes.
    if source == .relay { configuration.unreported = 4 << 10 }
    bound = FlightBound(configuration)
  }

  /// The bytes that may lack an acknowledgement although they have arrived: TCP delays that of a single segment, a
  /// relay that of less than a kilobyte.
  private var unsureCount: Int {
    switch source {
    case .kernel: 1_500
    case .relay: 1_023
    }
  }

  public var pace: BulkPace {
    // Frames that are cut now fit into the room of a probe.
    if case .measuring = probe { return BulkPace(room: room, bound: min(bound.limit, Self.probeCount)) }
    return BulkPace(room: room, bound: bound.limit)
  }

  private var room: Int {
    switch probe {
    case .draining: 0
    case .measuring(let from, _): max(0, Self.probeCount - Int(clamping: written - from))
    case nil: bound.room(inFlight: inFlight)
    }
  }

  /// Whether the bytes in flight are worth a question to the kernel, now and after `patience`.
  public var isWorthALook: Bool {
    switch probe {
    case .draining: true
    case .measuring: timed != nil
    case nil: bound.isNear(inFlight)
    }
  }

  /// The time until the next question: when a good part of the bound should be free.
  public var patience: Duration { probe == nil ? bound.patience : min(bound.patience, .milliseconds(1)) }

  private var acknowledgedCount: UInt64 { written - min(written, UInt64(inFlight)) }

  /// - Returns: `isWorthALook`, which costs a copy of the whole value where it is asked for from another module.
  @discardableResult
  public mutating func wrote(_ count: Int, at now: @autoclosure () -> Instant) -> Bool {
    let before = written
    written += UInt64(count)
    inFlight += count
    if source == .relay || probe != nil { wrote(before, count, now()) }
    return isWorthALook
  }

  private mutating func wrote(_ before: UInt64, _ count: Int, _ now: Instant) {
    endLateProbe(at: now)
    // Bytes that are not acknowledged at once would get the round trip of later bytes.
    switch probe {
    case .draining: break
    case .measuring(let from, _):
      if timed == nil, written - from > UInt64(unsureCount) { timed = (before + 1, now) }
    case nil:
      if timed == nil, count > unsureCount { timed = (before + 1, now) }
      guard source == .relay, bound.isNear(inFlight) else { return }
      // Acknowledgements come by the kilobyte: a rate is that between two of them.
      sample(at: lastAcknowledged ?? now)
      beginProbeIfDue(at: now)
    }
  }

  /// Notes how much of the written bytes is in flight.
  /// - Parameter roundTrip: the shortest that the kernel has seen; nil if it is not known.
  /// - Returns: whether more bulk may go than before.
  public mutating func acknowledged(inFlight count: Int, roundTrip: Duration?, at now: Instant) -> Bool {
    let before = room
    inFlight = max(0, count)
    lastAcknowledged = now
    if let roundTrip {
      leastRoundTrip = roundTrip
      if !isLonger { shortestRoundTrip = roundTrip }
    }
    if let timed, acknowledgedCount >= timed.upTo {
      self.timed = nil
      measured(now - timed.at, at: now)
    }
    if case .draining(let upTo) = probe, acknowledgedCount + UInt64(unsureCount) >= upTo {
      measure(after: nil, at: now)
    }
    endLateProbe(at: now)
    if probe == nil {
      sample(at: now)
      if bound.isNear(inFlight) { beginProbeIfDue(at: now) }
    }
    return room > before
  }

  private mutating func measured(_ roundTrip: Duration, at now: Instant) {
    let least = min(roundTrip, leastRoundTrip ?? roundTrip)
    if source == .relay { leastRoundTrip = least }
    switch probe {
    case .draining: break
    case .measuring(_, let first):
      // A lost segment, or a busy moment there, does not make the path longer.
      if first == nil, roundTrip > least + Self.othersAtLeast { return measure(after: roundTrip, at: now) }
      take(min(roundTrip, first ?? roundTrip), least: least)
      endProbe(at: now)
    case nil: shortestRoundTrip = min(roundTrip, shortestRoundTrip ?? roundTrip)
    }
  }

  /// Takes the result of a probe.
  private mutating func take(_ roundTrip: Duration, least: Duration) {
    switch source {
    case .kernel:
      let isLong = roundTrip > least + max(Self.othersAtLeast, least / 2)
      let found = isLong ? min(roundTrip, least + Self.othersAtMost) : roundTrip - Self.othersShare
      isLonger = found > least
      shortestRoundTrip = max(least, found)
    case .relay: shortestRoundTrip = min(roundTrip, least + Self.othersAtMost)
    }
  }

  private mutating func sample(at now: Instant) {
    let count = source == .relay && inFlight <= unsureCount ? 0 : inFlight
    bound.sampled(
      FlightBound.Sample(inFlight: count, written: written, roundTrip: shortestRoundTrip ?? .zero, at: now))
  }

  // MARK: Probes

  private mutating func beginProbeIfDue(at now: Instant) {
    let hasRested = lastNear.map { now - $0 >= Self.rest } ?? false
    lastNear = now
    guard bound.rate != nil else { return }
    if let due = nextProbe {
      if hasRested, due <= now + Self.timeAfterRest { nextProbe = now + Self.timeAfterRest }
      // A peer that reads nothing is not probed again.
      guard now >= due, !hasRested, acknowledgedCount > acknowledgedAtProbe else { return }
    } else if source == .kernel {
      return setNextProbe(at: now)
    }
    probe = .draining(upTo: written)
    timed = nil
    setProbeEnd(at: now)
  }

  private mutating func measure(after first: Duration?, at now: Instant) {
    probe = .measuring(from: written, first: first)
    timed = nil
    setProbeEnd(at: now)
  }

  /// Sets the end of a probe. The queue of other senders may be long, and bytes in flight slow to go.
  private mutating func setProbeEnd(at now: Instant) {
    let rate = max(1, bound.rate ?? 1)
    let expected = Duration.milliseconds(Int64(min(10_000, Double(inFlight) / rate * 3_000)))
    probeEnds = now + max(Self.probePatience, expected, (shortestRoundTrip ?? .zero) * 2)
  }

  /// Ends a probe without a result if a remote side that takes nothing has not acknowledged it.
  private mutating func endLateProbe(at now: Instant) {
    guard probe != nil, now >= probeEnds else { return }
    timed = nil
    endProbe(at: now)
  }

  private mutating func endProbe(at now: Instant) {
    probe = nil
    setNextProbe(at: now)
    acknowledgedAtProbe = acknowledgedCount
    // The path was idle because of us: its rate can't be measured from that.
    bound.paused()
  }

  /// Sets the next probe at a multiple of the interval: connections of one node pause together, and do not measure each
  /// other's queues.
  private mutating func setNextProbe(at now: Instant) {
    let interval = UInt64(Self.probeInterval.wholeNanoseconds)
    nextProbe = Instant(nanoseconds: (now.nanoseconds / interval + 1) * interval)
  }
}
