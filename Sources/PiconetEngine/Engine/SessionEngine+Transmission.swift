import PiconetWire

/// Frames on their way out: control before messages before streams before bulk, never more than the window with the driver.
extension SessionEngine {
  mutating func transmit(on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    // While the far side takes nothing, control frames wait here, where they are counted: it may be the far side that asks for
    // ever more of them.
    var room = transmitWindow(of: link) - link.outstanding
    guard room > 0 else { return transmitUnreliable(on: link, &turn) }
    let association = link.association
    var bytes: [UInt8] = []
    // Before frames that want answers: the far side knows then which of its own have come. Nothing goes before `associated`.
    if link.hasCarried { association?.acknowledge(into: &bytes) }
    if bytes.isEmpty, !link.control.isEmpty {
      swap(&bytes, &link.control)
    } else if !link.control.isEmpty {
      bytes += link.control
      link.control = []
    }
    if let association, !link.hasCarried {
      association.acknowledge(into: &bytes)
      link.hasCarried = true
    }
    if link.unreliableCount > 0 {
      bytes += link.takeUnreliable()
      association?.lastMoved = turn.now
    }
    room -= bytes.count

    if let association {
      if let limit = association.creditDue {
        association.creditDue = nil
        FrameEncoder.append(.messageCredit(limit: limit), to: &bytes)
      }
      if association.streams.hasCredits { association.streams.appendCredits(into: &bytes) }
      if association.isResending { room -= transmitBacklog(of: association, into: &bytes, room: room) }
      let sequenced =
        !association.isResending
        ? transmitLanes(of: association, on: link, room: room, into: &bytes, &turn)
        : (range: bytes.count..<bytes.count, frames: 0)
      room -= sequenced.range.count
      if sequenced.frames > 0 { association.lastMoved = turn.now }
      // Only now: a slice that is held while its array grows has the array copied.
      association.appendSequenced(bytes[sequenced.range], count: sequenced.frames, bufferCount: bytes.capacity)
    }
    if !bytes.isEmpty {
      link.outstanding += bytes.count
      link.lastSent = turn.now
      turn.add(.transmit(id, bytes[...]))
    }
    if let association {
      guard !association.isResending else { return }
      if !association.pausesDue.isEmpty { sendPauses(to: association, &turn) }
      if association.areOffersHeldBack { sendOffers(to: association.node, &turn) }
      let bulkRoom = min(room, bulkWindow(of: link) - link.outstanding)
      if bulkRoom > 0, association.turns.count > 0 {
        transmitChunks(of: association, on: link, room: bulkRoom, &turn)
      }
      leaveWhenSent(association, on: link, &turn)
    }
  }

  /// Sends again what another link has lost, whole frames and as many as there is room for, at least one.
  /// - Returns: how many bytes that were.
  private func transmitBacklog(of association: Association, into bytes: inout [UInt8], room: Int) -> Int {
    let before = bytes.count
    while let frames = association.backlog.first, bytes.count - before < room {
      let part = FrameCut.prefix(of: frames, upTo: room - (bytes.count - before))
      bytes.append(contentsOf: part)
      if part.count == frames.count {
        _ = association.backlog.popFirst()
      } else {
        association.backlog.replaceFirst(frames.dropFirst(part.count))
      }
    }
    if association.backlog.isEmpty, bytes.count - before < room {
      bytes += association.behindBacklog
      association.behindBacklog = []
    }
    return bytes.count - before
  }

  /// Messages, and streams behind them.
  /// - Returns: where their frames are, and how many.
  private func transmitLanes(
    of association: Association, on link: Link, room: Int, into bytes: inout [UInt8], _ turn: inout Turn
  ) -> (range: Range<Int>, frames: UInt64) {
    let start = bytes.count
    var frames: UInt64 = 0
    let room = min(room, association.keeping.own - association.unacknowledged.byteCount)
    if room > 0, !association.outbox.isEmpty {
      bytes.reserveCapacity(min(room, association.outbox.queuedCost) + start)
      let framed = association.outbox.frame(into: &bytes, room: room, frameLimit: association.frameLimit)
      association.counts.sent.messages.add(frames: framed.frames, bytes: bytes.count - start)
      if framed.cost > 0 { turn.add(.messagesTaken(association.node, byteCount: framed.cost)) }
      frames = framed.frames
    }
    let left = min(room, bulkWindow(of: link) - link.outstanding) - (bytes.count - start)
    if left > 0, association.streams.hasTurns {
      let before = bytes.count
      bytes.reserveCapacity(before + min(left, association.streams.queuedCount + 1024))
      let framed = association.streams.frame(
        into: &bytes, room: left, frameLimit: min(association.frameLimit, link.bulkFrameLimit))
      association.counts.sent.streams.add(frames: framed.frames, bytes: bytes.count - before)
      for (stream, count) in framed.taken { turn.add(.streamTaken(stream, byteCount: count)) }
      frames += framed.frames
    }
    return (start..<bytes.count, frames)
  }

