import PiconetWire

/// The state of the connection to one peer at one moment.
public struct AssociationStatistics: Sendable, Hashable {
  /// The traits of the association's link; nil while there is no link.
  public var link: LinkTraits?
  /// How long ago the association began.
  public var age: Duration
  /// The round trip over that link; nil until a ping over it has been answered.
  public var roundTrip: RoundTripEstimate?
  /// The traffic sent to the peer.
  public var sent: TrafficCount
  /// The traffic received from the peer.
  public var received: TrafficCount
  /// Sequenced frames that were sent again on another link.
  public var retransmitted: LaneCount
  /// Unreliable messages that were not sent, because the link could not take them at once or too many waited before it.
  public var unreliableDropped: UInt64
  /// Unreliable messages that came after a newer one. They are delivered only if `deliversLateMessages` is set.
  public var unreliableLate: UInt64
  /// Reliable messages that wait for credit or for the link: their bytes, and `WireLimits.messageCost` for each.
  public var queuedBytes: Int
  /// Bytes of control frames that wait for the link, and bytes that are on their way to the kernel.
  public var linkBytes: Int
  /// How much more the remote side accepts now in reliable messages of channel 0, measured like `queuedBytes`.
  public var sendCredit: UInt64
  /// How much more in reliable messages of channel 0 the remote side may send now.
  public var receiveCredit: UInt64
  /// Sequenced frames that the remote side has not acknowledged.
  public var unacknowledgedFrames: UInt64
  /// Bytes kept of those frames, to be sent again on another link.
  public var unacknowledgedBytes: Int

  /// The transport of the connection; nil while no link leads to the peer.
  public var transport: TransportKind? { link?.kind }
}

extension Association {
  /// Returns a snapshot of the connection.
  func statistics(at now: Instant) -> AssociationStatistics {
    AssociationStatistics(
      link: link?.opening.traits, age: now - begunAt, roundTrip: link?.pings.roundTrip, sent: counts.sent,
      received: counts.received, retransmitted: counts.retransmitted, unreliableDropped: unreliable.counts.dropped,
      unreliableLate: unreliable.counts.late, queuedBytes: outbox.queuedCost + outgoingChannels.queuedCost,
      linkBytes: link.map { $0.control.count + $0.outstanding } ?? 0, sendCredit: outbox.credit,
      receiveCredit: inbox.credit, unacknowledgedFrames: sequenced.sent - sequenced.acknowledged,
      unacknowledgedBytes: sequenced.unacknowledged.byteCount)
  }
}

extension SessionEngine {
  /// Returns a snapshot of the connection to a peer; nil if there is no connection.
  public func statistics(of remote: NodeID, at now: Instant) -> AssociationStatistics? {
    associations[remote]?.statistics(at: time.time(at: now))
  }

  /// Returns the counts of the unreliable messages with a member; nil for other nodes.
  public func unreliableCounts(of remote: NodeID) -> UnreliableCounts? {
    guard let association = associations[remote], association.isMember else { return nil }
    return association.unreliableCounts
  }

  /// How many memberships have begun.
  public var membershipsBegun: UInt64 { turn.membershipCount }
}
