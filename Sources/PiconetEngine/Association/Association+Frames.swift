import PiconetWire

/// Frames of one association, both ways.
extension Association {
  /// How many sequenced frames have come from the remote side.
  var receivedCount: UInt64 { sequenced.received }

  /// Takes a frame from the remote side, in sequence. Frames that concern only the link are handled there.
  /// - Returns: what is left for the engine to do; nil if nothing is.
  func receive(_ frame: Frame, _ turn: Turn) throws(Breach) -> FrameRequest? {
    switch frame {
    case .message(let bytes): try receivedMessage(bytes, turn)
    case .fragment(let bytes): try receivedFragment(bytes)
    case .channelMessage(let channel, let bytes): try receivedMessage(bytes, in: channel, turn)
    case .channelFragment(let channel, let bytes): try receivedFragment(bytes, in: channel, turn)
    case .unreliableMessage(let number, let bytes): try receivedUnreliable(number, bytes, turn)
    case .messageCredit(let limit):
      outbox.credit(limit)
      turn.flush(link)
    case .channelCredit(let channel, let limit):
      outgoingChannels.credit(limit, in: channel)
      turn.flush(link)
    case .acknowledge(let received): try receivedAcknowledgement(received, turn)
    case .listening(let ports): return receivedListening(ports)

    // The sender's frames about a stream: the number is the remote side's. Then the receiver's frames: the number is
    // ours.
    case .openStream(let number, let name): try receivedOpen(number, name, turn)
    case .streamData(let number, let bytes): try receivedData(number, bytes, turn)
    case .endStream(let number): try receivedEnd(ofStream: number, turn)
    case .resetStream(let number, let reason, let detail): receivedReset(number, Ending(reason, .peer, detail), turn)
    case .streamCredit(let number, let limit): try receivedCredit(ofStream: number, limit: limit, turn)
    case .stopStream(let number, let reason, let detail):
      try receivedStop(number, Ending(reason, .peer, detail), turn)
    case .streamDone(let number): try receivedDone(number, turn)

    case .offer(let number, let offer):
      defer { turn.flush(link) }
      return try admitOrDecline(offer: number, turn) ? .offer(number, offer, self) : nil
    case .chunk, .position, .end, .abandon, .senderPaused, .acceptOffer, .declineOffer, .transferCredit, .stored,
      .present, .restart, .comparing, .refuse, .receiverPaused:
      defer { turn.flush(link) }
      try receiveAboutTransfer(frame, turn)

    case .invite(let invite): return .invitation(.invite(invite), self)
    case .accept: return .invitation(.accept, self)
    case .decline(let reason, let detail): return .invitation(.decline(reason, detail), self)
    case .withdraw(let reason): return .invitation(.withdraw(reason), self)
    case .admit: return .invitation(.admit, self)
    case .codeNonce(let nonce): return .invitation(.codeNonce(nonce), self)
    case .codeReveal(let nonce): return .invitation(.codeReveal(nonce), self)
    case .inviteByCode(let invite): return .invitation(.inviteByCode(invite), self)
    case .codeAnswer(let answer): return .invitation(.codeAnswer(answer), self)
    case .codeConfirm(let confirmation): return .invitation(.codeConfirm(confirmation), self)
    case .comparison(let word): return try received(word)
    case .removeMember(let subject, _): return try receivedRemoval(of: subject, turn).map { .removal($0, for: self) }
    case .removed(let member): try receivedRemoved(member, turn)
    case .introduce(let introduction): return try received(introduction, turn)
    case .askToIntroduce(let member):
      if isMember { try countMemberWord(turn) }
      return try speaksOfIntroduction(.ask(member))
    case .groupView(let view): return received(view) ? .groupView(self) : nil
    case .withdrawIntroduction(let member, let reason):
      return try speaksOfIntroduction(.withdraw(member, reason))
    case .introduced(let member): return try speaksOfIntroduction(.answer(member, nil))
    case .introductionFailed(let member, let reason, let detail):
      return try speaksOfIntroduction(.answer(member, Ending(reason, .peer, detail)))
    case .openTunnel(let number, let member): return try receivedOpen(tunnel: number, to: member, turn)
    case .offerTunnel(let number, let member, let relays):
      return try receivedOffer(tunnel: number, from: member, relays: relays, turn)
    case .tunnelOpened(let number, let relays): return try receivedOpened(tunnel: number, relays: relays, turn)
    case .tunnelData(let number, let bytes): try receivedData(tunnel: number, bytes, turn)
    case .tunnelCredit(let number, let consumed, let limit):
      try receivedCredit(tunnel: number, consumed: consumed, limit: limit, turn)
    case .closeTunnel(let number, let reason, let detail):
      try receivedClose(tunnel: number, Ending(reason, .peer, detail), turn)
    case .leave(let reason, let detail): return .leave(reason, detail, self)

    case .hello, .associate, .associated, .close, .ping, .pong, .unknownOptional: break
    }
    return nil
  }

