import PiconetWire

/// Limits that depend on the properties of a link.
extension EngineConfiguration {
  /// Returns the limits that our hello states on a link with these traits.
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

  /// Returns how much a peer may send ahead of the application. On a link that loses unread data, it is three eighths
  /// of what the link holds; the rest is for other channels, streams and transfers. A whole message always fits, or it
  /// could never be sent.
  func messageWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return messageWindow }
    return min(messageWindow, max(limit / 8 * 3, messageLimit + WireLimits.messageCost))
  }

  /// Returns how much a peer may send ahead of the application in each channel but channel 0. On a link that loses
  /// unread data, all these channels together get an eighth of what the link holds, or the minimum window each.
  func channelWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return channelWindow }
    return min(channelWindow, max(WireLimits.channelWindow, limit / 8 / max(1, channelLimit - 1)))
  }

  /// Returns the bytes of each stream before its first credit, as our hello states them. On a link that loses unread
  /// data, all streams together get a quarter of what the link holds.
  func firstStreamWindow(on traits: LinkTraits) -> Int {
    guard let limit = traits.unreadLimit else { return firstStreamWindow }
    return min(firstStreamWindow, max(256, limit / 4 / streamLimit))
  }
}
