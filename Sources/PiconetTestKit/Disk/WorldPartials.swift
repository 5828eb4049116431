import PiconetEngine
import PiconetWire

/// Partial files of honest nodes beside a hostile one, and the invariants that hold whichever are removed.
extension World {
  /// Adds the files that nodes keep from earlier days: from nodes of this world, from other known nodes, and from
  /// strangers.
  func layPartials() {
    guard partialChoice != nil, seed.family == .hostile else { return }
    let honest = nodes.prefix(scenario.engineCount)
    for node in honest {
      let known = honest.filter { $0 !== node }.map(\.peer) + drawKeys(3)
      let strangers = drawKeys(4)
      var partials = SimulatedPartials()
      for _ in 0..<partialDice.number(6...30) {
        let isStranger = partialDice.chance(40)
        let sender = partialDice.pick(isStranger ? strangers : known)
        var file = partials.new(
          of: sender, isStranger: isStranger, byteCount: UInt64(partialDice.number(1...400_000)))
        file.age = Int64(partialDice.number(0...600_000))
        file.isOfUse = partialDice.chance(90)
        partials.append(file)
      }
      sweep(&partials, node)
      partials.capacity = partials.used + partialDice.pick([0, 20_000, 500_000])
      node.partials = partials
    }
  }

  private func drawKeys(_ count: Int) -> [PeerID] {
    (0..<count).compactMap { _ in PeerID(bytes: partialDice.bytes(PeerID.byteCount)) }
  }

  /// Prepares a node that is about to accept an offer.
  /// - Returns: false if there is no room for it.
  func beginPartial(_ transfer: TransferID, from sender: PeerID, size: UInt64, of node: SimulatedNode) -> Bool {
    guard var partials = node.partials else { return true }
    // The key of a node of this world is known. A key that a hostile node made for one connection is a stranger's.
    let isStranger = indices[sender].map { nodes[$0].peer != sender } ?? true
    let new = partials.new(of: sender, isStranger: isStranger, byteCount: size)
    makeRoom(for: new, in: &partials, node)
    let hasRoom = size <= partials.free
    if hasRoom {
      partials.append(new, writtenBy: transfer)
    } else {
      statistics.offersWithoutRoom += 1
      note(.world("n\(node.index) has no room for \(size) bytes of \(transfer.rawValue)"))
    }
    node.partials = partials
    return hasRoom
  }

  func dropPartial(_ transfer: TransferID, of node: SimulatedNode) { node.partials?.drop(transfer) }

  func keepPartial(_ transfer: TransferID, stored: Int, of node: SimulatedNode) {
    guard var partials = node.partials, partials.keep(transfer, stored: UInt64(stored)) else { return }
    statistics.partialsKept += 1
    sweep(&partials, node)
    node.partials = partials
  }

  // MARK: Invariants

  private func makeRoom(for new: SimulatedPartial, in partials: inout SimulatedPartials, _ node: SimulatedNode) {
    guard let partialChoice, new.byteCount > partials.free else { return }
    let missing = new.byteCount - partials.free
    let before = partials.files
    let removed = take(partialChoice.toFree(missing, for: new, of: before), from: &partials, node)
    statistics.partialsFreed += removed.count
    let freed = removed.reduce(UInt64(0)) { $0 + $1.byteCount }
    if !removed.isEmpty, freed < missing {
      finding("n\(node.index) throws \(freed) bytes away for an offer of \(new.byteCount), which does not fit")
    }
    if let last = removed.last, freed - last.byteCount >= missing {
      finding("n\(node.index) throws \(freed) bytes away, and \(missing) were missing")
    }
    for file in removed where file.isOfUse && file.sender != new.sender { checkShare(file, new, before, node) }
    checkStrangersYield(new, missing: missing, freed: freed, before, node)
  }

  /// Checks that a sender loses a file only to a sender that then holds at most as much. Strangers are compared with
  /// strangers, and known senders with known ones. A known sender loses no file to a stranger.
  private func checkShare(
    _ file: SimulatedPartial, _ new: SimulatedPartial, _ before: [SimulatedPartial], _ node: SimulatedNode
  ) {
    if file.isOfStranger, !new.isOfStranger { return }
    if !file.isOfStranger, new.isOfStranger {
      return finding("n\(node.index): a known sender of \(file.byteCount) bytes loses some to a stranger")
    }
    let isAmongStrangers = file.isOfStranger
    func held(by one: SimulatedPartial) -> UInt64 {
      before.reduce(0) { sum, other in
        let counts = isAmongStrangers ? other.sender == one.sender : other.share == one.share
        return sum + (counts ? other.byteCount : 0)
      }
    }
    let (theirs, claim) = (held(by: file), new.byteCount + held(by: new))
    if theirs < claim {
      finding("n\(node.index): a sender of \(theirs) bytes loses some to one that would hold \(claim)")
    }
  }

  /// Checks that partial files of strangers keep no known sender's file out.
  private func checkStrangersYield(
    _ new: SimulatedPartial, missing: UInt64, freed: UInt64, _ before: [SimulatedPartial], _ node: SimulatedNode
  ) {
    guard !new.isOfStranger, freed < missing else { return }
    let yielding = before.filter { !$0.isOpen && ($0.isOfStranger || !$0.isOfUse) }
      .reduce(UInt64(0)) { $0 + $1.byteCount }
    if yielding >= missing {
      finding("n\(node.index) has no room for a known sender, and \(yielding) bytes of strangers")
    }
  }

  /// Applies the limits on number and age. Checks that no sender's files cost another its share of the number.
  private func sweep(_ partials: inout SimulatedPartials, _ node: SimulatedNode) {
    guard let partialChoice else { return }
    let before = partials.files
    let removed = take(partialChoice.toRemove(of: before), from: &partials, node)
    let waiting = partials.files.count { !$0.isOpen }
    if waiting > partialChoice.limit {
      finding("n\(node.index) keeps \(waiting) partial files, the limit is \(partialChoice.limit)")
    }
    let useful = before.filter { !$0.isOpen && $0.isOfUse && $0.age < partialChoice.age }
    let counts = Dictionary(grouping: useful, by: \.share).mapValues(\.count)
    let share = partialChoice.limit / max(1, counts.count)
    for file in removed where useful.contains(file) && counts[file.share, default: 0] <= share {
      finding("n\(node.index) throws a file away of a sender within its share of \(share)")
    }
  }

  /// Removes the chosen files. None of them may be open.
  private func take(_ numbers: [Int], from partials: inout SimulatedPartials, _ node: SimulatedNode)
    -> [SimulatedPartial]
  {
    let files = partials.files
    let chosen = numbers.compactMap { number in files.first { $0.number == number } }
    if chosen.count != numbers.count || Set(numbers).count != numbers.count {
      finding("n\(node.index) throws partial files away that are not there")
    }
    if chosen.contains(where: \.isOpen) { finding("n\(node.index) throws a file away that is being written") }
    partials.remove(numbers)
    return chosen
  }
}
