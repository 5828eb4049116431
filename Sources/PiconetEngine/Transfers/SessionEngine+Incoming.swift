import PiconetWire

/// Transfers of others: a frame about a transfer counts only from the transfer's owner, because tables are keyed by the peer
/// and its number.
extension SessionEngine {
  mutating func handleTransferFrame(
    _ frame: Frame, from far: NodeID, on link: LinkID, _ turn: inout Turn
  ) {
    guard let association = associations[far] else { return }
    let breach: String? =
      switch frame {
      // The sender's frames: the number is the far side's.
      case .offer(let number, let offer): offerCame(number, offer, from: far, &turn)
      case .chunk(let number, let bytes): chunkCame(association.incoming[number], bytes, &turn)
      case .position(let number, let offset): positionCame(association.incoming[number], offset, association)
      case .end(let number, let size, let digest): endCame(association.incoming[number], size, digest, &turn)
      case .abandon(let number, let reason, let detail):
        abandonCame(association.incoming[number], Ending(reason, .peer, detail), &turn)
      // The receiver's frames: the number is ours.
      case .acceptOffer(let number, let offset, let limit):
        association.outgoing[number].map { offerAccepted($0, offset: offset, limit: limit, &turn) }
          ?? "accepts an unknown offer"
      case .declineOffer(let number, let reason, let detail):
        association.outgoing[number].map { offerDeclined($0, reason, detail, &turn) } ?? "declines an unknown offer"
      case .transferCredit(let number, let stored, let limit):
        association.outgoing[number].map { credited($0, stored: stored, limit: limit, &turn) }
          ?? "credit for an unknown transfer"
      case .stored(let number, let name):
        association.outgoing[number].map { storedThere($0, name: name, wasThere: false, &turn) }
          ?? "has stored an unknown transfer"
      case .present(let number, let name):
        association.outgoing[number].map { storedThere($0, name: name, wasThere: true, &turn) }
          ?? "has an unknown transfer already"
      case .restart(let number, let offset, let limit):
        association.outgoing[number].map { restartedThere($0, offset: offset, limit: limit, &turn) }
          ?? "restarts an unknown transfer"
      case .comparing(let number, let count): comparedThere(association.outgoing[number], count, &turn)
      case .refuse(let number, let reason, let detail):
        association.outgoing[number].map { refusedThere($0, reason, detail, &turn) } ?? "refuses an unknown transfer"
      case .senderPaused(let number, let isPaused):
        senderPausedThere(association.incoming[number], isPaused, &turn)
      case .receiverPaused(let number, let isPaused):
        receiverPausedThere(association.outgoing[number], isPaused, &turn)
      default: nil
      }
    if let breach { self.breach(link, .protocolBroken, breach, &turn) }
    turn.flush(link)
  }

  private mutating func offerCame(
    _ number: UInt64, _ offer: ResourceOffer, from far: NodeID, _ turn: inout Turn
  ) -> String? {
    guard let association = associations[far], association.isMember || association.dropsMemberFrames else {
      return "an offer before the invitation was accepted"
    }
    guard association.incoming[number] == nil else { return "transfer \(number) is open already" }
    guard association.incoming.count < configuration.transferLimit else {
      return "more than \(configuration.transferLimit) open transfers"
    }
    guard association.leaving == nil else {
      send(.declineOffer(transfer: number, association.leaving?.reason ?? .left, detail: ""), to: far, &turn)
      return nil
    }
    releaseFormerStores(of: far, offer, &turn)
    let id = TransferID(rawValue: nextIncoming)
    nextIncoming += 1
    associations[far]?.incoming[number] = id
    incoming[id] = IncomingTransfer(id: id, node: far, number: number, offer: offer)
    turn.deliver(.offerReceived(id, from: far, offer))
    return nil
  }

  /// A sender that was killed and runs anew offers what its former run was sending, which counts as suspended for a while yet: what
  /// is stored of it is let go, for the new offer to go on with.
  private mutating func releaseFormerStores(of far: NodeID, _ offer: ResourceOffer, _ turn: inout Turn) {
    guard !offer.identity.isEmpty else { return }
    let former = incoming.values.filter { transfer in
      transfer.node != far && transfer.node.peer == far.peer && transfer.phase == .receiving
        && transfer.offer.identity == offer.identity && transfer.offer.size == offer.size
        && associations[transfer.node]?.suspension != nil
    }
    for transfer in former.sorted(by: { $0.id < $1.id }) {
      incoming[transfer.id]?.phase = .refused
      let detail = "another run of the sender offers it"
      // For a former run that lives all the same, and comes back.
      send(.refuse(transfer: transfer.number, .cancelled, detail: detail), to: transfer.node, &turn)
      turn.add(.keepStore(transfer.id))
      turn.deliver(.transferEnded(transfer.id, Ending(.restarted, .peer, detail)))
    }
  }

