import PiconetWire

/// The transfers of one association, in both directions: by the application's numbers, and by those on the wire; which
/// of ours takes the next turn on the link, and what waits for one.
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
  /// Chunks that have come.
  private(set) var chunkCount: UInt64 = 0
  /// Set while offers wait for the link to take the control frames before them, and for the remote side to acknowledge
  /// more.
  private(set) var areOffersHeldBack = false
  private var pauses: PauseHints
  /// When it is looked next whether stores are still at work; nil if none was when it was looked last.
  private(set) var storeLook: Instant? { didSet { if storeLook != oldValue { watch.changed() } } }
  /// Told of changes to what deadlines depend on.
  private let watch: DeadlineWatch

  init(_ watch: DeadlineWatch) {
    pauses = PauseHints(watch)
    self.watch = watch
  }

  /// How many numbers of ours were ever in use at once.
  var usedNumberCount: Int { numbers.usedCount }

  // MARK: Ours

  mutating func append(_ transfer: TransferSender) {
    outgoing[transfer.id] = transfer
    order.append(transfer)
  }

  /// Gives a transfer that waits a number on the wire.
  /// - Returns: the offer; nil if the transfer does not wait, or the wire has no number left.
  mutating func offer(_ transfer: TransferSender) -> Frame? {
    guard transfer.phase == .waiting, let number = numbers.take() else { return nil }
    transfer.offered(as: number)
    offered[number] = transfer
    pauses.countOffer()
    return .offer(transfer: number, transfer.offer)
  }

  /// Gives a transfer up: nothing more is sent of it.
  /// - Returns: its number, which stays taken until the remote side confirms; nil if it was never offered, and is gone.
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

  /// Removes a transfer that is over on both sides: its number may be used again.
  mutating func remove(_ transfer: TransferSender) {
    order.removeAll { $0 === transfer }
    outgoing[transfer.id] = nil
    guard let number = transfer.number else { return }
    offered[number] = nil
    numbers.giveBack(number)
  }

  // MARK: The remote side's words about ours

  /// The remote side has the first `offset` bytes, and takes bytes up to `limit`.
  /// - Returns: the transfer; nil if we have given it up meanwhile.
  mutating func accepted(_ number: UInt64, at offset: UInt64, limit: UInt64) throws(Breach) -> TransferSender? {
    guard let transfer = offered[number] else { throw Breach("accepts an unknown offer") }
    guard try transfer.accepted(at: offset, limit: limit) else { return nil }
    turns.append(transfer.id)
    return transfer
  }

  /// The remote side has stored bytes up to `stored`, and takes bytes up to `limit`.
  /// - Returns: the transfer, and what follows; nil if we have given it up meanwhile.
  mutating func credited(
    _ number: UInt64, stored: UInt64, limit: UInt64
  ) throws(Breach) -> (transfer: TransferSender, credit: TransferSender.Credit)? {
    guard let transfer = offered[number] else { throw Breach("credit for an unknown transfer") }
    guard let credit = try transfer.credited(stored: stored, limit: limit) else { return nil }
    if credit.goesOn { turns.append(transfer.id) }
    return (transfer, credit)
  }

  /// What the remote side claimed to have is something else.
  /// - Returns: the transfer; nil if we have given it up meanwhile.
  mutating func restarted(_ number: UInt64, at offset: UInt64, limit: UInt64) throws(Breach) -> TransferSender? {
    guard let transfer = offered[number] else { throw Breach("restarts an unknown transfer") }
    guard try transfer.restarted(at: offset, limit: limit) else { return nil }
    turns.append(transfer.id)
    return transfer
  }

  // MARK: Turns

  /// How many transfers take turns.
  var turnCount: Int { turns.count }

  /// What a transfer sends in its turn.
  struct ChunkTurn {
    let transfer: TransferSender
    /// Whole frames of chunks, and how many; nil if it has none now.
    let chunks: (frames: Bytes, count: UInt64)?
    let end: Frame?
  }

  /// Takes what the next transfer may send.
  /// - Returns: nil if none takes turns.
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

  // MARK: Stores at work

  /// The store of a transfer has something to do.
  mutating func storeBegins(_ transfer: TransferReceiver, at now: Instant) {
    transfer.storeBegins(at: now)
    if storeLook == nil { storeLook = now + TransferReceiver.quietStore }
  }

  /// Looks which stores have not answered for a while.
  /// - Returns: what their senders are told.
  mutating func lookAtStores(at now: Instant) -> [Frame] {
    let storing = incomingInOrder.filter(\.isStoring)
    storeLook = storing.isEmpty ? nil : now + TransferReceiver.quietStore
    return storing.compactMap { $0.storingSign(at: now) }
  }

  // MARK: Another link

  /// What was read for the link is lost with it.
  func lostLink() {
    for transfer in order { transfer.lostLink() }
  }

  /// What senders are told on a new link, in the order of their transfers' numbers on the wire.
  func restate() -> [Frame] { incoming.values.sorted { $0.number < $1.number }.compactMap { $0.restate() } }

  // MARK: What waits for a link

  /// Leaves offers to a later flush.
  mutating func holdOffersBack() { areOffersHeldBack = true }

  /// The caller then offers what may be offered.
  mutating func releaseOffers() { areOffersHeldBack = false }

  /// Whether the remote side is to be told of pauses.
  var owesPauses: Bool { !pauses.due.isEmpty }
  /// Until when hints about pauses wait; nil if they don't.
  var pausesHeldUntil: Instant? { pauses.heldUntil }

  /// The remote side has offered a transfer, which may be paused now and then.
  mutating func countOffer() { pauses.countOffer() }

  /// The pause of this transfer has changed.
  mutating func owePause(of id: TransferID) { pauses.owe(id) }

  mutating func releasePauses() { pauses.release() }

  /// Takes the next hint about a pause.
  /// - Returns: nil if none is left, or the next one has to wait.
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

  /// All transfers of ours: first those with a number on the wire, in the order of the application's numbers, then
  /// those that wait for one.
  var outgoingInOrder: [TransferSender] {
    offered.values.sorted { $0.id < $1.id } + order.filter { $0.number == nil }
  }
}
