import PiconetWire

/// Chunks on their way out, behind everything else that goes over the link.
extension SessionEngine {
  /// Chunks of all transfers in turn, as far as there is room.
  mutating func transmitChunks(
    of association: Association, on link: Link, room: Int, _ turn: inout Turn
  ) {
    var room = room
    var passed = 0
    while room > 0, passed < association.turns.count, let transfer = association.turns.current {
      let count = transmitBlock(
        of: transfer, share: association.turns.share(of: room), association, on: link, &turn)
      room -= count
      let hasEnded = finish(transfer, on: link, &turn)
      read(transfer, &turn)
      if count > 0 {
        passed = 0
        // The end has given the turn away.
        if !hasEnded { association.turns.took(count) }
      } else if !hasEnded {
        passed += 1
        association.turns.pass()
      }
    }
  }

  /// The first block of a transfer, or the part of it that its share holds, cut between frames: a message never waits for
  /// more than what is under way. At least one frame.
  /// - Returns: bytes of frames.
  private mutating func transmitBlock(
    of transfer: TransferID, share: Int, _ association: Association, on link: Link, _ turn: inout Turn
  ) -> Int {
    guard outgoing[transfer]?.isPaused == false, let block = outgoing[transfer]?.blocks.first else { return 0 }
    let whole = max(1, share / block.frameCount) * block.frameCount
    let isWhole = block.frames.count <= whole
    let frames = isWhole ? block.frames : block.frames.prefix(whole)
    if isWhole {
      _ = outgoing[transfer]?.blocks.popFirst()
      outgoing[transfer]?.transmitted += UInt64(block.payloadCount)
    } else {
      let payload = whole / block.frameCount * block.framePayload
      outgoing[transfer]?.transmitted += UInt64(payload)
      var rest = block
      rest.frames = block.frames.dropFirst(whole)
      rest.payloadCount -= payload
      outgoing[transfer]?.blocks.replaceFirst(rest)
    }
    association.counts.sent.chunks.add(
      frames: UInt64((frames.count + block.frameCount - 1) / block.frameCount), bytes: frames.count)
    link.outstanding += frames.count
    link.lastSent = turn.now
    turn.add(.transmit(link.id, frames))
    return frames.count
  }

  /// The end of a transfer goes right behind its last chunk.
  /// - Returns: whether it went.
  private mutating func finish(_ id: TransferID, on link: Link, _ turn: inout Turn) -> Bool {
    guard let transfer = outgoing[id], transfer.phase == .sending, !transfer.isPaused, let digest = transfer.digest,
      let number = transfer.number, transfer.blocks.isEmpty, transfer.isRead
    else { return false }
    outgoing[id]?.phase = .ended
    associations[transfer.node]?.turns.remove(id)
    var bytes: [UInt8] = []
    FrameEncoder.append(.end(transfer: number, size: transfer.offer.size, digest), to: &bytes)
    link.outstanding += bytes.count
    turn.add(.transmit(link.id, bytes[...]))
    return true
  }
}
