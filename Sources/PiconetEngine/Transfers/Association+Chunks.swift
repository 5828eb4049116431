import PiconetWire

/// Chunks of outgoing transfers: read ahead of the link, and transmitted after everything else that goes over it.
extension Association {
  /// Asks the source for the bytes that may be sent next, or for its digest once everything was read.
  func read(_ transfer: TransferSender, _ turn: Turn) {
    guard let number = transfer.number else { return }
    let layout = ChunkLayout(transfer: number, frameLimit: min(frameLimit, link?.bulkFrameLimit ?? .max))
    while let next = transfer.nextRead(of: layout.payload(ofReads: configuration.readSize), layout) {
      turn.add(
        .readChunks(
          transfer.id, transfer: number, offset: next.offset, payloadCount: next.count,
          chunkFrameCount: layout.frameCount))
    }
    if transfer.beginFinishing() { turn.add(.finishSource(transfer.id)) }
  }

  func chunksRead(_ id: TransferID, _ frames: Bytes, _ payloadCount: Int, _ turn: Turn) {
    guard let transfer = transfers.outgoing[id] else { return }
    switch transfer.read(frames, payloadCount: payloadCount) {
    case .queued: turn.flush(link)
    case .stale: break
    case .unwanted: return
    }
    read(transfer, turn)
  }

  /// Transmits chunks of all transfers in turn, as far as there is room, and the end of each right after its last
  /// chunk.
  func transmitChunks(on link: Link, room: Int, _ turn: Turn) {
    var room = room
    /// The number of transfers passed over since one had something to send.
    var passed = 0
    while room > 0, passed < transfers.turnCount, let part = transfers.takeTurn(room: room) {
      if let chunks = part.chunks {
        counts.sent(chunks: chunks.count, bytes: chunks.frames.count)
        link.hand(over: chunks.frames, turn)
        room -= chunks.frames.count
        passed = 0
      } else if part.end == nil {
        passed += 1
      }
      if let end = part.end { link.handOverSilently(FrameEncoder.encode(end)[...], turn) }
      read(part.transfer, turn)
    }
  }
}
