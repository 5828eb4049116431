import PiconetEngine

/// What a connection, over TCP or through a tunnel, has in flight, written and not acknowledged, and how much bulk may
/// be: the bound on it (`FlightBound`), and the shortest round trip of the path, from which that follows.
///
/// While bulk keeps a queue on the way, each measurement of a round trip holds the queue as well. So once in ten
/// seconds bulk pauses until what is in flight is acknowledged, and a little is sent over the empty path, as BBR does
/// (draft-ietf-ccwg-bbr, ProbeRTT). The result replaces what was known. The path may have become longer: others fill
/// its queue, or the link to the relay was replaced. Who goes by an old round trip then sends ever less, down to
/// nearly nothing.
///
/// A pure value: what was written and acknowledged goes in, with the time.
public struct PathFlight: Sendable {
  /// Who tells what has arrived.
  public enum Source: Sendable {
    /// The kernel, when it is asked. It also knows the round trip of TCP's handshake, which had no queue of ours.
    case kernel
    /// The relay, by `tunnelCredit`.
    case relay
  }

  private enum Probe: Sendable {
    /// Nothing more goes until the path is empty.
    case draining
    /// A little goes over the empty path.
    case measuring
  }

  /// Bytes that are not acknowledged, as far as is known.
  public private(set) var inFlight = 0
  private let source: Source
  private var bound: FlightBound
  private var written: UInt64 = 0
  private var lastAcknowledged: Instant?
  /// Bytes whose round trip is measured: once so many in all are acknowledged, and since when.
  private var timed: (upTo: UInt64, at: Instant)?
  private var shortestRoundTrip: Duration?
  private var probe: Probe?
  private var probeEnds = Instant(nanoseconds: 0)
  /// When the shortest round trip is measured anew; nil before it was first needed.
  private var nextProbe: Instant?
  private var hasProbed = false

  /// What goes over the empty path: so little that it hardly takes time, so much that it is acknowledged at once.
  private static let probeCount = 3 << 10
  private static let probeInterval = Duration.seconds(10)
  private static let probePatience = Duration.seconds(2)

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
    // In frames so short that the first of them is through at once.
    BulkPace(room: room, bound: probe == nil ? bound.limit : min(bound.limit, Self.probeCount))
  }

  private var room: Int {
    switch probe {
    case .draining: 0
    case .measuring: max(0, Self.probeCount - inFlight)
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

  public mutating func wrote(_ count: Int, at now: @autoclosure () -> Instant) {
    let before = written
    written += UInt64(count)
    inFlight += count
    guard source == .relay || probe != nil else { return }
    let now = now()
    endLateProbe(at: now)
    // What is not acknowledged at once would have the round trip of what comes after it.
    if timed == nil, probe != .draining, count > unsureCount || source == .kernel { timed = (before + 1, now) }
    if source == .relay, probe == nil, bound.isNear(inFlight) {
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
    if let roundTrip, !hasProbed { shortestRoundTrip = roundTrip }
    endLateProbe(at: now)
    if let timed, written - min(written, UInt64(inFlight)) >= timed.upTo {
      self.timed = nil
      measured(now - timed.at, at: now)
    }
    switch probe {
    case .draining where inFlight <= unsureCount:
      probe = .measuring
      timed = nil
    case .draining, .measuring: break
    case nil:
      sample(at: now)
      if bound.isNear(inFlight) { beginProbeIfDue(at: now) }
    }
    return room > before
  }

  private mutating func measured(_ roundTrip: Duration, at now: Instant) {
    switch probe {
    case .draining: break
    case .measuring:
      shortestRoundTrip = roundTrip
      hasProbed = true
      endProbe(at: now)
    case nil:
      let shortest = shortestRoundTrip ?? roundTrip
      shortestRoundTrip = min(shortest, roundTrip)
      // As short as ever, though nothing has paused for it.
      if hasProbed, roundTrip <= shortest + shortest / 8 { nextProbe = now + Self.probeInterval }
    }
  }

  private mutating func sample(at now: Instant) {
    let count = source == .relay && inFlight <= unsureCount ? 0 : inFlight
    bound.sampled(
      FlightBound.Sample(inFlight: count, written: written, roundTrip: shortestRoundTrip ?? .zero, at: now))
  }

  // MARK: Probes

  private mutating func beginProbeIfDue(at now: Instant) {
    guard bound.rate != nil else { return }
    switch (nextProbe, source) {
    case (let due?, _): if now < due { return }
    case (nil, .kernel):
      nextProbe = now + Self.probeInterval
      return
    case (nil, .relay): break
    }
    probe = .draining
    timed = nil
    probeEnds = now + max(Self.probePatience, (shortestRoundTrip ?? .zero) * 2)
  }

  /// Messages go on during a probe, and may keep the path from becoming empty.
  private mutating func endLateProbe(at now: Instant) {
    guard probe != nil, now >= probeEnds else { return }
    timed = nil
    endProbe(at: now)
  }

  private mutating func endProbe(at now: Instant) {
    probe = nil
    nextProbe = now + Self.probeInterval
    // The path was idle because of us: its rate can't be taken from that.
    bound.paused()
  }
}
