import PiconetWire

/// The transfers of one association, in both directions, by the application's numbers and by those on the wire. It also
/// decides which outgoing one takes the next turn on the link, and holds what waits for a turn.
struct AssociationTransfers {
  private(set) var outgoing: [TransferID: TransferSender] = [:]
  /// Transfers that were offered, by their numbers on the wire.
  private(set) var offered: [UInt64: TransferSender] = [:]
  /// Transfers that are not given up, in the order of their offers.
  private(set) var order: [TransferSender] = []
  /// The transfers that are being sent, which take turns.
  private var turns = ChunkTurns()
  private var numbers = TransferNumbers()
  private(set) var incoming: [UInt64: TransferReceiver] = [:]
  private(set) var incomingIDs: [TransferID: TransferReceiver] = [:]
  /// The number of chunks that have come.
  private(set) var chunkCount: UInt64 = 0
  /// Whether offers wait for the link to take the control frames before them, and for the remote side to acknowledge
  /// more.
  private(set) var areOffersHeldBack = false
  private var pauses: PauseHints

  init(_ watch: DeadlineWatch) { pauses = PauseHints(watch) }

  /// The largest number of outgoing transfer numbers that were in use at once.
  var usedNumberCount: Int { numbers.usedCount }

  // MARK: Outgoing transfers

  mutating func append(_ transfer: TransferSender) {
    outgoing[transfer.id] = transfer
    order.append(transfer)
  }

  /// Gives a waiting transfer a number on the wire.
  /// - Returns: the offer; nil if the transfer does not wait, or the wire has no number left.
  mutating func offer(_ transfer: TransferSender) -> Frame? {
    guard transfer.phase == .waiting, let number = numbers.take() else { return nil }
    transfer.offered(as: number)
    offered[number] = transfer
    pauses.countOffer()
    return .offer(transfer: number, transfer.offer)
  }

  /// Gives up a transfer: nothing more of it is sent.
  /// - Returns: its number, which stays taken until the remote side confirms. Nil if it was never offered, and is gone.
  mutating func abandon(_ transfer: TransferSender) -> UInt64? {
    guard let number = transfer.number else {
      remove(transfer)
      return nil
    }
    transfer.abandon()
    order.removeAll { $0 === transfer }
    turns.remove(transfer.id)
    return number
  }

  /// Removes a transfer that is over on both sides. Its number may be used again.
  mutating func remove(_ transfer: TransferSender) {
    order.removeAll { $0 === transfer }
    outgoing[transfer.id] = nil
    guard let number = transfer.number else { return }
    offered[number] = nil
    numbers.giveBack(number)
  }

  // MARK: The remote side's frames about outgoing transfers

  /// Notes that the remote side has the first `offset` bytes, and accepts bytes up to `limit`.
  /// - Returns: the transfer; nil if we have given it up meanwhile.
  mutating func accepted(_ number: UInt64, at offset: UInt64, limit: UInt64) throws(Breach) -> TransferSender? {
    guard let transfer = offered[number] else { throw Breach("accepts an unknown offer") }
    guard try transfer.accepted(at: offset, limit: limit) else { return nil }
    turns.append(transfer.id)
    return transfer
  }

  /// Notes that the remote side has stored bytes up to `stored`, and accepts bytes up to `limit`.
  /// - Returns: the transfer and the consequences; nil if we have given it up meanwhile.
  mutating func credited(
    _ number: UInt64, stored: UInt64, limit: UInt64
  ) throws(Breach) -> (transfer: TransferSender, credit: TransferSender.Credit)? {
    guard let transfer = offered[number] else { throw Breach("credit for an unknown transfer") }
    guard let credit = try transfer.credited(stored: stored, limit: limit) else { return nil }
    if credit.goesOn { turns.append(transfer.id) }
    return (transfer, credit)
  }

