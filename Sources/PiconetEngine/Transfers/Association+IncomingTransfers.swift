import PiconetWire

/// Transfers from the remote side: offered to the application, stored as they come, ended by one event.
extension Association {
  /// Transfers under way of this very resource.
  func receiving(_ offer: ResourceOffer) -> [TransferReceiver] {
    transfers.incoming.values.filter {
      $0.phase == .receiving && $0.offer.identity == offer.identity && $0.offer.size == offer.size
    }
  }

  // MARK: The remote side's frames

  /// Declines an offer if we are leaving.
  /// - Returns: whether it may stand.
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
    switch transfer.phase {
    case .refused: return
    case .offered: throw Breach("a chunk before the offer was accepted")
    case .committing: throw Breach("a chunk after the end")
    case .receiving: break
    }
    var bytes = bytes
    if transfer.repeated > 0 {
      let count = transfer.skipRepeated(of: bytes.count)
      turn.add(.chunkRepeated(transfer.id, byteCount: count))
      bytes = bytes.dropFirst(count)
      if bytes.isEmpty { return }
    }
    let received = transfer.received + UInt64(bytes.count)
    if received > transfer.offer.size {
      let detail = "more bytes than the \(transfer.offer.size) that were offered"
      return refuse(transfer, Ending(.sizeMismatch, .peer, detail), turn)
    }
    guard received <= transfer.limit else { throw Breach("more chunks than the credit allows") }
    transfer.received = received
    transfers.countChunk()
    // A short slice would keep everything that was read with it alive until the disk has it.
    turn.add(.storeChunk(transfer.id, bytes.count < 512 ? Array(bytes)[...] : bytes))
  }

  func receivedEnd(
    _ number: UInt64, _ size: UInt64, _ digest: ResourceDigest, _ turn: Turn
  ) throws(Breach) {
    guard let transfer = transfers.incoming[number] else { throw Breach("the end of an unknown transfer") }
    switch transfer.phase {
    case .refused: return
    case .offered: throw Breach("an end before the offer was accepted")
    case .committing: throw Breach("a second end")
    case .receiving: break
    }
    guard size == transfer.offer.size, transfer.received == size else {
      let detail = "\(transfer.received) of the \(transfer.offer.size) bytes that were offered"
      return refuse(transfer, Ending(.sizeMismatch, .peer, detail), turn)
    }
    transfer.phase = .committing
    turn.add(.commitStore(transfer.id, size: size, digest))
  }

  func receivedAbandon(_ number: UInt64, _ ending: Ending, _ turn: Turn) {
    // The transfer was stored or declined while the sender gave it up: both sides know how it ended.
    guard let transfer = transfers.incoming[number] else { return }
    switch transfer.phase {
    case .refused: forget(transfer, turn)
    // The store decides, as it would have a moment earlier; the sender accepts whichever answer comes.
    case .committing: transfer.isAbandoned = true
    case .offered, .receiving:
      forget(transfer, turn)
      send(.refuse(transfer: transfer.number, .cancelled, detail: ""), turn)
      end(transfer, ending, turn)
    }
  }

  // MARK: The application's answers

  func acceptOffer(_ command: CommandID, _ id: TransferID, offset: UInt64, _ turn: Turn) -> Bool {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .offered else { return false }
    let offset = min(offset, transfer.offer.size)
    let window = transfer.isPaused ? 0 : transferWindow(turn)
    transfer.accept(from: offset, limit: min(transfer.offer.size, offset + window))
    send(.acceptOffer(transfer: transfer.number, offset: offset, limit: transfer.limit), turn)
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

  /// The application gives a transfer up, in either direction.
  func cancelTransfer(_ id: TransferID, _ reason: Reason, _ turn: Turn) {
    if let transfer = transfers.outgoing[id] {
      abandon(transfer, Ending(reason, .us), turn)
    } else if let transfer = transfers.incomingIDs[id], transfer.phase == .offered || transfer.phase == .receiving {
      refuse(transfer, Ending(reason, .us), turn)
    }
  }

  // MARK: Credit

  /// How much one transfer may have under way: its share of the memory for all of them, and of what its link holds
  /// unread. At least a frame, or it would never go on.
  func transferWindow(_ turn: Turn) -> UInt64 {
    let share = configuration.transferMemory / max(1, turn.handles.incomingTransferCount)
    let window = min(configuration.transferWindow, max(configuration.smallestTransferWindow, share))
    guard let limit = peer.traits.unreadLimit else { return UInt64(window) }
    // Streams, if there are any, have a quarter.
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
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .receiving else { return }
    transfer.stored = max(transfer.stored, upTo)
    grantCredit(transfer, turn)
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

  // MARK: The end

  /// Gives up an incoming transfer; its number stays taken until the sender confirms.
  func refuse(_ transfer: TransferReceiver, _ ending: Ending, _ turn: Turn) {
    let mayGoOn = transfer.mayGoOn(after: ending)
    if transfer.isAbandoned { forget(transfer, turn) } else { transfer.phase = .refused }
    send(.refuse(transfer: transfer.number, ending.reason, detail: ending.detail), turn)
    turn.add(mayGoOn ? .keepStore(transfer.id) : .discardStore(transfer.id))
    turn.deliver(.transferEnded(transfer.id, ending))
  }

  /// We are leaving: transfers whose commit has not begun are given up now, however long the farewell takes.
  func refuseTransfers(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.incomingInOrder where transfer.phase == .offered || transfer.phase == .receiving {
      refuse(transfer, ending, turn)
    }
  }

  /// Another run of the sender offers the same resource: releases what is stored of it, so that the new offer can go on
  /// with it.
  func releaseStore(of transfer: TransferReceiver, _ turn: Turn) {
    transfer.phase = .refused
    let detail = "another run of the sender offers it"
    // In case the previous run is still alive, and comes back.
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

  /// The association is over, and its transfers with it. What is stored is kept for the same offer unless it was given
  /// up.
  func dropTransfers(_ ending: Ending, _ turn: Turn) {
    for transfer in transfers.outgoingInOrder {
      transfers.remove(transfer)
      turn.handles.remove(transfer.id)
      guard transfer.phase != .abandoned else { continue }
      turn.add(.closeSource(transfer.id))
      turn.reply(transfer.command, .failed(ending))
    }
    for transfer in transfers.incomingInOrder {
      forget(transfer, turn)
      if transfer.phase != .refused { end(transfer, ending, turn) }
    }
  }
}
