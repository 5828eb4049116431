import PiconetWire

/// The order in which the application is told of invitations. No peer can block all others.
///
/// A value: facts and times go in, and the questions to ask come out. Questions of known peers are asked at once.
/// Strangers have at most one question before the application for each key and each address, and `open` in all; the
/// others wait. The address that has had the fewest turns comes first, then the peer that came first. While others
/// wait, no question is before the application for longer than `patience`.
struct QuestionQueue: Sendable {
  struct Limits: Hashable, Sendable {
    /// How many strangers the application is told of at a time.
    var open = 8
    /// The maximum number of waiting strangers.
    var waiting = 64
    var waitingOfAddress = 8
    var patience = Duration.seconds(60)
  }

  private struct Entry {
    let node: NodeID
    let address: String
    let isKnown: Bool
    let number: UInt64
    /// The time before which it is not asked; set if its key or address was refused shortly before.
    var notBefore: Instant?
    /// The time since which the application knows of it.
    var shown: Instant?
  }

  enum Placement: Equatable, Sendable {
    case taken
    /// The question is taken. The waiting question of this node must go, because its address has the most waiting ones.
    case instead(of: NodeID)
    case refused
  }

  var limits = Limits()
  /// In the order in which they came.
  private var entries: [Entry] = []
  private var nextNumber: UInt64 = 0
  /// How often an invitation from each address in the queue was shown to the application.
  private var turns: [String: Int] = [:]
  /// Whether a question may be due.
  private(set) var hasNews = false

  var count: Int { entries.count }

  /// Adds an invitation.
  /// - Parameter notBefore: the time before which the application is not told.
  mutating func add(_ node: NodeID, at address: String, isKnown: Bool, notBefore: Instant? = nil) -> Placement {
    var placement = Placement.taken
    if !isKnown {
      let waiting = entries.filter { $0.shown == nil && !$0.isKnown }
      let ofAddress = waiting.count { $0.address == address }
      if ofAddress >= limits.waitingOfAddress { return .refused }
      if waiting.count >= limits.waiting {
        let counts = Dictionary(grouping: waiting, by: \.address).mapValues(\.count)
        // The youngest one from the address with the most, since it has waited least.
        guard let most = counts.values.max(), most > ofAddress + 1,
          let victim = waiting.last(where: { counts[$0.address] == most })
        else { return .refused }
        remove(victim.node)
        placement = .instead(of: victim.node)
      }
    }
    entries.append(Entry(node: node, address: address, isKnown: isKnown, number: nextNumber, notBefore: notBefore))
    nextNumber += 1
    hasNews = true
    return placement
  }

  /// Removes an invitation that is over, however it ended.
  mutating func remove(_ node: NodeID) {
    guard let index = entries.firstIndex(where: { $0.node == node }) else { return }
    let address = entries.remove(at: index).address
    if !entries.contains(where: { $0.address == address }) { turns[address] = nil }
    hasNews = true
  }

  /// When the next pause ends.
  var nextWake: Instant? { entries.lazy.compactMap(\.notBefore).min() }

  /// Ends the pauses that are over.
  mutating func wake(at now: Instant) {
    for index in entries.indices {
      guard let notBefore = entries[index].notBefore, notBefore <= now else { continue }
      entries[index].notBefore = nil
      hasNews = true
    }
  }

  /// Takes out the nodes whose invitations the application is told of now.
  mutating func takeNext(at now: Instant) -> [NodeID] {
    hasNews = false
    var next: [NodeID] = []
    while let index = nextIndex {
      entries[index].shown = now
      turns[entries[index].address, default: 0] += 1
      next.append(entries[index].node)
    }
    return next
  }

  private var nextIndex: Int? {
    if let known = entries.firstIndex(where: { $0.shown == nil && $0.isKnown }) { return known }
    let open = entries.filter { $0.shown != nil && !$0.isKnown }
    guard open.count < limits.open else { return nil }
    return entries.indices.filter { index in
      let entry = entries[index]
      return entry.shown == nil && entry.notBefore == nil
        && !open.contains { $0.address == entry.address || $0.node.peer == entry.node.peer }
    }.min { left, right in
      let (left, right) = (entries[left], entries[right])
      return (turns[left.address] ?? 0, left.number) < (turns[right.address] ?? 0, right.number)
    }
  }

  /// Returns until when the application may take to answer; nil if it may do so as long as the invitation stands.
  func deadline(of node: NodeID) -> Instant? {
    guard let entry = entries.first(where: { $0.node == node }), !entry.isKnown, let shown = entry.shown else {
      return nil
    }
    // A known peer's question may be asked at once, but stands behind this one on the screen.
    return entries.contains { $0.node != node && ($0.shown == nil || $0.isKnown) } ? shown + limits.patience : nil
  }
}
