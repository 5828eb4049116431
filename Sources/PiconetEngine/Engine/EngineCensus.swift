/// What an engine holds.
extension SessionEngine {
  /// How much the engine holds. Once `shutDown` is complete, everything is zero or nil, except the sightings of sources
  /// that have not ended.
  public var census: EngineCensus {
    let held = associations.values.map(\.holding)
    return EngineCensus(
      links: links.count, dials: turn.dials.count, associations: associations.count,
      members: associations.values.count { $0.isMember },
      transfersIncoming: held.reduce(0) { $0 + $1.transfersIncoming },
      transfersOutgoing: held.reduce(0) { $0 + $1.transfersOutgoing }, streams: held.reduce(0) { $0 + $1.streams },
      tunnels: held.reduce(relayed.count) { $0 + $1.tunnels },
      attempts: attempts.count + associations.invitationCount,
      introductions: turn.introduced.entries.count + introducer.count, sightings: discovery.count,
      queuedBytes: held.reduce(0) { $0 + $1.queuedBytes }
        + links.values.reduce(0) { $0 + $1.control.count },
      keptBytes: held.reduce(0) { $0 + $1.keptBytes },
      retainedBytes: held.reduce(0) { $0 + $1.retainedBytes }
        + links.values.reduce(0) { $0 + $1.retainedBytes },
      nextDeadline: earliestDeadline)
  }
}

/// How many things an engine holds.
public struct EngineCensus: Sendable, Hashable {
  public var links: Int
  public var dials: Int
  public var associations: Int
  public var members: Int
  public var transfersIncoming: Int
  public var transfersOutgoing: Int
  /// Open streams, both ways.
  public var streams: Int
  /// Tunnels that end here. Each relayed tunnel counts three times: its two halves and the whole.
  public var tunnels: Int
  public var attempts: Int
  /// Introductions to us and by us that are not over, and waiting pairs of a group.
  public var introductions: Int
  public var sightings: Int
  public var queuedBytes: Int
  /// Bytes that were sent and not acknowledged.
  public var keptBytes: Int
  /// Bytes that peers make the engine hold: everything not acknowledged, waiting answers, parts of frames and messages,
  /// and open transfers, streams and tunnels. Excludes data that the application itself has queued.
  public var retainedBytes: Int
  /// The earliest deadline of all owners, asked one by one. The engine's own `nextDeadline` is never later.
  public var nextDeadline: Instant?
}
