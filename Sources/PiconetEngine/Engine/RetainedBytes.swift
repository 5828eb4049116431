import PiconetWire

// What peers make an engine hold, for tests that flood it.

extension Association {
  var retainedBytes: Int {
    let offers = transfers.incoming.values.map { transfer in
      Self.transferCost + transfer.offer.name.count + transfer.offer.metadata.count + transfer.offer.identity.count
    }
    // What is sent again are slices of what is kept.
    let kept =
      sequenced.unacknowledged.byteCount + sequenced.waitingCount + inbox.bufferedCount
      + incomingChannels.bufferedCount
    return kept + tunnels.queuedCount + tunnels.count * Self.streamCost + streams.incoming.count * Self.streamCost
      + invitations.unansweredCount * 16 + offers.reduce(0, +)
  }

  /// Roughly what the tables hold for an open stream or transfer.
  private static let streamCost = 128
  private static let transferCost = 256
}

extension Link {
  var retainedBytes: Int { control.count + unreliable.count + outstanding + bufferedCount }
}
