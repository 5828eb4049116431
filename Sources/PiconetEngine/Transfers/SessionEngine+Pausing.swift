import PiconetWire

/// Pausing, from either side: a paused sender sends no chunk and no end, a paused receiver gives no more credit. Each side has
/// its own switch, and a transfer goes on once both are off. The other side is told for its screen.
extension SessionEngine {
  mutating func pauseTransfer(_ command: CommandID, _ id: TransferID, _ isPaused: Bool, _ turn: inout Turn) {
    if let transfer = outgoing[id] {
      pause(transfer, isPaused, &turn)
    } else if let transfer = incoming[id] {
      pause(transfer, isPaused, &turn)
    }
    // What has ended is neither paused nor goes on: its end was told.
    turn.reply(command, .done)
  }

  private mutating func pause(_ transfer: OutgoingTransfer, _ isPaused: Bool, _ turn: inout Turn) {
    // What has ended may have to begin anew.
    guard transfer.isPaused != isPaused, transfer.phase != .abandoned, transfer.phase != .ended || transfer.mayRestart
    else { return }
    outgoing[transfer.id]?.isPaused = isPaused
    // An offer that waits for its turn is told of when it goes.
    if transfer.number != nil { tellPause(transfer.id, to: transfer.node, &turn) }
    guard !isPaused else { return }
    read(transfer.id, &turn)
    if let link = associations[transfer.node]?.link { turn.flush(link) }
  }

  private mutating func pause(_ transfer: IncomingTransfer, _ isPaused: Bool, _ turn: inout Turn) {
    guard transfer.isPaused != isPaused, transfer.mayRest else { return }
    incoming[transfer.id]?.isPaused = isPaused
    tellPause(transfer.id, to: transfer.node, &turn)
    if !isPaused, transfer.phase == .receiving { grantCredit(transfer.id, &turn) }
  }

  /// Tells the far side how it stands, now or once it has acknowledged more: however often it changes meanwhile, it is one frame then.
  private mutating func tellPause(_ id: TransferID, to far: NodeID, _ turn: inout Turn) {
    guard let association = associations[far] else { return }
    association.pausesDue.insert(id)
    if !association.isCrowded { sendPauses(to: association, &turn) }
  }

  mutating func sendPauses(to association: Association, _ turn: inout Turn) {
    for id in association.pausesDue.sorted() {
      if association.isCrowded { return }
      association.pausesDue.remove(id)
      if let transfer = outgoing[id], let number = transfer.number, transfer.phase != .abandoned {
        send(.senderPaused(transfer: number, transfer.isPaused), to: association.node, &turn)
      } else if let transfer = incoming[id], transfer.mayRest {
        send(.receiverPaused(transfer: transfer.number, transfer.isPaused), to: association.node, &turn)
      }
    }
  }

  // MARK: The far side's hints

  /// About a transfer of the far side. It may be over here while the hint was on its way: then there is nobody to tell.
  mutating func senderPausedThere(_ id: TransferID?, _ isPaused: Bool, _ turn: inout Turn) -> String? {
    guard let id, let transfer = incoming[id], transfer.phase != .refused, transfer.isPausedThere != isPaused else {
      return nil
    }
    incoming[id]?.isPausedThere = isPaused
    turn.deliver(.transferPaused(id, isPaused))
    return nil
  }

  /// About a transfer of ours.
  mutating func receiverPausedThere(_ id: TransferID?, _ isPaused: Bool, _ turn: inout Turn) -> String? {
    guard let id, let transfer = outgoing[id], transfer.phase != .abandoned, transfer.isPausedThere != isPaused else {
      return nil
    }
    outgoing[id]?.isPausedThere = isPaused
    turn.deliver(.transferPaused(id, isPaused))
    return nil
  }
}
