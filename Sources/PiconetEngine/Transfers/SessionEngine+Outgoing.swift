import PiconetWire

/// Transfers of ours: offered, sent as credit allows, ended by one reply.
extension SessionEngine {
  /// Outgoing transfers that may wait or run at once, to all peers together.
  static let outgoingLimit = 65_536

  mutating func offer(
    _ command: CommandID, _ id: TransferID, to far: NodeID, _ offer: ResourceOffer, _ turn: inout Turn
  ) {
    func refuse(_ ending: Ending, _ turn: inout Turn) {
      turn.add(.closeSource(id))
      turn.add(.reply(command, .failed(ending)))
    }
    guard let association = associations[far], association.isMember, association.leaving == nil else {
      return refuse(Ending(.noSuchAssociation, .us, "not connected to this peer"), &turn)
    }
    guard offer.name.count <= WireLimits.resourceName, offer.metadata.count <= WireLimits.metadata else {
      return refuse(
        Ending(
          .limitExceeded, .us,
          "a name has at most \(WireLimits.resourceName) bytes, metadata at most \(WireLimits.metadata)"), &turn)
    }
    guard offer.identity.count <= WireLimits.contentIdentity else {
      return refuse(
        Ending(.limitExceeded, .us, "a content identity has at most \(WireLimits.contentIdentity) bytes"), &turn)
    }
    guard outgoing.count < Self.outgoingLimit, outgoing[id] == nil else {
      return refuse(Ending(.tooManyTransfers, .us, "\(Self.outgoingLimit) transfers are under way"), &turn)
    }
    outgoing[id] = OutgoingTransfer(id: id, command: command, node: far, offer: offer)
    associations[far]?.outgoingOrder.append(id)
    sendOffers(to: far, &turn)
  }

  /// Offers what waits, as far as the far side takes more transfers.
  mutating func sendOffers(to far: NodeID, _ turn: inout Turn) {
    guard let association = associations[far] else { return }
    // Without a link, and before what is sent again, offers wait: only they may be many.
    guard links[association.link]?.association === association, !association.isResending else {
      association.areOffersHeldBack = true
      return
    }
    associations[far]?.areOffersHeldBack = false
    var open = UInt64(association.outgoing.count)
    guard open < association.limits.transfers else { return }
    for id in association.outgoingOrder where open < association.limits.transfers {
      if association.isCrowded || links[association.link].map({ $0.control.count > Link.offerLimit }) == true {
        associations[far]?.areOffersHeldBack = true
        return
      }
      guard let transfer = outgoing[id], transfer.phase == .waiting,
        let number = associations[far]?.numbers.take()
      else { continue }
      outgoing[id]?.number = number
      outgoing[id]?.phase = .offered
      associations[far]?.outgoing[number] = id
      send(.offer(transfer: number, transfer.offer), to: far, &turn)
      if transfer.isPaused { send(.senderPaused(transfer: number, true), to: far, &turn) }
      open += 1
    }
  }

  mutating func read(_ id: TransferID, _ turn: inout Turn) {
    guard let far = outgoing[id]?.node, let number = outgoing[id]?.number, let association = associations[far]
    else { return }
    let frameLimit = min(association.frameLimit, links[association.link]?.bulkFrameLimit ?? .max)
    let lengthCount = VariableInteger.byteCount(of: UInt64(frameLimit))
    let frameCount = 1 + lengthCount + frameLimit
    let framePayload = frameLimit - VariableInteger.byteCount(of: number)
    // Whole frames: every frame but a transfer's last is then one full TLS record.
    let frames = max(1, configuration.readSize / frameCount)
    while let next = outgoing[id]?.nextRead(of: frames * framePayload) {
      outgoing[id]?.framings.append((frameCount, framePayload))
      turn.add(
        .readChunks(
          id, transfer: number, offset: next.offset, payloadCount: next.count, chunkFrameCount: frameCount))
    }
    if outgoing[id]?.isReadyToFinish == true {
      outgoing[id]?.isFinishing = true
      turn.add(.finishSource(id))
    }
  }

  mutating func chunksRead(_ id: TransferID, _ frames: Bytes, _ payloadCount: Int, _ turn: inout Turn) {
    guard let transfer = outgoing[id] else { return }
    if transfer.staleReads > 0 {
      // Reads are answered in their order.
      outgoing[id]?.staleReads -= 1
      read(id, &turn)
      return
    }
    guard transfer.phase == .sending else { return }
    guard let framing = outgoing[id]?.framings.popFirst() else { return }
    outgoing[id]?.readsUnderWay -= 1
    outgoing[id]?.blocks.append(
      OutgoingTransfer.Block(
        frames: frames, payloadCount: payloadCount, frameCount: framing.frameCount, framePayload: framing.framePayload))
    if let link = associations[transfer.node]?.link { turn.flush(link) }
    read(id, &turn)
  }

  mutating func sourceFinished(_ id: TransferID, _ digest: ResourceDigest, _ turn: inout Turn) {
    guard let transfer = outgoing[id], transfer.isFinishing else { return }
    outgoing[id]?.digest = digest
    if let link = associations[transfer.node]?.link { turn.flush(link) }
  }