  /// The most bytes that may be with the driver and not yet with the kernel, but for one frame that is longer.
  func transmitWindow(of link: Link) -> Int {
    // Who is nobody's member gets little ahead of what it reads.
    let own = link.association?.isMember == true ? configuration.transmitWindow : KeepingLimits.strangerControl
    return min(own, configuration.transmitWindow, link.opening.traits.transmitWindow ?? .max)
  }

  /// The same for bulk, which goes behind everything else: no more than the path carries before anybody notices.
  func bulkWindow(of link: Link) -> Int {
    min(transmitWindow(of: link), link.bulkPace?.room ?? .max)
  }

  mutating func paced(_ id: LinkID, _ pace: BulkPace, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    link.bulkPace = pace
    if link.waitsForRoom { turn.flush(id) }
  }

  // MARK: Messages

  mutating func queue(
    _ message: Bytes, to far: NodeID, _ mode: DeliveryMode, _ turn: inout Turn
  ) {
    guard let association = associations[far], association.takes(message) else {
      // The association has ended meanwhile, which an event tells; the budget must not shrink by it.
      turn.add(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      return
    }
    switch mode {
    case .reliable: association.outbox.append(message)
    case .unreliable:
      turn.add(.messagesTaken(far, byteCount: Outbox.cost(of: message)))
      queueUnreliable(message, to: association)
    }
    turn.flush(association.link)
  }

  mutating func consumed(_ cost: Int, from far: NodeID, _ turn: inout Turn) {
    guard let association = associations[far],
      let limit = association.inbox.consume(cost, messageLimit: configuration.messageLimit)
    else { return }
    association.creditDue = limit
    turn.flush(association.link)
  }

  // MARK: Leaving

  mutating func leave(
    _ id: CommandID?, _ far: NodeID, _ reason: Reason, by: NodeID? = nil, _ turn: inout Turn
  ) {
    guard let association = associations[far], association.leaving == nil else {
      if let id { turn.reply(id, .done) }
      return
    }
    turn.deadlinesMoved = true
    if association.suspension != nil {
      // There is nobody to tell. The far side learns it when it finds us, or by time.
      end(association: far, Ending(reason, .us, by: by), &turn)
      if let id { turn.reply(id, .done) }
      return
    }
    associations[far]?.leaving = Association.Leaving(
      command: id, reason: reason, by: by, deadline: turn.now + configuration.leaveTimeout)
    for transfer in association.outgoingOrder where outgoing[transfer]?.phase != .abandoned {
      abandon(transfer, Ending(reason, .us), &turn)
    }
    refuseIncoming(of: far, Ending(reason, .us), &turn)
    resetStreams(of: association, Ending(reason, .us), &turn)
    stopStreams(of: association, Ending(reason, .us), &turn)
    endProof(of: association, Ending(reason, .us), &turn)
    if association.invitation != nil {
      send(.decline(reason, detail: ""), to: far, &turn)
      closeInvitation(of: association, Ending(reason, .us), &turn)
    }
    turn.flush(association.link)
  }

  /// Once the messages before it are on their way, the leave goes; the far side closes the link when it has it.
  private mutating func leaveWhenSent(
    _ association: Association, on link: Link, _ turn: inout Turn
  ) {
    guard let leaving = association.leaving, !leaving.isTold, association.outbox.isEmpty,
      !association.streams.hasUnsentEnds
    else { return }
    association.leaving?.isTold = true
    let bytes = FrameEncoder.encode(.leave(leaving.reason, detail: ""))
    association.appendSequenced(control: bytes[...])
    link.outstanding += bytes.count
    link.lastSent = turn.now
    turn.add(.transmit(link.id, bytes[...]))
  }
}
