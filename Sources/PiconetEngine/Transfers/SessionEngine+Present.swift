import PiconetWire

/// What the receiver has already: it reads a file of the offered name and size before it answers, takes the offer as if it had all of it,
/// and the sender's digest of the whole tells whether that is so. Where it is not the transfer begins anew.
extension SessionEngine {
  // MARK: The receiver's side

  mutating func tellCompared(
    _ command: CommandID, _ id: TransferID, _ byteCount: UInt64, _ turn: inout Turn
  ) {
    if let transfer = incoming[id], transfer.phase == .offered {
      send(
        .comparing(transfer: transfer.number, compared: min(byteCount, transfer.offer.size)), to: transfer.node, &turn)
    }
    turn.reply(command, .done)
  }

  /// The answer to a commit: the store has what is needed of it all the same.
  mutating func storeRestarted(_ id: TransferID, offset: UInt64, _ turn: inout Turn) {
    guard let transfer = incoming[id], transfer.phase == .committing, transfer.mayRestart else { return }
    let offset = min(offset, transfer.offer.size)
    let limit = transfer.isPaused ? offset : min(transfer.offer.size, offset + transferWindow(of: transfer.node))
    incoming[id]?.hasRestarted = true
    incoming[id]?.phase = .receiving
    incoming[id]?.received = offset
    incoming[id]?.stored = offset
    incoming[id]?.repeated = 0
    incoming[id]?.limit = limit
    send(.restart(transfer: transfer.number, offset: offset, limit: limit), to: transfer.node, &turn)
  }

  // MARK: The sender's side

  /// A hint, which may be late: then it is without effect.
  mutating func comparedThere(_ id: TransferID?, _ byteCount: UInt64, _ turn: inout Turn) -> String? {
    guard let id, let transfer = outgoing[id], transfer.phase == .offered else { return nil }
    guard byteCount <= transfer.offer.size else { return "compares more than was offered" }
    // Only what goes on is a sign that an answer will come.
    guard byteCount > transfer.compared else { return nil }
    outgoing[id]?.compared = byteCount
    turn.deliver(.transferCompared(id, byteCount: byteCount))
    return nil
  }

  mutating func restartedThere(_ id: TransferID, offset: UInt64, limit: UInt64, _ turn: inout Turn) -> String? {
    guard let transfer = outgoing[id] else { return "restarts an unknown transfer" }
    if transfer.phase == .abandoned { return nil }
    guard transfer.phase == .ended, transfer.mayRestart else {
      return "restarts a transfer that it did not claim to have, or has not got to the end of"
    }
    guard offset <= transfer.offer.size else { return "restarts from behind the end" }
    outgoing[id]?.hasRestarted = true
    outgoing[id]?.phase = .sending
    outgoing[id]?.readOffset = offset
    outgoing[id]?.transmitted = offset
    outgoing[id]?.stored = offset
    outgoing[id]?.limit = limit
    outgoing[id]?.isFinishing = false
    outgoing[id]?.digest = nil
    // It says from where itself, on whatever link it comes.
    outgoing[id]?.awaitsPosition = false
    associations[transfer.node]?.turns.append(id)
    turn.deliver(.transferAccepted(id, offset: offset))
    read(id, &turn)
    if let link = associations[transfer.node]?.link { turn.flush(link) }
    return nil
  }
}
