import PiconetWire

/// Transfers upon another link: chunks are not sequenced, the receiver states what it has, and the sender goes on from there.
extension SessionEngine {
  /// The link is gone, and with it what was read for it.
  mutating func dropChunksUnderWay(of association: Association) {
    for id in association.outgoingOrder {
      guard let transfer = outgoing[id], transfer.phase == .sending || transfer.phase == .ended else { continue }
      outgoing[id]?.awaitsPosition = true
      outgoing[id]?.staleReads += transfer.readsUnderWay
      outgoing[id]?.readsUnderWay = 0
      outgoing[id]?.framings.removeAll()
      outgoing[id]?.blocks.removeAll()
    }
  }

  /// Tells the sender of every accepted transfer what has arrived, whether it is on the disk already or on its way there: the rest is
  /// what is missing.
  mutating func restateTransfers(of association: Association, _ turn: inout Turn) {
    for number in association.incoming.keys.sorted() {
      guard let id = association.incoming[number], let transfer = incoming[id], transfer.phase == .receiving else {
        continue
      }
      incoming[id]?.repeated = 0
      send(
        .transferCredit(transfer: number, stored: transfer.received, limit: max(transfer.received, transfer.limit)),
        to: association.node, &turn)
    }
  }

  /// The far side has stated what it has: we go on from there, and read again what was lost with the link.
  mutating func goOn(_ id: TransferID, from offset: UInt64, _ turn: inout Turn) {
    guard let transfer = outgoing[id], let number = transfer.number else { return }
    outgoing[id]?.awaitsPosition = false
    outgoing[id]?.phase = .sending
    outgoing[id]?.readOffset = offset
    outgoing[id]?.transmitted = offset
    associations[transfer.node]?.turns.append(id)
    send(.position(transfer: number, offset: offset), to: transfer.node, &turn)
  }

  /// The sender goes on from an offset; what is here already is skipped.
  /// - Returns: the rule that was broken.
  mutating func positionCame(_ id: TransferID?, _ offset: UInt64, _ association: Association) -> String? {
    guard association.hasResumed else { return "position without a resumed link" }
    guard let id, let transfer = incoming[id] else { return "position of an unknown transfer" }
    switch transfer.phase {
    case .refused: return nil
    case .offered: return "position before the offer was accepted"
    case .committing: return "position after the end"
    case .receiving: break
    }
    guard offset <= transfer.received else { return "position beyond what has arrived" }
    incoming[id]?.repeated = transfer.received - offset
    return nil
  }
}
