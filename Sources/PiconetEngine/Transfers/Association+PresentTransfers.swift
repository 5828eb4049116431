import PiconetWire

/// Content that the receiver has already. The receiver reads a file of the offered name and size before it answers, and
/// accepts the offer as if it had all of it. The sender's digest of the whole then shows whether that is true. If not,
/// the transfer begins again.
extension Association {
  // MARK: The receiver's side

  /// Tells the sender how many bytes of its file the application has compared.
  func tellCompared(_ id: TransferID, _ byteCount: UInt64, _ turn: Turn) {
    guard let transfer = transfers.incomingIDs[id], transfer.phase == .offered else { return }
    send(.comparing(transfer: transfer.number, compared: min(byteCount, transfer.offer.size)), turn)
  }

  /// Handles the answer to a commit that the store holds something else. The transfer begins again at `offset`.
  func storeRestarted(_ id: TransferID, offset: UInt64, _ turn: Turn) {
    guard let transfer = transfers.incomingIDs[id], transfer.takesRestart else { return }
    // The sender has given it up meanwhile, and waits for an answer, not for a restart.
    if transfer.isAbandoned { return refuse(transfer, Ending(.cancelled, .peer), turn) }
    send(transfer.restart(from: offset, window: transferWindow(turn)), turn)
  }

  // MARK: The sender's side

  /// The remote side says how much it has compared.
  func receivedComparing(_ number: UInt64, _ byteCount: UInt64, _ turn: Turn) throws(Breach) {
    guard let transfer = transfers.offered[number], try transfer.compared(byteCount) else { return }
    turn.deliver(.transferCompared(transfer.id, byteCount: byteCount))
  }

  func receivedRestart(_ number: UInt64, offset: UInt64, limit: UInt64, _ turn: Turn) throws(Breach) {
    guard let transfer = try transfers.restarted(number, at: offset, limit: limit) else { return }
    turn.deliver(.transferAccepted(transfer.id, offset: offset))
    read(transfer, turn)
    turn.flush(link)
  }
}
