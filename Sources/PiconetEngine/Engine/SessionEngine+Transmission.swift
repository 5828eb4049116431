import PiconetWire

/// Frames on their way out: control before messages before bulk, never more than the window with the driver.
extension SessionEngine {
  mutating func transmit(on id: LinkID, _ now: Instant, _ effects: inout [Effect]) {
    guard var link = links[id] else { return }
    let far = link.phase == .active ? link.node : nil
    var bytes: [UInt8] = []
    var room = configuration.transmitWindow - link.outstanding
    // While the far side takes nothing, control frames wait here, where they are counted: it may be the far side that asks for
    // ever more of them.
    let mayControlGo = room > 0
    if mayControlGo { swap(&bytes, &link.control) }
    room -= bytes.count

    if let far, associations[far] != nil, mayControlGo {
      if let limit = associations[far]?.creditDue {
        associations[far]?.creditDue = nil
        FrameEncoder.append(.messageCredit(limit: limit), to: &bytes)
      }
      if room > 0, let isEmpty = associations[far]?.outbox.isEmpty, !isEmpty {
        let frameLimit = associations[far]?.frameLimit ?? 0
        let before = bytes.count
        bytes.reserveCapacity(min(room, associations[far]?.outbox.queuedCost ?? 0) + before)
        let framed = associations[far]?.outbox.frame(into: &bytes, room: room, frameLimit: frameLimit)
        associations[far]?.sent += framed?.frames ?? 0
        room -= bytes.count - before
        if let cost = framed?.cost, cost > 0 { effects.append(.messagesTaken(far, byteCount: cost)) }
      }
      acknowledge(far, into: &bytes)
    }
    // What was taken from the link goes back before anything else looks at it.
    link.outstanding += bytes.count
    if !bytes.isEmpty { link.lastSent = now }
    links[id] = link
    if !bytes.isEmpty { effects.append(.transmit(id, bytes[...])) }
    if let far, mayControlGo {
      if associations[far]?.areOffersHeldBack == true { sendOffers(to: far) }
      if room > 0 { transmitChunks(to: far, on: id, room: room, now, &effects) }
      leaveWhenSent(far, on: id, now, &effects)
    }
  }

  /// Received frames are acknowledged with what is sent anyway, or once so many have come.
  private mutating func acknowledge(_ far: NodeID, into bytes: inout [UInt8]) {
    guard let index = associations.index(forKey: far) else { return }
    let received = associations.values[index].received
    guard received - associations.values[index].receivedTold >= 64 else { return }
    FrameEncoder.append(.acknowledge(received: received), to: &bytes)
    associations.values[index].receivedTold = received
  }

  /// Chunks of the first transfer that has some; the next one's turn comes when it has none.
  private mutating func transmitChunks(
    to far: NodeID, on id: LinkID, room: Int, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let order = associations[far]?.outgoingOrder, !order.isEmpty,
      let frameLimit = associations[far]?.frameLimit
    else { return }
    let frameCount = 1 + VariableInteger.byteCount(of: UInt64(frameLimit)) + frameLimit
    var room = room
    for transfer in order {
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
        links[id]?.outstanding += frames.count
        links[id]?.lastSent = now
        effects.append(.transmit(id, frames))
      }
      finish(transfer, on: id, &effects)
      read(transfer, &effects)
      if room <= 0 { return }
    }
  }

  /// The end of a transfer goes right behind its last chunk.
  private mutating func finish(_ id: TransferID, on link: LinkID, _ effects: inout [Effect]) {
    guard let transfer = outgoing[id], transfer.phase == .sending, let digest = transfer.digest,
      let number = transfer.number, transfer.blocks.isEmpty
    else { return }
    outgoing[id]?.phase = .ended
    var bytes: [UInt8] = []
    FrameEncoder.append(.end(transfer: number, size: transfer.offer.size, digest), to: &bytes)
    links[link]?.outstanding += bytes.count
    effects.append(.closeSource(id))
    effects.append(.transmit(link, bytes[...]))
  }

  // MARK: Messages

  mutating func queue(
    _ message: Bytes, to far: NodeID, _ mode: DeliveryMode, _ now: Instant, _ effects: inout [Effect]
  ) {
    // By index and in place: a copy of the association, were it alive now, would make each append copy the whole queue.
    guard let index = associations.index(forKey: far), associations.values[index].takes(message) else {
      // The association has ended meanwhile, which an event tells; the budget must not shrink by it.
      effects.append(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      return
    }
    let link = associations.values[index].link
    switch mode {
    case .reliable: associations.values[index].outbox.append(message)
    case .unreliable:
      effects.append(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      let frameLimit = associations.values[index].frameLimit
      guard let state = links[link], message.count <= frameLimit,
        state.outstanding + state.control.count + message.count < configuration.transmitWindow
      else { return }
      links[link]?.queue(.unreliableMessage(message))
    }
    dirty.insert(link)
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
    dirty.insert(association.link)
  }

  /// Once the messages before it are on their way, the leave goes; the far side closes the link when it has it.
  private mutating func leaveWhenSent(
    _ far: NodeID, on link: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let leaving = associations[far]?.leaving, !leaving.isTold, associations[far]?.outbox.isEmpty == true else {
      return
    }
    associations[far]?.leaving?.isTold = true
    associations[far]?.sent += 1
    let bytes = FrameEncoder.encode(.leave(leaving.reason, detail: ""))
    links[link]?.outstanding += bytes.count
    links[link]?.lastSent = now
    effects.append(.transmit(link, bytes[...]))
  }
}
