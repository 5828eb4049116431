import PiconetWire

/// How much a peer can make an engine hold, according to its settings.
extension EngineConfiguration {
  /// Bytes of answers to a member that may be unacknowledged beyond `unacknowledgedLimit`: everything about each
  /// transfer and stream that it may have open, and some that need no acknowledgement yet.
  public var answerLimit: Int {
    let ofTransfer = WireLimits.resourceName + 32
    return transferLimit * ofTransfer + streamLimit * 8 + (8 << 10)
  }

  /// Bytes kept for one member until it acknowledges them, if every number of a transfer or stream of ours is in use.
  public var keptLimit: Int {
    unacknowledgedLimit + answerLimit
      + Int(WireLimits.transferNumbers + WireLimits.streamNumbers) * KeepingLimits.numberCost
  }

  /// The most that a peer that is not a member can make an engine hold, in bytes, over one link: unacknowledged
  /// answers, answers that wait, what is on its way to the kernel, and what has come and was not decoded. Eight
  /// invitations of ours come on top.
  public var strangerMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    let answers = Int(KeepingLimits.strangerFrames + 1) * (WireLimits.detail + 16) + Unacknowledged.batchCost * 20
    return answers + 4 * KeepingLimits.strangerControl + Link.pausedLimit + 2 * frame + 8 * WireLimits.groupMembers
  }

  /// The most that a member can make an engine hold, in bytes: what is kept for it (`keptLimit`), a message in parts in
  /// each channel, control frames, and what is open.
  public var memberMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    // What is relayed to a member waits for it; it comes from others.
    let ofTunnels =
      relaying == nil && !transports.contains(.relay) ? 0 : 2 * WireLimits.tunnels * (Int(Tunnel.largestWindow) + 128)
    return ofTunnels + keptLimit + channelLimit * messageLimit + 2 * Link.controlLimit + 2 * transmitWindow + 4 * frame
      + transferLimit * (WireLimits.controlFrame + 256) + streamLimit * 128 + 8 * WireLimits.groupMembers
  }
}
