import PiconetWire

/// Messages, both ways: reliable ones in their order, within the credit of each side.
extension Association {
  // MARK: Out

  /// - Returns: false if the association does not take this message, or takes no more because it ends.
  func queue(_ message: Bytes, _ mode: DeliveryMode, in channel: MessageChannel, _ turn: Turn) -> Bool {
    guard takes(message, in: channel) else { return false }
    switch mode {
    case .reliable where channel == 0: outbox.append(message)
    case .reliable: outgoingChannels.append(message, in: channel)
    case .unreliable:
      turn.add(.messagesTaken(node, byteCount: Outbox.cost(of: message)))
      queueUnreliable(message)
    }
    turn.flush(link)
    return true
  }

  /// Returns whether the message may be queued: sent to a member that we are not leaving, within the limit of both
  /// sides.
  private func takes(_ message: Bytes, in channel: MessageChannel) -> Bool {
    isMember && leaving == nil && message.count <= peer.messageLimit && channel.number < outgoingChannels.limit
  }

  /// Grows the credit after the application has taken messages of this cost.
  func messagesConsumed(_ cost: Int, in channel: MessageChannel, _ turn: Turn) {
    let limit = configuration.messageLimit
    let isCreditDue =
      channel == 0
      ? inbox.consume(cost, messageLimit: limit) != nil
      : incomingChannels.consume(cost, in: channel, messageLimit: limit)
    if isCreditDue { turn.flush(link) }
  }

  // MARK: In

  /// Counts a message in channel 0 and takes it. This is the fast path for the most frequent frame.
  func receivedCounted(message bytes: Bytes, _ turn: Turn) throws(Breach) {
    counts.receivedMessage(bytes.count)
    if sequenced.countReceived(bulk: bytes.count) { turn.flush(link) }
    try receivedMessage(bytes, turn)
  }

  /// Takes a whole message, or the last fragment of one.
  func receivedMessage(_ bytes: Bytes, _ turn: Turn) throws(Breach) {
    guard isMember else { return try checkIsDropped() }
    do throws(InboxBreach) {
      turn.arrived(try inbox.message(bytes, messageLimit: configuration.messageLimit), from: node, in: 0)
    } catch {
      throw breach(error)
    }
  }

  func receivedFragment(_ bytes: Bytes) throws(Breach) {
    guard isMember else { return try checkIsDropped() }
    do throws(InboxBreach) {
      try inbox.fragment(bytes, messageLimit: configuration.messageLimit)
    } catch {
      throw breach(error)
    }
  }

  func receivedMessage(_ bytes: Bytes, in channel: MessageChannel, _ turn: Turn) throws(Breach) {
    guard isMember else { return try checkIsDropped() }
    do throws(InboxBreach) {
      let message = try incomingChannels.message(bytes, in: channel, messageLimit: configuration.messageLimit)
      turn.arrived(message, from: node, in: channel)
    } catch {
      throw breach(error)
    }
  }

  func receivedFragment(_ bytes: Bytes, in channel: MessageChannel, _ turn: Turn) throws(Breach) {
    guard isMember else { return try checkIsDropped() }
    do throws(InboxBreach) {
      try incomingChannels.fragment(bytes, in: channel, messageLimit: configuration.messageLimit)
    } catch {
      throw breach(error)
    }
    if incomingChannels.hasCredits { turn.flush(link) }
  }

  private func checkIsDropped() throws(Breach) {
    if !dropsMemberFrames { throw Breach("a message before the invitation was accepted") }
  }

  private func breach(_ breach: InboxBreach) -> Breach {
    switch breach {
    case .credit: Breach("more messages than the credit allows", .limitExceeded)
    case .channel(let channel):
      Breach("a message in channel \(channel); \(configuration.channelLimit) channels are open to it", .limitExceeded)
    case .messageLimit: Breach("a message above the limit of \(configuration.messageLimit) bytes", .limitExceeded)
    }
  }
}