  mutating func sourceFailed(_ id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let phase = outgoing[id]?.phase, phase != .abandoned else { return }
    abandon(id, ending, &turn)
  }

  /// We give an outgoing transfer up: the caller is told now, the number is free once the far side confirms.
  mutating func abandon(_ id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let transfer = outgoing[id], transfer.phase != .abandoned else { return }
    turn.add(.closeSource(id))
    turn.reply(transfer.command, .failed(ending))
    guard let number = transfer.number else {
      outgoing[id] = nil
      associations[transfer.node]?.outgoingOrder.removeAll { $0 == id }
      return
    }
    outgoing[id]?.phase = .abandoned
    outgoing[id]?.blocks.removeAll()
    associations[transfer.node]?.outgoingOrder.removeAll { $0 == id }
    associations[transfer.node]?.turns.remove(id)
    // What the far side has said itself it need not hear again.
    let detail = ending.blame == .peer ? "" : ending.detail
    send(.abandon(transfer: number, ending.reason, detail: detail), to: transfer.node, &turn)
  }

  /// The transfer is over on both sides: its number may be used again.
  private mutating func free(_ id: TransferID, _ turn: inout Turn) {
    guard let transfer = outgoing.removeValue(forKey: id) else { return }
    associations[transfer.node]?.outgoingOrder.removeAll { $0 == id }
    if let number = transfer.number {
      associations[transfer.node]?.outgoing[number] = nil
      associations[transfer.node]?.numbers.giveBack(number)
    }
    sendOffers(to: transfer.node, &turn)
  }

  /// The association is gone, and the transfer with it.
  mutating func drop(outgoing id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let transfer = outgoing.removeValue(forKey: id), transfer.phase != .abandoned else { return }
    turn.add(.closeSource(id))
    turn.reply(transfer.command, .failed(ending))
  }

  // MARK: The far side's frames about our transfers

  mutating func offerAccepted(_ id: TransferID, offset: UInt64, limit: UInt64, _ turn: inout Turn) -> String? {
    guard let transfer = outgoing[id] else { return "accepts an unknown offer" }
    if transfer.phase == .abandoned { return nil }
    guard transfer.phase == .offered else { return "accepts an offer twice" }
    guard offset <= transfer.offer.size else { return "accepts from behind the end" }
    outgoing[id]?.phase = .sending
    outgoing[id]?.isAllThere = offset == transfer.offer.size
    outgoing[id]?.readOffset = offset
    outgoing[id]?.transmitted = offset
    outgoing[id]?.stored = offset
    outgoing[id]?.limit = limit
    associations[transfer.node]?.turns.append(id)
    turn.deliver(.transferAccepted(id, offset: offset))
    read(id, &turn)
    return nil
  }

  mutating func offerDeclined(_ id: TransferID, _ reason: Reason, _ detail: String, _ turn: inout Turn)
    -> String?
  {
    guard let transfer = outgoing[id] else { return "declines an unknown offer" }
    if transfer.phase != .abandoned {
      guard transfer.phase == .offered else { return "declines an offer after its answer" }
      turn.add(.closeSource(id))
      turn.reply(transfer.command, .failed(Ending(reason, .peer, detail)))
    }
    free(id, &turn)
    return nil
  }

  mutating func credited(_ id: TransferID, stored: UInt64, limit: UInt64, _ turn: inout Turn) -> String? {
    guard let transfer = outgoing[id] else { return "credit for an unknown transfer" }
    switch transfer.phase {
    case .abandoned: return nil
    case .waiting, .offered: return "credit before the offer was accepted"
    case .sending, .ended: break
    }
    guard stored <= transfer.transmitted else { return "has stored bytes that were not sent" }
    if transfer.awaitsPosition { goOn(id, from: stored, &turn) }
    outgoing[id]?.limit = max(transfer.limit, limit)
    if stored > transfer.stored {
      outgoing[id]?.stored = stored
      turn.deliver(.transferProgressed(id, stored: stored))
    }
    read(id, &turn)
    return nil
  }

  mutating func storedThere(
    _ id: TransferID, name: [UInt8], wasThere: Bool, _ turn: inout Turn
  ) -> String? {
    guard let transfer = outgoing[id] else { return "has stored an unknown transfer" }
    switch transfer.phase {
    case .abandoned: free(id, &turn)
    case .ended:
      turn.add(.closeSource(id))
      turn.reply(transfer.command, .stored(name: name, wasThere: wasThere))
      free(id, &turn)
    case .waiting, .offered, .sending: return "has stored a transfer before its end"
    }
    return nil
  }

  mutating func refusedThere(_ id: TransferID, _ reason: Reason, _ detail: String, _ turn: inout Turn) -> String? {
    guard let transfer = outgoing[id] else { return "refuses an unknown transfer" }
    switch transfer.phase {
    case .waiting: return "refuses a transfer that was not offered"
    case .abandoned: break
    case .offered, .sending, .ended:
      // The far side forgets the number when it knows that we know.
      abandon(id, Ending(reason, .peer, detail), &turn)
    }
    free(id, &turn)
    return nil
  }
}
