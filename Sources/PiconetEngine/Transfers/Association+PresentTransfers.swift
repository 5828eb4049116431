import PiconetWire

/// Content that the receiver has already: it reads a file of the offered name and size before it answers, and accepts
/// the offer as if it had all of it; the sender's digest of the whole then shows whether that is so. If not, the
/// transfer begins again.
extension Association {
  // MARK: The receiver's side

  /// The application has compared this many bytes of its file.
  func tellCompared(_ id: TransferID, _ byteCount: UInt64, _ turn: Turn) {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .offered else { return }
    send(.comparing(transfer: transfer.number, compared: min(byteCount, transfer.offer.size)), turn)
  }

  /// The answer to a commit: the store holds something else, and the transfer begins again at `offset`.
  func storeRestarted(_ id: TransferID, offset: UInt64, _ turn: Turn) {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .committing, transfer.mayRestart else { return }
    // The sender has given it up meanwhile, and waits for an answer, not for a restart.
    if transfer.isAbandoned { return refuse(transfer, Ending(.cancelled, .peer), turn) }
    let offset = min(offset, transfer.offer.size)
    let limit = transfer.isPaused ? offset : min(transfer.offer.size, offset + transferWindow(turn))
    transfer.restart(from: offset, limit: limit)
    send(.restart(transfer: transfer.number, offset: offset, limit: limit), turn)
  }

  // MARK: The sender's side

  /// The remote side says how much it has compared. The hint may be late: then it has no effect.
  func receivedComparing(_ number: UInt64, _ byteCount: UInt64, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.offered[number], transfer.phase == .offered else { return }
    guard byteCount <= transfer.offer.size else { throw Breach("compares more than was offered") }
    // Only progress is a sign that an answer will come.
    guard byteCount > transfer.compared else { return }
    transfer.compared = byteCount
    turn.deliver(.transferCompared(transfer.id, byteCount: byteCount))
  }

  func receivedRestart(_ number: UInt64, offset: UInt64, limit: UInt64, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.offered[number] else { throw Breach("restarts an unknown transfer") }
    if transfer.phase == .abandoned { return }
    guard transfer.phase == .ended, transfer.mayRestart else {
      throw Breach("restarts a transfer that it did not claim to have, or has not got to the end of")
    }
    guard offset <= transfer.offer.size else { throw Breach("restarts from behind the end") }
    transfer.hasRestarted = true
    transfer.phase = .sending
    transfer.begin(at: offset, limit: limit)
    transfer.isFinishing = false
    transfer.digest = nil
    // The restart itself says from where to go on, whichever link it comes over.
    transfer.awaitsPosition = false
    transfers.turns.append(transfer.id)
    turn.deliver(.transferAccepted(transfer.id, offset: offset))
    read(transfer, turn)
    turn.flush(link)
  }
}