  // MARK: The application's answers

  mutating func acceptOffer(_ command: CommandID, _ id: TransferID, offset: UInt64, _ turn: inout Turn) {
    guard let transfer = incoming[id], transfer.phase == .offered else {
      // The link may have gone while the store was being opened: what it has of an earlier transfer waits for the next.
      turn.add(.keepStore(id))
      turn.reply(command, .failed(Ending(.noSuchAssociation, .peer, "the offer has ended")))
      return
    }
    let offset = min(offset, transfer.offer.size)
    incoming[id]?.phase = .receiving
    incoming[id]?.claimsAll = offset == transfer.offer.size
    incoming[id]?.received = offset
    incoming[id]?.stored = offset
    let window = transfer.isPaused ? 0 : transferWindow(of: transfer.node)
    let limit = min(transfer.offer.size, offset + window)
    incoming[id]?.limit = limit
    send(.acceptOffer(transfer: transfer.number, offset: offset, limit: limit), to: transfer.node, &turn)
    turn.reply(command, .done)
  }

  mutating func declineOffer(
    _ command: CommandID, _ id: TransferID, _ reason: Reason, _ detail: String, _ turn: inout Turn
  ) {
    guard let transfer = incoming[id], transfer.phase == .offered else {
      turn.reply(command, .failed(Ending(.noSuchAssociation, .peer, "the offer has ended")))
      return
    }
    forget(incoming: id)
    send(.declineOffer(transfer: transfer.number, reason, detail: detail), to: transfer.node, &turn)
    turn.reply(command, .done)
    turn.deliver(.transferEnded(id, Ending(reason, .us, detail)))
  }

  mutating func cancelTransfer(_ command: CommandID, _ id: TransferID, _ reason: Reason, _ turn: inout Turn) {
    if outgoing[id] != nil {
      abandon(id, Ending(reason, .us), &turn)
    } else if let transfer = incoming[id], transfer.phase == .offered || transfer.phase == .receiving {
      refuse(id, Ending(reason, .us), &turn)
    }
    turn.reply(command, .done)
  }

  /// What one transfer may have under way: its share of the memory for all of them, and of what its link holds unread. At least a
  /// frame, or it would not go on.
  func transferWindow(of far: NodeID) -> UInt64 {
    let share = configuration.transferMemory / max(1, incoming.count)
    let window = min(configuration.transferWindow, max(configuration.smallestTransferWindow, share))
    guard let association = associations[far], let limit = association.peer.traits.unreadLimit else {
      return UInt64(window)
    }
    // Streams have a quarter.
    let part = limit / (association.streams.incoming.isEmpty ? 2 : 4)
    return UInt64(min(window, max(configuration.frameLimit, part / max(1, association.incoming.count))))
  }

  // MARK: The store's answers

  mutating func stored(_ id: TransferID, upTo: UInt64, _ turn: inout Turn) {
    guard let transfer = incoming[id], transfer.phase == .receiving else { return }
    incoming[id]?.stored = max(transfer.stored, upTo)
    grantCredit(id, &turn)
  }

  /// Tells the sender how much more it may send, where that is worth a frame.
  mutating func grantCredit(_ id: TransferID, _ turn: inout Turn) {
    guard let transfer = incoming[id] else { return }
    let window = transferWindow(of: transfer.node)
    guard let limit = incoming[id]?.grant(window: window), let stored = incoming[id]?.stored else { return }
    send(.transferCredit(transfer: transfer.number, stored: stored, limit: limit), to: transfer.node, &turn)
  }

  mutating func committed(_ id: TransferID, name: [UInt8], wasThere: Bool, _ turn: inout Turn) {
    guard let transfer = incoming[id], transfer.phase == .committing else { return }
    forget(incoming: id)
    let told = Array(name.prefix(WireLimits.storedPath))
    send(
      wasThere ? .present(transfer: transfer.number, name: told) : .stored(transfer: transfer.number, name: told),
      to: transfer.node, &turn)
    turn.deliver(.transferEnded(id, nil))
  }

  mutating func storeFailed(_ id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let phase = incoming[id]?.phase, phase != .refused else { return }
    refuse(id, ending, &turn)
  }

