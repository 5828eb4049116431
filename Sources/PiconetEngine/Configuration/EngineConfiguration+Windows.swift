import PiconetWire

/// Limits that depend on what a link is like.
extension EngineConfiguration {
  /// The limits that our hello states on a link like this.
  func peerLimits(on traits: LinkTraits) -> PeerLimits {
    PeerLimits(
      message: UInt64(messageLimit), frame: UInt64(frameLimit), messageWindow: UInt64(messageWindow(on: traits)),
      transfers: UInt64(transferLimit),
      silence: min(
        max(UInt64(silence(isDurable: true).wholeNanoseconds / 1_000_000), WireLimits.silence.lowerBound),
        WireLimits.silence.upperBound),
      streams: UInt64(streamLimit), streamWindow: UInt64(firstStreamWindow(on: traits)),
      channels: UInt64(channelLimit), channelWindow: UInt64(channelWindow(on: traits)))
  }

  /// What a peer may send ahead of the application: three eighths of what an unread link holds, the rest is for other
  /// channels, streams and transfers. A whole message fits in any case, or it could never be sent.
  func messageWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return messageWindow }
    return min(messageWindow, max(limit / 8 * 3, messageLimit + WireLimits.messageCost))
  }

  /// What a peer may send ahead of the application in each channel but channel 0: over a link that loses what is not
  /// read in time all of them together have an eighth of what it holds, or the least that there may be.
  func channelWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return channelWindow }
    return min(channelWindow, max(WireLimits.channelWindow, limit / 8 / max(1, channelLimit - 1)))
  }

  /// Bytes of each stream before its first credit, as our hello states them. Over a link that loses what is not read in
  /// time, all streams together have a quarter of what it holds.
  func firstStreamWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return firstStreamWindow }
    return min(firstStreamWindow, max(256, limit / 4 / streamLimit))
  }
}
