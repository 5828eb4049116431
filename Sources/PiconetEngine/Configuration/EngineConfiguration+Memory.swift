import PiconetWire

/// How much a peer can make an engine hold, according to its settings.
extension EngineConfiguration {
  /// Bytes of answers to a member that may be unacknowledged beyond `unacknowledgedLimit`: all frames about each
  /// transfer and stream that the member may have open, and some that need no acknowledgement yet.
  public var answerLimit: Int {
    let ofTransfer = WireLimits.resourceName + 32
    return transferLimit * ofTransfer + streamLimit * 8 + (8 << 10)
  }

  /// Bytes kept for one member until it acknowledges them, if every number of our own transfers and streams is in use.
  public var keptLimit: Int {
    unacknowledgedLimit + answerLimit
      + Int(WireLimits.transferNumbers + WireLimits.streamNumbers) * KeepingLimits.numberCost
  }

  /// The maximum number of bytes that a peer which is not a member can make an engine hold over one link. It consists
  /// of unacknowledged answers, waiting answers, bytes on their way to the kernel, and received bytes not yet decoded.
  /// Eight of our own invitations come on top.
  public var strangerMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    let answers = Int(KeepingLimits.strangerFrames + 1) * (WireLimits.detail + 16) + Unacknowledged.batchCost * 20
    return answers + 4 * KeepingLimits.strangerControl + Link.pausedLimit + 2 * frame + 8 * WireLimits.groupMembers
  }

  /// The maximum number of bytes that a member can make an engine hold: what is kept for it (`keptLimit`), an
  /// incomplete message in each channel, control frames, and open transfers, streams and tunnels.
  public var memberMemory: Int {
    let frame = max(frameLimit, WireLimits.controlFrame) + 9
    // Data relayed to a member waits for that member, but comes from others.
    let ofTunnels =
      relaying == nil && !transports.contains(.relay) ? 0 : 2 * WireLimits.tunnels * (Int(Tunnel.largestWindow) + 128)
    return ofTunnels + keptLimit + channelLimit * messageLimit + 2 * Link.controlLimit + 2 * transmitWindow + 4 * frame
      + transferLimit * (WireLimits.controlFrame + 256) + streamLimit * 128 + 8 * WireLimits.groupMembers
  }
}
