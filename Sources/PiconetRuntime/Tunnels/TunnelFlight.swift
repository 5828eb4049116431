import PiconetEngine

/// What one end of a tunnel has in flight, written and not passed on by the relay, and how much bulk may be.
///
/// The bound is that of a TCP connection (`FlightBound`), but no kernel says how short the path's round trip is. It is
/// measured here, and while bulk keeps a queue on the way each measurement holds the queue as well. So from time to time
/// bulk pauses until what is in flight has gone on, and a little is sent over the empty path, as BBR does
/// (draft-ietf-ccwg-bbr, ProbeRTT). The result replaces what was known: the path may have become longer, because the
/// link to the relay was replaced by another.
///
/// A pure value: what was written and passed on goes in, with the time.
struct TunnelFlight: Sendable {
  private enum Probe: Sendable {
    /// Nothing more goes until the path is empty.
    case draining
    /// A little goes over the empty path.
    case measuring
  }

  /// Bytes that have not gone on behind the relay, as far as it has told.
  private(set) var inFlight = 0
  private var bound = FlightBound()
  private var written: UInt64 = 0
  /// Bytes whose round trip is measured, and when the last of them was written.
  private var timed: (upTo: UInt64, at: Instant)?
  private var lastPassedOn: Instant?
  private var shortestRoundTrip: Duration?
  private var probe: Probe?
  private var probeEnds = Instant(nanoseconds: 0)
  /// When the shortest round trip is measured anew; nil if it never was on an empty path.
  private var nextProbe: Instant?

  /// What a relay acknowledges at once. It may keep less unreported until more comes.
  private static let acknowledgedAtOnce = 1 << 10
  /// What goes over the empty path: so little that it hardly takes time, so much that it is acknowledged.
  private static let probeCount = 3 << 10
  private static let probeInterval = Duration.seconds(10)
  private static let probePatience = Duration.seconds(2)

  /// However quick the way to the relay is, what is behind it may be slow.
  var pace: BulkPace {
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

  mutating func wrote(_ count: Int, at now: Instant) {
    written += UInt64(count)
    inFlight += count
    endLateProbe(at: now)
    // Less is not acknowledged at once: its round trip would last until more is written.
    if timed == nil, count >= Self.acknowledgedAtOnce { timed = (written, now) }
    guard probe == nil, bound.isNear(inFlight) else { return }
    // Acknowledgements come by the kilobyte: a rate is that between two of them.
    sample(at: lastPassedOn ?? now)
    beginProbeIfDue(at: now)
  }

  /// The relay has passed on so many bytes more.
  /// - Returns: whether more bulk may go than before.
  mutating func passedOn(_ count: Int, at now: Instant) -> Bool {
    let before = room
    inFlight = max(0, inFlight - count)
    lastPassedOn = now
    endLateProbe(at: now)
    if let timed, written - UInt64(inFlight) >= timed.upTo {
      self.timed = nil
      measured(now - timed.at, at: now)
    }
    switch probe {
    case .draining where inFlight < Self.acknowledgedAtOnce:
      probe = .measuring
      timed = nil
    case .draining, .measuring: break
    case nil: sample(at: now)
    }
    return room > before
  }

  private mutating func measured(_ roundTrip: Duration, at now: Instant) {
    switch probe {
    case .draining: break
    case .measuring:
      shortestRoundTrip = roundTrip
      endProbe(at: now)
    case nil:
      let shortest = shortestRoundTrip ?? roundTrip
      shortestRoundTrip = min(shortest, roundTrip)
      // As short as ever, though nothing has paused for it.
      if nextProbe != nil, roundTrip <= shortest + shortest / 8 { nextProbe = now + Self.probeInterval }
    }
  }

  private mutating func sample(at now: Instant) {
    // This much may stay unreported though it has gone on.
    let unsure = inFlight < Self.acknowledgedAtOnce ? 0 : inFlight
    bound.sampled(
      FlightBound.Sample(inFlight: unsure, written: written, roundTrip: shortestRoundTrip ?? .zero, at: now))
  }

  // MARK: Probes

  private mutating func beginProbeIfDue(at now: Instant) {
    guard bound.rate != nil, nextProbe.map({ now >= $0 }) ?? true else { return }
    probe = .draining
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
