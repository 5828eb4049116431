import PiconetWire

/// Transfers from the remote side: offered to the application, stored as they come, ended by one event.
extension Association {
  /// Returns the transfers under way of the same resource.
  func receiving(_ offer: ResourceOffer) -> [TransferReceiver] {
    transfers.incoming.values.filter {
      $0.phase == .receiving && $0.offer.identity == offer.identity && $0.offer.size == offer.size
    }
  }

  // MARK: The remote side's frames

  /// Declines an offer if we are leaving.
  /// - Returns: whether the offer may stand.
  func admitOrDecline(offer number: UInt64, _ turn: Turn) throws(Breach) -> Bool {
    guard isMember || dropsMemberFrames else { throw Breach("an offer before the invitation was accepted") }
    guard transfers.incoming[number] == nil else { throw Breach("transfer \(number) is open already") }
    guard transfers.incoming.count < configuration.transferLimit else {
      throw Breach("more than \(configuration.transferLimit) open transfers")
    }
    guard let leaving else { return true }
    send(.declineOffer(transfer: number, leaving.reason, detail: ""), turn)
    return false
  }

  func receivedOffer(_ number: UInt64, _ offer: ResourceOffer, _ turn: Turn) {
    let id = turn.handles.appendIncomingTransfer(in: self)
    transfers.append(TransferReceiver(id: id, number: number, offer: offer))
    turn.deliver(.offerReceived(id, from: node, offer))
  }

  func receivedChunk(_ number: UInt64, _ bytes: Bytes, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.incoming[number] else { throw Breach("a chunk of an unknown transfer") }
    guard try transfer.takesChunks() else { return }
    var bytes = bytes
    if let count = transfer.skipRepeated(of: bytes.count) {
      turn.add(.chunkRepeated(transfer.id, byteCount: count))
      bytes = bytes.dropFirst(count)
      if bytes.isEmpty { return }
    }
    guard try transfer.take(bytes.count) else {
      let detail = "more bytes than the \(transfer.offer.size) that were offered"
      return refuse(transfer, Ending(.sizeMismatch, .peer, detail), turn)
    }
    transfers.countChunk()
    // A short slice would keep everything that was read with it alive until the disk has it.
    turn.add(.storeChunk(transfer.id, bytes.count < 512 ? Array(bytes)[...] : bytes))
  }

  /// Notes that the sender continues from an offset, over another link.
  func receivedPosition(_ number: UInt64, _ offset: UInt64) throws(Breach) {
    guard hasResumed else { throw Breach("position without a resumed link") }
    guard let transfer = transfers.incoming[number] else { throw Breach("position of an unknown transfer") }
    try transfer.positioned(at: offset)
  }

  func receivedEnd(
    _ number: UInt64, _ size: UInt64, _ digest: ResourceDigest, _ turn: Turn
  ) throws(Breach) {
    guard let transfer = transfers.incoming[number] else { throw Breach("the end of an unknown transfer") }
    switch try transfer.ended(at: size) {
    case .complete: turn.add(.commitStore(transfer.id, size: size, digest))
    case .incomplete:
      let detail = "\(transfer.received) of the \(transfer.offer.size) bytes that were offered"
      refuse(transfer, Ending(.sizeMismatch, .peer, detail), turn)
    case .dropped: break
    }
  }

  func receivedAbandon(_ number: UInt64, _ ending: Ending, _ turn: Turn) {
    // The transfer was stored or declined while the sender gave it up. Both sides know how it ended.
    guard let transfer = transfers.incoming[number] else { return }
    switch transfer.phase {
    case .refused: forget(transfer, turn)
    // The store decides, as it would have a moment earlier. The sender accepts either answer.
    case .committing: transfer.abandoned()
    case .offered, .receiving:
      forget(transfer, turn)
      send(.refuse(transfer: transfer.number, .cancelled, detail: ""), turn)
      end(transfer, ending, turn)
    }
  }

  // MARK: The application's answers

  func acceptOffer(_ command: CommandID, _ id: TransferID, offset: UInt64, _ turn: Turn) -> Bool {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .offered else { return false }
    send(transfer.accept(from: offset, window: transferWindow(turn)), turn)
    turn.reply(command, .done)
    return true
  }

  func declineOffer(
    _ command: CommandID, _ id: TransferID, _ reason: Reason, _ detail: String, _ turn: Turn
  ) -> Bool {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .offered else { return false }
    forget(transfer, turn)
    send(.declineOffer(transfer: transfer.number, reason, detail: detail), turn)
    turn.reply(command, .done)
    turn.deliver(.transferEnded(id, Ending(reason, .us, detail)))
    return true
  }

