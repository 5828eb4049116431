/// Hints that one association owes the remote side, about transfers whose pause has changed since it was told. However
/// often a pause changes, it is one hint, with the state at the time it is sent.
struct PauseHints {
  /// In the order in which they became due.
  private(set) var due: [TransferID] = []
  /// Until when hints wait, because the limit is reached; nil if they don't wait.
  private(set) var heldUntil: Instant? { didSet { watch.changed() } }
  private var allowance = Allowance.ownPauses
  /// Told of changes to what deadlines depend on.
  private let watch: DeadlineWatch

  init(_ watch: DeadlineWatch) { self.watch = watch }

  mutating func owe(_ id: TransferID) {
    if !due.contains(id) { due.append(id) }
  }

  /// Counts another offer, of either side, whose transfer may be paused from time to time.
  mutating func countOffer() { allowance.earn(Allowance.ownPausesForEach) }

  /// Lets hints that were held back be tried again.
  mutating func release() { heldUntil = nil }

  /// Drops the first hint, because there is nothing to tell any more.
  mutating func drop() { due.removeFirst() }

  /// Takes the first hint.
  /// - Returns: false if the hint has to wait.
  mutating func take(at now: Instant) -> Bool {
    guard allowance.take(at: now) else {
      heldUntil = allowance.nextTake
      return false
    }
    due.removeFirst()
    return true
  }
}
