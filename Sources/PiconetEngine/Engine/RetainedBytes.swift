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

extension EngineConfiguration {
  /// The most that a peer that is not a member can make an engine hold, in bytes, over one link: unacknowledged
  /// answers, answers that wait, what is on its way to the kernel, and what has come and was not decoded. Eight
  /// invitations of ours come on top.
  public var strangerMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    let answers = Int(KeepingLimits.strangerFrames + 1) * (WireLimits.detail + 16) + Unacknowledged.batchCost * 20
    return answers + 4 * KeepingLimits.strangerControl + Link.pausedLimit + 2 * frame
  }

  /// The same for a member: what is kept for it (`keptLimit`), a message in parts, control frames, and what is open.
  public var memberMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    // What is relayed to a member waits for it; it comes from others.
    let ofTunnels =
      relaying == nil && !transports.contains(.relay) ? 0 : 2 * WireLimits.tunnels * (Int(Tunnel.window) + 128)
    return ofTunnels + keptLimit + channelLimit * messageLimit + 2 * Link.controlLimit + 2 * transmitWindow + 4 * frame
      + transferLimit * (WireLimits.controlFrame + 256) + streamLimit * 128
  }
}