  /// Notes that the content which the remote side claimed to have is something else.
  /// - Returns: the transfer; nil if we have given it up meanwhile.
  mutating func restarted(_ number: UInt64, at offset: UInt64, limit: UInt64) throws(Breach) -> TransferSender? {
    guard let transfer = offered[number] else { throw Breach("restarts an unknown transfer") }
    guard try transfer.restarted(at: offset, limit: limit) else { return nil }
    turns.append(transfer.id)
    return transfer
  }

  // MARK: Turns

  /// The number of transfers that take turns.
  var turnCount: Int { turns.count }

  /// The frames that a transfer sends in its turn.
  struct ChunkTurn {
    let transfer: TransferSender
    /// Whole frames of chunks and their number; nil if it has none now.
    let chunks: (frames: Bytes, count: UInt64)?
    let end: Frame?
  }

  /// Takes the frames that the next transfer may send.
  /// - Returns: nil if no transfer takes turns.
  mutating func takeTurn(room: Int) -> ChunkTurn? {
    guard let transfer = turns.current.flatMap({ outgoing[$0] }) else { return nil }
    let chunks = transfer.takeFrames(turns.share(of: room))
    let end = transfer.takeEnd()
    if end != nil {
      // This passes the turn on.
      turns.remove(transfer.id)
    } else if let chunks {
      turns.took(chunks.frames.count)
    } else {
      turns.pass()
    }
    return ChunkTurn(transfer: transfer, chunks: chunks, end: end)
  }

  // MARK: Incoming transfers

  mutating func append(_ transfer: TransferReceiver) {
    incoming[transfer.number] = transfer
    incomingIDs[transfer.id] = transfer
  }

  mutating func remove(_ transfer: TransferReceiver) {
    incoming[transfer.number] = nil
    incomingIDs[transfer.id] = nil
  }

  mutating func countChunk() { chunkCount &+= 1 }

  // MARK: Another link

  /// Drops the bytes that were read for a lost link.
  func lostLink() {
    for transfer in order { transfer.lostLink() }
  }

  /// Returns the frames for senders on a new link, in the order of their transfers' numbers on the wire.
  func restate() -> [Frame] { incoming.values.sorted { $0.number < $1.number }.compactMap { $0.restate() } }

  // MARK: Waiting for a link

  /// Leaves offers to a later flush.
  mutating func holdOffersBack() { areOffersHeldBack = true }

  /// Releases offers. The caller then sends those that may be sent.
  mutating func releaseOffers() { areOffersHeldBack = false }

  /// Whether the remote side must be told of pauses.
  var owesPauses: Bool { !pauses.due.isEmpty }
  /// Until when hints about pauses wait; nil if they don't wait.
  var pausesHeldUntil: Instant? { pauses.heldUntil }

  /// Counts an offer of the remote side, whose transfer may be paused from time to time.
  mutating func countOffer() { pauses.countOffer() }

  /// Notes that the pause of this transfer has changed.
  mutating func owePause(of id: TransferID) { pauses.owe(id) }

  mutating func releasePauses() { pauses.release() }

  /// Takes the next hint about a pause.
  /// - Returns: nil if no hint is left, or if the next one has to wait.
  mutating func takePauseHint(at now: Instant) -> Frame? {
    while let id = pauses.due.first {
      if let hint = outgoing[id]?.pauseHint ?? incomingIDs[id]?.pauseHint {
        return pauses.take(at: now) ? hint : nil
      }
      pauses.drop()
    }
    return nil
  }

  // MARK: In order

  /// The remote side's transfers, in the order in which they were offered.
  var incomingInOrder: [TransferReceiver] { incoming.values.sorted { $0.id < $1.id } }

  /// All outgoing transfers: first those with a number on the wire, in the order of the application's numbers, then
  /// those that wait for a number.
  var outgoingInOrder: [TransferSender] {
    offered.values.sorted { $0.id < $1.id } + order.filter { $0.number == nil }
  }
}