  private func receiveAboutTransfer(_ frame: Frame, _ turn: Turn) throws(Breach) {
    switch frame {
    // The sender's frames: the number is the remote side's.
    case .chunk(let number, let bytes): try receivedChunk(number, bytes, turn)
    case .position(let number, let offset): try receivedPosition(number, offset)
    case .end(let number, let size, let digest): try receivedEnd(number, size, digest, turn)
    case .abandon(let number, let reason, let detail): receivedAbandon(number, Ending(reason, .peer, detail), turn)
    case .senderPaused(let number, let isPaused): receivedSenderPaused(number, isPaused, turn)

    // The receiver's frames: the number is ours.
    case .acceptOffer(let number, let offset, let limit):
      try receivedAccept(number, offset: offset, limit: limit, turn)
    case .declineOffer(let number, let reason, let detail): try receivedDecline(number, reason, detail, turn)
    case .transferCredit(let number, let stored, let limit):
      try receivedCredit(number, stored: stored, limit: limit, turn)
    case .stored(let number, let name): try receivedStored(number, name: name, wasAlreadyPresent: false, turn)
    case .present(let number, let name): try receivedStored(number, name: name, wasAlreadyPresent: true, turn)
    case .restart(let number, let offset, let limit): try receivedRestart(number, offset: offset, limit: limit, turn)
    case .comparing(let number, let count): try receivedComparing(number, count, turn)
    case .refuse(let number, let reason, let detail): try receivedRefuse(number, reason, detail, turn)
    case .receiverPaused(let number, let isPaused): receivedReceiverPaused(number, isPaused, turn)

    case .message, .fragment, .channelMessage, .channelFragment, .unreliableMessage, .messageCredit, .channelCredit,
      .acknowledge, .listening, .openStream, .streamData, .endStream, .resetStream, .streamCredit, .stopStream,
      .streamDone, .invite, .accept, .decline, .withdraw, .codeNonce, .codeReveal, .admit, .inviteByCode, .codeAnswer,
      .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced, .introductionFailed,
      .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel, .tunnelOpened, .closeTunnel,
      .tunnelData,
      .tunnelCredit, .hello, .associate, .associated, .close, .ping, .pong, .offer, .unknownOptional:
      break
    }
  }

  /// Counts bytes that the kernel has taken, of all kinds.
  func count(sentBytes count: Int) { counts.sent(bytes: count) }

  /// Counts a frame that the link itself sends.
  func count(sent frame: Frame) { counts.sent(frame) }

  /// Counts bytes that have come over the link, of all kinds.
  func count(receivedBytes count: Int) { counts.received(bytes: count) }

  /// Counts a frame from the remote side, before it is handled.
  func count(received frame: Frame, _ turn: Turn) {
    counts.received(frame)
    if frame.isSequenced, sequenced.countReceived(bulk: frame.bulkCount) { turn.flush(link) }
  }

  /// Queues a control frame on the active link. A sequenced frame is counted, and kept until it is acknowledged.
  /// Without a link any other frame is dropped: the next link states its content again.
  func send(_ frame: Frame, _ turn: Turn) {
    if isOver { return }
    // Human-readable details are dropped first.
    let encoded = FrameEncoder.encode(isCrowded ? frame.withoutDetail : frame)
    if frame.isSequenced {
      sequenced.append(control: encoded[...])
      if keepsTooMuch { turn.addCrowded(node) }
    }
    counts.sent(frame)
    guard let link = activeLink else { return }
    if sequenced.isResending {
      // Frames that are sent again go first.
      sequenced.appendBehindBacklog(encoded)
      if sequenced.waitingCount > controlLimit { turn.addCrowded(node) }
    } else {
      link.queue(encoded: encoded)
    }
    turn.flush(link)
  }

  private func receivedAcknowledgement(_ received: UInt64, _ turn: Turn) throws(Breach) {
    guard received <= sequenced.sent else { throw Breach("acknowledges frames that were not sent") }
    sequenced.acknowledge(upTo: received)
    // Messages may have waited for this room.
    if waitsForAcknowledgement { turn.flush(link) }
  }
}
