/// Hints that one association owes the remote side, of transfers whose pause has changed since it was told. However
/// often that changes, it is one hint, with what is true when it goes.
struct PauseHints {
  /// In the order in which they became due.
  private(set) var due: [TransferID] = []
  /// Until when they wait, because as many went as may; nil if they don't.
  private(set) var heldUntil: Instant? { didSet { watch.changed() } }
  private var allowance = Allowance.ownPauses
  /// Told of changes to what deadlines depend on.
  private let watch: DeadlineWatch

  init(_ watch: DeadlineWatch) { self.watch = watch }

  mutating func owe(_ id: TransferID) {
    if !due.contains(id) { due.append(id) }
  }

  /// Another offer, of either side, may be paused now and then.
  mutating func countOffer() { allowance.earn(Allowance.ownPausesForEach) }

  /// Those that were held back may be tried again.
  mutating func release() { heldUntil = nil }

  /// Drops the first hint: there is nothing to tell any more.
  mutating func drop() { due.removeFirst() }

  /// Takes the first hint.
  /// - Returns: false if it has to wait.
  mutating func take(at now: Instant) -> Bool {
    guard allowance.take(at: now) else {
      heldUntil = allowance.nextTake
      return false
    }
    due.removeFirst()
    return true
  }
}
