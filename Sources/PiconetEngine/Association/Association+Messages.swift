import PiconetWire

/// Messages, both ways: reliable ones in their order, within the credit of each side.
extension Association {
  // MARK: Out

  /// - Returns: false where the association takes no more messages: it ends.
  func queue(_ message: Bytes, _ mode: DeliveryMode, _ turn: Turn) -> Bool {
    guard takes(message) else { return false }
    switch mode {
    case .reliable: outbox.append(message)
    case .unreliable:
      turn.add(.messagesTaken(node, byteCount: Outbox.cost(of: message)))
      queueUnreliable(message)
    }
    turn.flush(link)
    return true
  }

  /// Whether the message may be queued: sent to a member that we are not leaving, within the limit of both sides.
  private func takes(_ message: Bytes) -> Bool {
    isMember && leaving == nil && message.count <= peer.messageLimit
  }

  /// The application has taken messages of this cost.
  func messagesConsumed(_ cost: Int, _ turn: Turn) {
    if inbox.consume(cost, messageLimit: configuration.messageLimit) != nil { turn.flush(link) }
  }

  // MARK: In

  /// A whole message, or the last fragment of one.
  func receivedMessage(_ bytes: Bytes, _ turn: Turn) throws(Breach) {
    guard isMember else { return try checkIsDropped() }
    do throws(InboxBreach) {
      turn.arrived(try inbox.message(bytes, messageLimit: configuration.messageLimit), from: node)
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

  private func checkIsDropped() throws(Breach) {
    if !dropsMemberFrames { throw Breach("a message before the invitation was accepted") }
  }

  private func breach(_ breach: InboxBreach) -> Breach {
    switch breach {
    case .credit: Breach("more messages than the credit allows", .limitExceeded)
    case .messageLimit: Breach("a message above the limit of \(configuration.messageLimit) bytes", .limitExceeded)
    }
  }
}
