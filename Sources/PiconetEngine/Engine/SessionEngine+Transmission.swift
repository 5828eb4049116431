import PiconetWire

/// Frames on their way out: control before messages before bulk, never more than the window with the driver.
extension SessionEngine {
  mutating func transmit(on id: LinkID, _ now: Instant, _ effects: inout [Effect]) {
    guard let link = links[id] else { return }
    // While the far side takes nothing, control frames wait here, where they are counted: it may be the far side that asks for
    // ever more of them.
    var room = transmitWindow(of: link) - link.outstanding
    guard room > 0 else { return }
    var bytes: [UInt8] = []
    swap(&bytes, &link.control)
    room -= bytes.count
    let association = link.association

    if let association {
      if let limit = association.creditDue {
        association.creditDue = nil
        FrameEncoder.append(.messageCredit(limit: limit), to: &bytes)
      }
      if room > 0, !association.outbox.isEmpty {
        let before = bytes.count
        bytes.reserveCapacity(min(room, association.outbox.queuedCost) + before)
        let framed = association.outbox.frame(into: &bytes, room: room, frameLimit: association.frameLimit)
        association.sent += framed.frames
        room -= bytes.count - before
        if framed.cost > 0 { effects.append(.messagesTaken(association.node, byteCount: framed.cost)) }
      }
      association.acknowledge(into: &bytes)
    }
    if !bytes.isEmpty {
      link.outstanding += bytes.count
      link.lastSent = now
      effects.append(.transmit(id, bytes[...]))
    }
    if let association {
      if association.areOffersHeldBack { sendOffers(to: association.node) }
      if room > 0, !association.outgoingOrder.isEmpty {
        transmitChunks(of: association, on: link, room: room, now, &effects)
      }
      leaveWhenSent(association, on: link, now, &effects)
    }
  }

  /// The most bytes that may be with the driver and not yet with the kernel, but for one frame that is longer.
  func transmitWindow(of link: Link) -> Int {
    min(configuration.transmitWindow, link.opening.traits.transmitWindow ?? .max)
  }

  /// Chunks of the first transfer that has some; the next one's turn comes when it has none.
  private mutating func transmitChunks(
    of association: Association, on link: Link, room: Int, _ now: Instant, _ effects: inout [Effect]
  ) {
    let frameLimit = association.frameLimit
    let frameCount = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + frameLimit
    var room = room
    for transfer in association.outgoingOrder {
      while room > 0, let block = outgoing[transfer]?.blocks.first {
        // Cut between frames, so that a message never waits for more than what is under way.
        let whole = max(1, room / frameCount) * frameCount
        let isWhole = block.frames.count <= whole
        let frames = isWhole ? block.frames : block.frames.prefix(whole)
        if isWhole {
          _ = outgoing[transfer]?.blocks.popFirst()
          outgoing[transfer]?.transmitted += UInt64(block.payloadCount)
        } else {
          let header = FrameEncoder.chunkHeaderCount(
            transfer: outgoing[transfer]?.number ?? 0,
            payloadCount: frameLimit - VariableInteger.byteCount(of: outgoing[transfer]?.number ?? 0))
          let payload = whole / frameCount * (frameCount - header)
          outgoing[transfer]?.transmitted += UInt64(payload)
          outgoing[transfer]?.blocks.replaceFirst(
            OutgoingTransfer.Block(
              frames: block.frames.dropFirst(whole), payloadCount: block.payloadCount - payload))
        }
        room -= frames.count
        link.outstanding += frames.count
        link.lastSent = now
        effects.append(.transmit(link.id, frames))
      }
      finish(transfer, on: link, &effects)
      read(transfer, &effects)
      if room <= 0 { return }
    }
  }

  /// The end of a transfer goes right behind its last chunk.
  private mutating func finish(_ id: TransferID, on link: Link, _ effects: inout [Effect]) {
    guard let transfer = outgoing[id], transfer.phase == .sending, let digest = transfer.digest,
      let number = transfer.number, transfer.blocks.isEmpty
    else { return }
    outgoing[id]?.phase = .ended
    var bytes: [UInt8] = []
    FrameEncoder.append(.end(transfer: number, size: transfer.offer.size, digest), to: &bytes)
    link.outstanding += bytes.count
    effects.append(.closeSource(id))
    effects.append(.transmit(link.id, bytes[...]))
  }

  // MARK: Messages

  mutating func queue(
    _ message: Bytes, to far: NodeID, _ mode: DeliveryMode, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let association = associations[far], association.takes(message) else {
      // The association has ended meanwhile, which an event tells; the budget must not shrink by it.
      effects.append(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      return
    }
    switch mode {
    case .reliable: association.outbox.append(message)
    case .unreliable:
      effects.append(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      guard let link = links[association.link], message.count <= association.frameLimit,
        link.outstanding + link.control.count + message.count < transmitWindow(of: link)
      else { return }
      link.queue(.unreliableMessage(message))
    }
    dirty.insert(association.link)
  }

  mutating func consumed(_ cost: Int, from far: NodeID) {
    guard let limit = associations[far]?.inbox.consume(cost, messageLimit: configuration.messageLimit) else { return }
    guard let link = associations[far]?.link else { return }
    associations[far]?.creditDue = limit
    dirty.insert(link)
  }

  // MARK: Leaving

  mutating func leave(
    _ id: CommandID, _ far: NodeID, _ reason: Reason, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let association = associations[far], association.leaving == nil else {
      reply(id, .done, &effects)
      return
    }
    timesChanged = true
    associations[far]?.leaving = Association.Leaving(
      command: id, reason: reason, deadline: now + configuration.leaveTimeout)
    for transfer in association.outgoingOrder where outgoing[transfer]?.phase != .abandoned {
      abandon(transfer, Ending(reason, .us), &effects)
    }
    refuseIncoming(of: far, Ending(reason, .us), &effects)
    if association.invitationExpires != nil {
      associations[far]?.invitationExpires = nil
      send(.decline(reason, detail: ""), to: far)
      deliver(.invitationEnded(far, Ending(reason, .us)), &effects)
    }
    dirty.insert(association.link)
  }

  /// Once the messages before it are on their way, the leave goes; the far side closes the link when it has it.
  private mutating func leaveWhenSent(
    _ association: Association, on link: Link, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let leaving = association.leaving, !leaving.isTold, association.outbox.isEmpty else { return }
    association.leaving?.isTold = true
    association.sent += 1
    let bytes = FrameEncoder.encode(.leave(leaving.reason, detail: ""))
    link.outstanding += bytes.count
    link.lastSent = now
    effects.append(.transmit(link.id, bytes[...]))
  }
}