  /// We give an incoming transfer up; its number stays ours until the sender confirms.
  private mutating func refuse(_ id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let transfer = incoming[id] else { return }
    let mayGoOn = Self.mayGoOn(transfer, after: ending)
    if transfer.isAbandoned {
      forget(incoming: id)
    } else {
      incoming[id]?.phase = .refused
    }
    send(.refuse(transfer: transfer.number, ending.reason, detail: ending.detail), to: transfer.node, &turn)
    turn.add(mayGoOn ? .keepStore(id) : .discardStore(id))
    turn.deliver(.transferEnded(id, ending))
  }

  /// Whether what is stored waits for the same offer: a link or a process has ended, and nobody has given up the resource itself.
  private static func mayGoOn(_ transfer: IncomingTransfer, after ending: Ending) -> Bool {
    transfer.phase == .receiving && [.linkFailed, .timedOut, .restarted, .shuttingDown].contains(ending.reason)
  }

  /// We are leaving: what the store has not begun to commit is given up now, however long the farewell takes.
  mutating func refuseIncoming(of far: NodeID, _ ending: Ending, _ turn: inout Turn) {
    for id in associations[far]?.incoming.values.sorted() ?? [] {
      if let phase = incoming[id]?.phase, phase == .offered || phase == .receiving { refuse(id, ending, &turn) }
    }
  }

  private mutating func forget(incoming id: TransferID) {
    guard let transfer = incoming.removeValue(forKey: id) else { return }
    associations[transfer.node]?.incoming[transfer.number] = nil
  }

  /// The association is gone, and the transfer with it. What is stored is kept for the same offer where nobody has given it up.
  mutating func drop(incoming id: TransferID, _ ending: Ending, _ turn: inout Turn) {
    guard let transfer = incoming.removeValue(forKey: id), transfer.phase != .refused else { return }
    turn.add(Self.mayGoOn(transfer, after: ending) ? .keepStore(id) : .discardStore(id))
    turn.deliver(.transferEnded(id, ending))
  }

  // MARK: The sender's frames

  private mutating func chunkCame(_ id: TransferID?, _ bytes: Bytes, _ turn: inout Turn) -> String? {
    guard let id, let transfer = incoming[id] else { return "a chunk of an unknown transfer" }
    switch transfer.phase {
    case .refused: return nil
    case .offered: return "a chunk before the offer was accepted"
    case .committing: return "a chunk after the end"
    case .receiving: break
    }
    var bytes = bytes
    if transfer.repeated > 0 {
      let here = Int(clamping: min(transfer.repeated, UInt64(bytes.count)))
      incoming[id]?.repeated -= UInt64(here)
      bytes = bytes.dropFirst(here)
      if bytes.isEmpty { return nil }
    }
    let received = transfer.received + UInt64(bytes.count)
    if received > transfer.offer.size {
      let detail = "more bytes than the \(transfer.offer.size) that were offered"
      refuse(id, Ending(.sizeMismatch, .peer, detail), &turn)
      return nil
    }
    guard received <= transfer.limit else { return "more chunks than the credit allows" }
    incoming[id]?.received = received
    // A short one would keep all that was read with it until the disk has it.
    turn.add(.storeChunk(id, bytes.count < 512 ? Array(bytes)[...] : bytes))
    return nil
  }

  private mutating func endCame(
    _ id: TransferID?, _ size: UInt64, _ digest: ResourceDigest, _ turn: inout Turn
  ) -> String? {
    guard let id, let transfer = incoming[id] else { return "the end of an unknown transfer" }
    switch transfer.phase {
    case .refused: return nil
    case .offered: return "an end before the offer was accepted"
    case .committing: return "a second end"
    case .receiving: break
    }
    guard size == transfer.offer.size, transfer.received == size else {
      let detail = "\(transfer.received) of the \(transfer.offer.size) bytes that were offered"
      refuse(id, Ending(.sizeMismatch, .peer, detail), &turn)
      return nil
    }
    incoming[id]?.phase = .committing
    turn.add(.commitStore(id, size: size, digest))
    return nil
  }

  private mutating func abandonCame(_ id: TransferID?, _ ending: Ending, _ turn: inout Turn) -> String? {
    // The transfer was stored or declined while the sender gave it up: both know how it ended.
    guard let id, let transfer = incoming[id] else { return nil }
    if transfer.phase == .refused {
      forget(incoming: id)
      return nil
    }
    if transfer.phase == .committing {
      // The store decides, as it would have a moment earlier; the sender takes whichever answer comes.
      incoming[id]?.isAbandoned = true
      return nil
    }
    forget(incoming: id)
    send(.refuse(transfer: transfer.number, .cancelled, detail: ""), to: transfer.node, &turn)
    turn.add(Self.mayGoOn(transfer, after: ending) ? .keepStore(id) : .discardStore(id))
    turn.deliver(.transferEnded(id, ending))
    return nil
  }
}
