import PiconetEngine
import PiconetWire

/// Transfers that an application pauses. No bytes of them are sent meanwhile.
extension World {
  /// Returns the command for the engine. The pause counts from here on.
  func pause(_ transfer: TransferID, _ isPaused: Bool, _ node: SimulatedNode) -> Command {
    let isUnderWay = node.record.pending.values.contains { command in
      if case .offer(transfer, _, _) = command { return true }
      return false
    }
    if isPaused, isUnderWay {
      node.record.resting.insert(transfer)
    } else {
      node.record.resting.remove(transfer)
    }
    return .pauseTransfer(transfer, isPaused && !scenario.faults.contains(.pauseIgnored))
  }

  /// Checks that neither a chunk nor the end of a paused transfer goes to its receiver.
  func checkResting(_ bytes: Bytes, on link: LinkID, _ node: SimulatedNode) {
    guard let (number, side) = node.links[link] else { return }
    let receiver = connections[number].ends[1 - side].node
    let resting = node.record.pending.values.compactMap { command -> UInt64? in
      guard case .offer(let transfer, let peer, _) = command, node.record.resting.contains(transfer),
        indices[peer.peer] == receiver
      else { return nil }
      return node.record.numbers[transfer]
    }
    if resting.isEmpty { return }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    while let frame = try? decoder.next() {
      switch frame {
      case .chunk(let transfer, _), .end(let transfer, _, _):
        if resting.contains(transfer) { finding("n\(node.index) sends of transfer \(transfer), which rests") }
      case .hello, .associate, .associated, .close, .ping, .pong, .acknowledge, .messageCredit, .unreliableMessage,
        .codeNonce, .codeReveal, .listening, .channelCredit, .position, .transferCredit, .streamCredit, .tunnelCredit,
        .message, .fragment, .channelMessage, .channelFragment, .invite, .accept, .decline, .withdraw, .admit,
        .inviteByCode, .codeAnswer, .codeConfirm, .comparison, .leave, .removeMember, .removed, .introduce, .introduced,
        .introductionFailed, .withdrawIntroduction, .askToIntroduce, .groupView, .openTunnel, .offerTunnel,
        .tunnelOpened,
        .tunnelData, .closeTunnel, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart, .comparing,
        .abandon, .refuse, .senderPaused, .receiverPaused, .openStream, .streamData, .endStream, .resetStream,
        .stopStream, .streamDone, .unknownOptional:
        break
      }
    }
  }

  /// Checks that each change is reported once, and only for a transfer under way.
  func observePause(of transfer: TransferID, _ isPaused: Bool, _ node: SimulatedNode) {
    if node.record.incoming[transfer] == nil, node.record.offered[transfer] == nil {
      finding("the rest of an unknown transfer")
    }
    let isNew =
      isPaused
      ? node.record.restingThere.insert(transfer).inserted : node.record.restingThere.remove(transfer) != nil
    if !isNew { finding("n\(node.index) is told twice that transfer \(transfer.rawValue) rests, or goes on") }
  }
}
