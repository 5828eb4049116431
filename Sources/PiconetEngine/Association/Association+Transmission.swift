import PiconetWire

/// Outgoing frames: control before messages before streams before bulk, never more than the driver's window holds.
extension Association {
  func transmit(on link: Link, _ turn: Turn) {
    // While the remote side takes nothing, control frames wait here, where they are counted. The remote side itself may
    // be what keeps asking for more of them.
    var room = link.transmitWindow - link.outstanding
    guard room > 0 else { return transmitUnreliable(on: link, turn) }
    let waiting = self.waiting
    var bytes: [UInt8] = []
    // An acknowledgement goes before frames that want answers: the remote side then knows which of its own frames have
    // come. But nothing goes before `associated`.
    let isFirst = !link.hasCarried
    if waiting.contains(.acknowledgement), !isFirst { sequenced.appendAcknowledgement(into: &bytes) }
    link.takeControl(into: &bytes)
    if isFirst {
      if waiting.contains(.acknowledgement) { sequenced.appendAcknowledgement(into: &bytes) }
      link.carry()
    }
    if link.unreliableCount > 0 {
      bytes += link.takeUnreliable()
      moved(turn.now)
    }
    room -= bytes.count

    if waiting.contains(.credit) {
      if inbox.isCreditDue { inbox.appendCredit(into: &bytes) }
      if incomingChannels.hasCredits { incomingChannels.appendCredits(into: &bytes) }
    }
    if waiting.contains(.streamCredits) { streams.appendCredits(into: &bytes) }
    if waiting.contains(.tunnelCredits) { tunnels.appendCredits(into: &bytes) }
    if waiting.contains(.backlog) { room -= sequenced.frameBacklog(into: &bytes, room: room) }
    if !sequenced.isResending { room -= transmitLanes(waiting, on: link, room: room, into: &bytes, turn) }
    if !bytes.isEmpty { link.hand(over: bytes[...], turn) }

    guard !sequenced.isResending else { return }
    if waiting.contains(.pauses) { sendPauses(turn) }
    if waiting.contains(.offers) { sendOffers(turn) }
    let bulkRoom = min(room, link.bulkWindow - link.outstanding)
    if waiting.contains(.chunks), bulkRoom > 0 { transmitChunks(on: link, room: bulkRoom, turn) }
    if waiting.contains(.goodbye) { leaveWhenSent(on: link, turn) }
  }

  /// The smallest room that tunnels get: a frame of the smallest limit, with its header.
  private static let leastTunnelShare = WireLimits.smallestFrame + 16

  /// Writes messages, then tunnels and streams.
  /// - Returns: how many bytes of their frames were written.
  private func transmitLanes(
    _ waiting: WaitingTraffic, on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn
  ) -> Int {
    let start = bytes.count
    var frames: UInt64 = 0
    let room = min(room, keeping.own - sequenced.unacknowledged.byteCount)
    if waiting.contains(.messages), room > 0 {
      frames = transmitMessages(on: link, room: room, into: &bytes, turn)
      counts.sent(messages: frames, bytes: bytes.count - start)
    }
    let bulkEnd = start + min(room, link.bulkWindow - link.outstanding)
    if waiting.contains(.tunnels), bulkEnd > bytes.count {
      // Next to our own bulk, tunnels get a quarter of the room, so that no link inside them dies of silence.
      let isAlone = waiting.isDisjoint(with: [.streams, .chunks])
      let share = isAlone ? bulkEnd - bytes.count : max((bulkEnd - bytes.count) / 4, Self.leastTunnelShare)
      frames += transmitTunnels(on: link, room: min(share, bulkEnd - bytes.count), into: &bytes, turn)
    }
    if waiting.contains(.streams), bulkEnd > bytes.count {
      frames += transmitStreams(on: link, room: bulkEnd - bytes.count, into: &bytes, turn)
    }
    if frames > 0 { moved(turn.now) }
    // Only now: if a slice were held while its array grows, the array would be copied.
    sequenced.append(bytes[start...], count: frames, bufferCount: bytes.capacity)
    return bytes.count - start
  }

  /// - Returns: how many frames were written.
  private func transmitMessages(on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn) -> UInt64 {
    let start = bytes.count
    guard !outgoingChannels.isEmpty else {
      bytes.reserveCapacity(min(room, outbox.queuedCost) + start)
      let framed = outbox.frame(into: &bytes, room: room, frameLimit: frameLimit)
      if framed.cost > 0 { turn.add(.messagesTaken(node, byteCount: framed.cost)) }
      return framed.frames
    }
    bytes.reserveCapacity(min(room, outbox.queuedCost + outgoingChannels.queuedCost) + start)
    let bulkRoom = max(0, min(room, link.bulkWindow - link.outstanding))
    let framed = outgoingChannels.frame(
      beside: &outbox, into: &bytes,
      OutgoingChannels.Room(
        end: start + room, bulkEnd: start + bulkRoom, frameLimit: frameLimit, bulkFrameLimit: link.bulkFrameLimit))
    for (channel, cost) in framed.taken { turn.add(.messagesTaken(node, byteCount: cost, in: channel)) }
    return framed.frames
  }

  /// - Returns: how many frames were written.
  private func transmitStreams(on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn) -> UInt64 {
    let start = bytes.count
    bytes.reserveCapacity(start + min(room, streams.queuedCount + 1024))
    let framed = streams.frame(into: &bytes, room: room, frameLimit: min(frameLimit, link.bulkFrameLimit))
    counts.sent(streams: framed.frames, bytes: bytes.count - start)
    for (stream, count) in framed.taken { turn.add(.streamTaken(stream, byteCount: count)) }
    return framed.frames
  }

  /// Sends `leave` once everything before it is on its way. The remote side closes the link when it receives `leave`.
  private func leaveWhenSent(on link: Link, _ turn: Turn) {
    guard let leaving, outbox.isEmpty, outgoingChannels.isEmpty, !streams.hasUnsentEnds,
      leaving.reason != .shuttingDown || !tunnels.hasOwn
    else { return }
    leavingIsTold()
    let bytes = FrameEncoder.encode(.leave(leaving.reason, detail: ""))
    sequenced.append(control: bytes[...])
    link.hand(over: bytes[...], turn)
  }
}
