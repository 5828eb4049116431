import PiconetWire

/// Chunks on their way out, behind everything else that goes over the link.
extension Association {
  /// Transmits chunks of all transfers in turn, as far as there is room.
  func transmitChunks(on link: Link, room: Int, _ turn: Turn) {
    var room = room
    var passed = 0
    while room > 0, passed < transfers.turns.count, let id = transfers.turns.current,
      let transfer = transfers.outgoing[id]
    {
      let count = transmitBlock(of: transfer, share: transfers.turns.share(of: room), on: link, turn)
      room -= count
      let hasEnded = finish(transfer, on: link, turn)
      read(transfer, turn)
      if count > 0 {
        passed = 0
        // The end of a transfer has passed its turn on.
        if !hasEnded { transfers.turns.took(count) }
      } else if !hasEnded {
        passed += 1
        transfers.turns.pass()
      }
    }
  }

  /// Transmits the first block of a transfer, or as much of it as its share allows, cut between frames: a message never
  /// waits for more than what is under way. At least one frame.
  /// - Returns: how many bytes of frames.
  private func transmitBlock(
    of transfer: TransferSender, share: Int, on link: Link, _ turn: Turn
  ) -> Int {
    guard !transfer.isPaused, let block = transfer.blocks.first else { return 0 }
    let layout = block.layout
    let whole = layout.wholeFrames(in: share)
    let isWhole = block.frames.count <= whole
    let frames = isWhole ? block.frames : block.frames.prefix(whole)
    if isWhole {
      _ = transfer.blocks.popFirst()
      transfer.transmitted += UInt64(block.payloadCount)
    } else {
      let payload = layout.payload(ofFrames: whole)
      transfer.transmitted += UInt64(payload)
      var rest = block
      rest.frames = block.frames.dropFirst(whole)
      rest.payloadCount -= payload
      transfer.blocks.replaceFirst(rest)
    }
    counts.sent.chunks.add(frames: layout.frames(in: frames.count), bytes: frames.count)
    link.hand(over: frames, turn)
    return frames.count
  }

  /// Sends the end of a transfer right behind its last chunk, once it can be sent.
  /// - Returns: whether it was sent.
  private func finish(_ transfer: TransferSender, on link: Link, _ turn: Turn) -> Bool {
    guard transfer.phase == .sending, !transfer.isPaused, let digest = transfer.digest, let number = transfer.number,
      transfer.blocks.isEmpty, transfer.isRead
    else { return false }
    transfer.phase = .ended
    transfers.turns.remove(transfer.id)
    let bytes = FrameEncoder.encode(.end(transfer: number, size: transfer.offer.size, digest))
    link.handOverSilently(bytes[...], turn)
    return true
  }
}
