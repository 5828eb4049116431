import PiconetWire

/// Transfers over another link: chunks are not sequenced, so the receiver states what it has, and the sender goes on
/// from there.
extension Association {
  /// The link is gone, and with it what was read for it.
  func dropChunksUnderWay() {
    for transfer in transfers.order { transfer.lostLink() }
  }

  /// Tells the sender of every accepted transfer what has arrived, whether it is on the disk already or on its way
  /// there: the rest is what is missing.
  func restateTransfers(_ turn: Turn) {
    for transfer in transfers.incoming.values.sorted(by: { $0.number < $1.number })
    where transfer.phase == .receiving {
      transfer.repeated = 0
      let limit = max(transfer.received, transfer.limit)
      send(.transferCredit(transfer: transfer.number, stored: transfer.received, limit: limit), turn)
    }
  }

  /// The remote side has stated what it has: we go on from there, and read again what was lost with the link.
  func goOn(_ transfer: TransferSender, from offset: UInt64, _ turn: Turn) {
    guard let number = transfer.number else { return }
    // Not told before, because all of it was out.
    if transfer.phase == .ended, transfer.isPaused { tellPause(transfer.id, turn) }
    transfer.awaitsPosition = false
    transfer.phase = .sending
    transfer.readOffset = offset
    transfer.transmitted = offset
    transfers.turns.append(transfer.id)
    send(.position(transfer: number, offset: offset), turn)
  }

  /// The sender goes on from an offset; what has arrived already is skipped.
  func receivedPosition(_ number: UInt64, _ offset: UInt64) throws(Breach) {
    guard hasResumed else { throw Breach("position without a resumed link") }
    guard let transfer = transfers.incoming[number] else { throw Breach("position of an unknown transfer") }
    switch transfer.phase {
    case .refused: return
    case .offered: throw Breach("position before the offer was accepted")
    case .committing: throw Breach("position after the end")
    case .receiving: break
    }
    guard offset <= transfer.received else { throw Breach("position beyond what has arrived") }
    transfer.repeated = transfer.received - offset
  }
}
