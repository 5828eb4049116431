import PiconetWire

/// Frames on their way out: control before messages before streams before bulk, never more than the window with the
/// driver.
extension Association {
  func transmit(on link: Link, _ turn: Turn) {
    // While the remote side takes nothing, control frames wait here, where they are counted: it may be the remote side
    // that asks for ever more of them.
    var room = link.transmitWindow - link.outstanding
    guard room > 0 else { return transmitUnreliable(on: link, turn) }
    let waiting = self.waiting
    var bytes: [UInt8] = []
    // Before frames that want answers: the remote side knows then which of its own have come. Nothing goes before
    // `associated`.
    let isFirst = !link.hasCarried
    if waiting.contains(.acknowledgement), !isFirst { acknowledge(into: &bytes) }
    link.takeControl(into: &bytes)
    if isFirst {
      if waiting.contains(.acknowledgement) { acknowledge(into: &bytes) }
      link.hasCarried = true
    }
    if link.unreliableCount > 0 {
      bytes += link.takeUnreliable()
      lastMoved = turn.now
    }
    room -= bytes.count

    if waiting.contains(.credit) { appendCredit(into: &bytes) }
    if waiting.contains(.streamCredits) { streams.appendCredits(into: &bytes) }
    if waiting.contains(.backlog) { room -= transmitBacklog(into: &bytes, room: room) }
    if !isResending { room -= transmitLanes(waiting, on: link, room: room, into: &bytes, turn) }
    if !bytes.isEmpty { link.hand(over: bytes[...], turn) }

    guard !isResending else { return }
    if waiting.contains(.pauses) { sendPauses(turn) }
    if waiting.contains(.offers) { sendOffers(turn) }
    let bulkRoom = min(room, link.bulkWindow - link.outstanding)
    if waiting.contains(.chunks), bulkRoom > 0 { transmitChunks(on: link, room: bulkRoom, turn) }
    if waiting.contains(.goodbye) { leaveWhenSent(on: link, turn) }
  }

  private func appendCredit(into bytes: inout [UInt8]) {
    guard let limit = creditDue else { return }
    creditDue = nil
    FrameEncoder.append(.messageCredit(limit: limit), to: &bytes)
  }

  /// Sends again what another link has lost, whole frames and as many as there is room for, at least one.
  /// - Returns: how many bytes that were.
  private func transmitBacklog(into bytes: inout [UInt8], room: Int) -> Int {
    let before = bytes.count
    while let frames = backlog.first, bytes.count - before < room {
      let part = FrameCut.prefix(of: frames, upTo: room - (bytes.count - before))
      bytes.append(contentsOf: part)
      if part.count == frames.count {
        _ = backlog.popFirst()
      } else {
        backlog.replaceFirst(frames.dropFirst(part.count))
      }
    }
    if backlog.isEmpty, bytes.count - before < room {
      bytes += behindBacklog
      behindBacklog = []
    }
    return bytes.count - before
  }

  /// Messages, and streams behind them.
  /// - Returns: bytes of their frames.
  private func transmitLanes(
    _ waiting: WaitingTraffic, on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn
  ) -> Int {
    let start = bytes.count
    var frames: UInt64 = 0
    let room = min(room, keeping.own - unacknowledged.byteCount)
    if waiting.contains(.messages), room > 0 {
      bytes.reserveCapacity(min(room, outbox.queuedCost) + start)
      let framed = outbox.frame(into: &bytes, room: room, frameLimit: frameLimit)
      counts.sent.messages.add(frames: framed.frames, bytes: bytes.count - start)
      if framed.cost > 0 { turn.add(.messagesTaken(node, byteCount: framed.cost)) }
      frames = framed.frames
    }
    let left = min(room, link.bulkWindow - link.outstanding) - (bytes.count - start)
    if waiting.contains(.streams), left > 0 { frames += transmitStreams(on: link, room: left, into: &bytes, turn) }
    if frames > 0 { lastMoved = turn.now }
    // Only now: a slice that is held while its array grows has the array copied.
    appendSequenced(bytes[start...], count: frames, bufferCount: bytes.capacity)
    return bytes.count - start
  }

  /// - Returns: how many frames.
  private func transmitStreams(on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn) -> UInt64 {
    let start = bytes.count
    bytes.reserveCapacity(start + min(room, streams.queuedCount + 1024))
    let framed = streams.frame(into: &bytes, room: room, frameLimit: min(frameLimit, link.bulkFrameLimit))
    counts.sent.streams.add(frames: framed.frames, bytes: bytes.count - start)
    for (stream, count) in framed.taken { turn.add(.streamTaken(stream, byteCount: count)) }
    return framed.frames
  }

  /// Once the messages before it are on their way, the leave goes; the remote side closes the link when it has it.
  private func leaveWhenSent(on link: Link, _ turn: Turn) {
    guard let leaving, outbox.isEmpty, !streams.hasUnsentEnds else { return }
    self.leaving?.isTold = true
    let bytes = FrameEncoder.encode(.leave(leaving.reason, detail: ""))
    appendSequenced(control: bytes[...])
    link.hand(over: bytes[...], turn)
  }
}
