import PiconetEngine

/// What a connection, over TCP or through a tunnel, has in flight, written and not acknowledged, and how much bulk may
/// be: the bound on it (`FlightBound`), and the shortest round trip of the path, from which that follows.
///
/// While bulk keeps a queue on the way, each measurement of a round trip holds the queue as well. So once in ten
/// seconds bulk pauses until what was in flight is acknowledged, and a little is sent over a path without bulk of ours,
/// as BBR does (draft-ietf-ccwg-bbr, ProbeRTT). The path may have become longer: others fill its queue, or the link to
/// the relay was replaced. Who goes by an old round trip then sends ever less, down to nearly nothing.
///
/// What others keep in the queue counts up to `othersAtMost`. They may be senders like this one, which would make room
/// for one another's queues in turn, without end. So those of one clock probe at the same time, and over TCP no more
/// than `othersAtLeast` counts without what another such sender keeps (`othersShare`).
///
/// A pure value: what was written and acknowledged goes in, with the time.
public struct PathFlight: Sendable {
  /// Who tells what has arrived.
  public enum Source: Sendable {
    /// The kernel, when it is asked. It also knows the shortest round trip of minutes.
    case kernel
    /// The relay, by `tunnelCredit`.
    case relay
  }

  private enum Probe: Sendable {
    /// No bulk goes until what was written before is acknowledged.
    case draining(upTo: UInt64)
    /// A little goes, behind `from` bytes. `first` is the round trip that was found too long to take at once.
    case measuring(from: UInt64, first: Duration?)
  }

  /// Bytes that are not acknowledged, as far as is known.
  public private(set) var inFlight = 0
  private let source: Source
  private var bound: FlightBound
  private var written: UInt64 = 0
  private var lastAcknowledged: Instant?
  /// Bytes whose round trip is measured: once so many in all are acknowledged, and since when.
  private var timed: (upTo: UInt64, at: Instant)?
  /// The shortest that the kernel has seen, or that was ever measured in the tunnel.
  private var leastRoundTrip: Duration?
  /// What the bound goes by: the shortest of the path as it is, with what others keep in its queue.
  private var shortestRoundTrip: Duration?
  private var probe: Probe?
  private var probeEnds = Instant(nanoseconds: 0)
  /// When the shortest round trip is measured anew; nil before it was first needed.
  private var nextProbe: Instant?
  /// Whether the last probe has found more than the kernel's shortest.
  private var isLonger = false
  /// What was acknowledged when the last probe ended, and when the bound was last near.
  private var acknowledgedAtProbe: UInt64 = 0
  private var lastNear: Instant?

  /// What goes in a probe: so little that it hardly takes time, so much that it is acknowledged at once.
  private static let probeCount = 3 << 10
  private static let probeInterval = Duration.seconds(10)
  private static let probePatience = Duration.seconds(2)
  /// A connection has rested that was not near its bound for so long; it then sends for a while before it pauses.
  private static let rest = Duration.seconds(3)
  private static let timeAfterRest = Duration.seconds(1)
  private static let othersAtLeast = Duration.milliseconds(30)
  /// What one other connection like this one keeps in the queue, and the probe itself takes.
  private static let othersShare = Duration.milliseconds(15)
  private static let othersAtMost = Duration.milliseconds(400)

  public init(_ configuration: FlightBound.Configuration = FlightBound.Configuration(), toldBy source: Source) {
    self.source = source
    var configuration = configuration
    // A relay tells of each 4,096 bytes.
    if source == .relay { configuration.unreported = 4 << 10 }
    bound = FlightBound(configuration)
  }

  /// So much may be without an acknowledgement although it has arrived: TCP delays that of a single segment, a relay
  /// that of less than a kilobyte.
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

  /// Whether what is in flight is worth a question to the kernel, now and after `patience`.
  public var isWorthALook: Bool {
    switch probe {
    case .draining: true
    case .measuring: timed != nil
    case nil: bound.isNear(inFlight)
    }
  }

  /// When to ask again: when a good part of the bound should be free.
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
    // What is not acknowledged at once would have the round trip of what comes after it.
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

  /// So much is in flight, of what was written.
  /// - Parameter roundTrip: the shortest that the kernel has seen; nil where it is not known.
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
      // A lost segment, or a busy moment there, is no longer path.
      if first == nil, roundTrip > least + Self.othersAtLeast { return measure(after: roundTrip, at: now) }
      take(min(roundTrip, first ?? roundTrip), least: least)
      endProbe(at: now)
    case nil: shortestRoundTrip = min(roundTrip, shortestRoundTrip ?? roundTrip)
    }
  }

  /// Takes what a probe has found.
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
      // A peer that reads nothing is not asked again.
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

  /// Others' queue may be long, and what is in flight slow to go.
  private mutating func setProbeEnd(at now: Instant) {
    let rate = max(1, bound.rate ?? 1)
    let expected = Duration.milliseconds(Int64(min(10_000, Double(inFlight) / rate * 3_000)))
    probeEnds = now + max(Self.probePatience, expected, (shortestRoundTrip ?? .zero) * 2)
  }

  /// What a remote side that takes nothing has not acknowledged ends a probe without a result.
  private mutating func endLateProbe(at now: Instant) {
    guard probe != nil, now >= probeEnds else { return }
    timed = nil
    endProbe(at: now)
  }

  private mutating func endProbe(at now: Instant) {
    probe = nil
    setNextProbe(at: now)
    acknowledgedAtProbe = acknowledgedCount
    // The path was idle because of us: its rate can't be taken from that.
    bound.paused()
  }

  /// At a multiple of the interval: connections of one node pause together, and do not measure each other's queues.
  private mutating func setNextProbe(at now: Instant) {
    let interval = UInt64(Self.probeInterval.wholeNanoseconds)
    nextProbe = Instant(nanoseconds: (now.nanoseconds / interval + 1) * interval)
  }
}
