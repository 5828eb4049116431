import PiconetWire

/// Chunks of our transfers: read ahead of the link, and transmitted behind everything else that goes over it.
extension Association {
  /// Asks the source for what may be sent next, or for its digest once everything was read.
  func read(_ transfer: TransferSender, _ turn: Turn) {
    guard let number = transfer.number else { return }
    let layout = ChunkLayout(transfer: number, frameLimit: min(frameLimit, link?.bulkFrameLimit ?? .max))
    while let next = transfer.nextRead(of: layout.payload(ofReads: configuration.readSize)) {
      transfer.layouts.append(layout)
      turn.add(
        .readChunks(
          transfer.id, transfer: number, offset: next.offset, payloadCount: next.count,
          chunkFrameCount: layout.frameCount))
    }
    if transfer.isReadyToFinish {
      transfer.isFinishing = true
      turn.add(.finishSource(transfer.id))
    }
  }

  func chunksRead(_ id: TransferID, _ frames: Bytes, _ payloadCount: Int, _ turn: Turn) {
    guard let transfer = transfers.outgoing[id] else { return }
    if transfer.staleReads > 0 {
      // Reads are answered in order.
      transfer.staleReads -= 1
      read(transfer, turn)
      return
    }
    guard transfer.phase == .sending, let layout = transfer.layouts.popFirst() else { return }
    transfer.readsUnderWay -= 1
    transfer.blocks.append(TransferSender.Block(frames: frames, payloadCount: payloadCount, layout: layout))
    turn.flush(link)
    read(transfer, turn)
  }

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