  /// Gives up a transfer, in either direction, for the application.
  func cancelTransfer(_ id: TransferID, _ reason: Reason, _ turn: Turn) {
    if let transfer = transfers.outgoing[id] {
      abandon(transfer, Ending(reason, .us), turn)
    } else if let transfer = transfers.incomingIDs[id], transfer.isBeforeCommit {
      refuse(transfer, Ending(reason, .us), turn)
    }
  }

  // MARK: Credit

  /// Returns how much one transfer may have under way. It is a share of the memory for all transfers, and of what its
  /// link holds unread. It is at least a frame: otherwise the transfer would never continue.
  func transferWindow(_ turn: Turn) -> UInt64 {
    let share = configuration.transferMemory / max(1, turn.handles.incomingTransferCount)
    let window = min(configuration.transferWindow, max(configuration.smallestTransferWindow, share))
    guard let limit = peer.traits.unreadLimit else { return UInt64(window) }
    // Streams, if there are any, get a quarter.
    let part = limit / (streams.incoming.isEmpty ? 2 : 4)
    return UInt64(min(window, max(configuration.frameLimit, part / max(1, transfers.incoming.count))))
  }

  /// Tells the sender how much more it may send, if that is worth a frame.
  func grantCredit(_ transfer: TransferReceiver, _ turn: Turn) {
    guard let limit = transfer.grant(window: transferWindow(turn)) else { return }
    send(.transferCredit(transfer: transfer.number, stored: transfer.stored, limit: limit), turn)
  }

  // MARK: The store's answers

  func chunkStored(_ id: TransferID, upTo: UInt64, _ turn: Turn) {
    if let transfer = transfers.incomingIDs[id], transfer.chunkStored(upTo: upTo) { grantCredit(transfer, turn) }
  }

  func committed(_ id: TransferID, name: [UInt8], wasAlreadyPresent: Bool, _ turn: Turn) {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .committing else { return }
    forget(transfer, turn)
    let (number, told) = (transfer.number, Array(name.prefix(WireLimits.storedPath)))
    send(wasAlreadyPresent ? .present(transfer: number, name: told) : .stored(transfer: number, name: told), turn)
    turn.deliver(.transferEnded(id, nil))
  }

  func storeFailed(_ id: TransferID, _ ending: Ending, _ turn: Turn) {
    if let transfer = transfers.incomingIDs[id], transfer.phase != .refused { refuse(transfer, ending, turn) }
  }

  // MARK: Endings

  /// Gives up an incoming transfer. Its number stays taken until the sender confirms.
  func refuse(_ transfer: TransferReceiver, _ ending: Ending, _ turn: Turn) {
    let mayGoOn = transfer.mayGoOn(after: ending)
    if transfer.isAbandoned { forget(transfer, turn) } else { transfer.refuse() }
    send(.refuse(transfer: transfer.number, ending.reason, detail: ending.detail), turn)
    turn.add(mayGoOn ? .keepStore(transfer.id) : .discardStore(transfer.id))
    turn.deliver(.transferEnded(transfer.id, ending))
  }

  /// Gives up transfers whose commit has not begun, because we are leaving. They end now, however long the farewell
  /// takes.
  func refuseTransfers(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.incomingInOrder where transfer.isBeforeCommit {
      refuse(transfer, ending, turn)
    }
  }

  /// Releases the stored bytes of a resource that another run of the sender offers, so that the new offer can continue
  /// with them.
  func releaseStore(of transfer: TransferReceiver, _ turn: Turn) {
    transfer.refuse()
    let detail = "another run of the sender offers it"
    // The previous run may still be alive, and come back.
    send(.refuse(transfer: transfer.number, .cancelled, detail: detail), turn)
    turn.add(.keepStore(transfer.id))
    turn.deliver(.transferEnded(transfer.id, Ending(.restarted, .peer, detail)))
  }

  private func forget(_ transfer: TransferReceiver, _ turn: Turn) {
    transfers.remove(transfer)
    turn.handles.remove(transfer.id)
  }

  private func end(_ transfer: TransferReceiver, _ ending: Ending, _ turn: Turn) {
    turn.add(transfer.mayGoOn(after: ending) ? .keepStore(transfer.id) : .discardStore(transfer.id))
    turn.deliver(.transferEnded(transfer.id, ending))
  }

  /// Drops all transfers, because the association is over. The stored bytes of a transfer are kept for the same offer
  /// unless the transfer was given up.
  func dropTransfers(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.outgoingInOrder {
      transfers.remove(transfer)
      turn.handles.remove(transfer.id)
      guard transfer.phase != .abandoned else { continue }
      turn.add(.closeSource(transfer.id))
      turn.reply(transfer.caller, .failed(ending))
    }
    for transfer in transfers.incomingInOrder {
      forget(transfer, turn)
      if transfer.phase != .refused { end(transfer, ending, turn) }
    }
  }
}
