import PiconetWire

/// The transfers of one association, in both directions: by the application's numbers, and by those on the wire.
struct AssociationTransfers {
  private(set) var outgoing: [TransferID: TransferSender] = [:]
  /// Transfers that were offered, by their numbers on the wire.
  private(set) var offered: [UInt64: TransferSender] = [:]
  /// Transfers that are not given up, in the order of their offers.
  private(set) var order: [TransferSender] = []
  /// The transfers that are being sent, which take turns.
  var turns = ChunkTurns()
  private var numbers = TransferNumbers()
  private(set) var incoming: [UInt64: TransferReceiver] = [:]
  private(set) var incomingIDs: [TransferID: TransferReceiver] = [:]
  /// Chunks that have come.
  private(set) var chunkCount: UInt64 = 0
  /// Set while offers wait for the link to take the control frames before them, and for the remote side to acknowledge
  /// more.
  private(set) var areOffersHeldBack = false
  /// Transfers whose pause has changed since the remote side was told; it is told again once it has acknowledged more.
  /// In the order in which they became due.
  private(set) var pausesDue: [TransferID] = []

  /// How many numbers of ours were ever in use at once.
  var usedNumberCount: Int { numbers.usedCount }

  // MARK: Ours

  mutating func append(_ transfer: TransferSender) {
    outgoing[transfer.id] = transfer
    order.append(transfer)
  }

  /// Gives the transfer a number on the wire.
  /// - Returns: false if the wire has no number left.
  mutating func offer(_ transfer: TransferSender) -> Bool {
    guard let number = numbers.take() else { return false }
    transfer.number = number
    offered[number] = transfer
    return true
  }

  /// Sends nothing more of a transfer; its number stays taken.
  mutating func retire(_ transfer: TransferSender) {
    order.removeAll { $0 === transfer }
    turns.remove(transfer.id)
  }

  /// Removes a transfer that is over on both sides: its number may be used again.
  mutating func remove(_ transfer: TransferSender) {
    order.removeAll { $0 === transfer }
    outgoing[transfer.id] = nil
    guard let number = transfer.number else { return }
    offered[number] = nil
    numbers.giveBack(number)
  }

  // MARK: The remote side's

  mutating func append(_ transfer: TransferReceiver) {
    incoming[transfer.number] = transfer
    incomingIDs[transfer.id] = transfer
  }

  mutating func remove(_ transfer: TransferReceiver) {
    incoming[transfer.number] = nil
    incomingIDs[transfer.id] = nil
  }

  mutating func countChunk() { chunkCount &+= 1 }

  // MARK: What waits for a link

  /// Leaves offers to a later flush.
  mutating func holdOffersBack() { areOffersHeldBack = true }

  /// The caller then offers what may be offered.
  mutating func releaseOffers() { areOffersHeldBack = false }

  mutating func owePause(of id: TransferID) {
    if !pausesDue.contains(id) { pausesDue.append(id) }
  }

  mutating func pauseIsTold(of id: TransferID) { pausesDue.removeAll { $0 == id } }

  // MARK: In order

  /// The remote side's transfers, in the order in which they were offered.
  var incomingInOrder: [TransferReceiver] { incoming.values.sorted { $0.id < $1.id } }

  /// All transfers of ours: first those with a number on the wire, in the order of the application's numbers, then
  /// those that wait for one.
  var outgoingInOrder: [TransferSender] {
    offered.values.sorted { $0.id < $1.id } + order.filter { $0.number == nil }
  }
}
