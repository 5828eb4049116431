import PiconetWire

/// Pausing, from either side. A paused sender sends no chunk and no end; a paused receiver gives no more credit. Each
/// side has its own switch, and a transfer continues once both are off. The other side is told, so that it can show the
/// pause.
extension Association {
  /// Pauses a transfer or lets it continue. Has no effect on a transfer that has ended, whose end was reported.
  func pauseTransfer(_ id: TransferID, _ isPaused: Bool, _ turn: Turn) {
    if let transfer = transfers.outgoing[id] {
      pause(transfer, isPaused, turn)
    } else if let transfer = transfers.incomingIDs[id] {
      pause(transfer, isPaused, turn)
    }
  }

  private func pause(_ transfer: TransferSender, _ isPaused: Bool, _ turn: Turn) {
    guard transfer.setPaused(isPaused) else { return }
    // If the offer still waits, the pause is told when the offer goes out.
    if transfer.number != nil { tellPause(transfer.id, turn) }
    guard !isPaused else { return }
    read(transfer, turn)
    turn.flush(link)
  }

  private func pause(_ transfer: TransferReceiver, _ isPaused: Bool, _ turn: Turn) {
    guard transfer.setPaused(isPaused) else { return }
    tellPause(transfer.id, turn)
    if !isPaused, transfer.phase == .receiving { grantCredit(transfer, turn) }
  }

  /// Tells the remote side whether the transfer is paused, now or once it has acknowledged more. However often that
  /// changes meanwhile, it is one frame. Beyond what `Allowance.ownPauses` allows, eight frames are sent each second,
  /// each with the state at that time.
  func tellPause(_ id: TransferID, _ turn: Turn) {
    transfers.owePause(of: id)
    if !isCrowded { sendPauses(turn) }
  }

  func sendPauses(_ turn: Turn) {
    transfers.releasePauses()
    while !isCrowded, let hint = transfers.takePauseHint(at: turn.now) { send(hint, turn) }
  }

  // MARK: The remote side's hints

  /// Notes that the remote side has paused a transfer that it sends, or lets it continue. The transfer may have ended
  /// here while the hint was on its way: then nothing is reported.
  func receivedSenderPaused(_ number: UInt64, _ isPaused: Bool, _ turn: Turn) {
    guard let transfer = transfers.incoming[number], transfer.setPausedByPeer(isPaused) else { return }
    turn.deliver(.transferPaused(transfer.id, isPaused))
  }

  /// Notes that the remote side has paused an outgoing transfer, or lets it continue.
  func receivedReceiverPaused(_ number: UInt64, _ isPaused: Bool, _ turn: Turn) {
    guard let transfer = transfers.offered[number], transfer.setPausedByPeer(isPaused) else { return }
    turn.deliver(.transferPaused(transfer.id, isPaused))
  }
}
