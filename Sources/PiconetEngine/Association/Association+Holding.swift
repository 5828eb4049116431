import PiconetWire

// What peers make an engine hold, for tests that flood the engine.

/// What one association holds.
struct AssociationHolding {
  let transfersIncoming: Int
  let transfersOutgoing: Int
  let streams: Int
  let tunnels: Int
  let queuedBytes: Int
  /// Bytes kept until the remote side acknowledges them.
  let keptBytes: Int
  let retainedBytes: Int
}

extension Association {
  var holding: AssociationHolding {
    AssociationHolding(
      transfersIncoming: transfers.incoming.count, transfersOutgoing: transfers.outgoing.count,
      streams: streams.incoming.count + streams.outgoing.count, tunnels: tunnels.count,
      queuedBytes: outbox.queuedCost + outgoingChannels.queuedCost + streams.queuedCount + tunnels.queuedCount,
      keptBytes: sequenced.unacknowledged.byteCount, retainedBytes: retainedBytes)
  }

  private var retainedBytes: Int {
    let offers = transfers.incoming.values.map { transfer in
      Self.transferCost + transfer.offer.name.count + transfer.offer.metadata.count + transfer.offer.identity.count
    }
    // The frames that are sent again are slices of the kept ones.
    let kept =
      sequenced.unacknowledged.byteCount + sequenced.waitingCount + inbox.bufferedCount
      + incomingChannels.bufferedCount
    return kept + tunnels.queuedCount + tunnels.count * Self.streamCost + streams.incoming.count * Self.streamCost
      + invitations.unansweredCount * 16 + offers.reduce(0, +) + 8 * (groupView?.members.count ?? 0)
  }

  /// Roughly the bytes that the tables hold for an open stream or transfer.
  private static let streamCost = 128
  private static let transferCost = 256
}
