import PiconetWire

/// Nodes that members of ours have introduced to us, each until it is a member too or its introduction has failed.
struct Introductions: Sendable {
  /// A member that has introduced a node, and waits for an answer.
  struct Voucher: Sendable {
    let node: NodeID
    /// Whether it says that it passes tunnels on to the introduced node.
    let relays: Bool
    /// When it must have its answer.
    let deadline: Instant
  }

  enum Phase: Equatable, Sendable {
    /// The application has not said yet whether it wants the node.
    case asked
    /// It wants the node, and the next try is due then; nil: it is not known where the node is, but it may still
    /// connect to us.
    case waiting(until: Instant?)
    /// An invitation of ours is under way.
    case inviting(CommandID)
  }

  /// Where the node may be.
  fileprivate struct Hint: Sendable {
    let address: TransportAddress
    /// The key of the member that first gave this address: dials of it count against that key.
    let by: PeerID
  }

  struct Entry: Sendable {
    let node: NodeID
    fileprivate(set) var introducers: [Voucher]
    /// The first of the introducers that still stand by it: if it becomes a member, then by this one's introduction.
    fileprivate(set) var firstIntroducer: NodeID
    fileprivate var hints: [Hint]
    fileprivate(set) var phase = Phase.asked
    fileprivate(set) var deadline: Instant
    fileprivate(set) var tries = 0
    /// How the last try ended.
    fileprivate(set) var failure: Ending?

    var isAccepted: Bool { phase != .asked }
    /// Where its introducers say that it is.
    var toldAddresses: [TransportAddress] { hints.map(\.address) }

    /// When something is due. Recomputed after each change, so it allocates nothing.
    fileprivate var nextDeadline: Instant {
      let next = introducers.reduce(deadline) { min($0, $1.deadline) }
      if case .waiting(let due?) = phase { return min(next, due) }
      return next
    }

    /// How the introduction ends when its time is up.
    var timedOut: Ending {
      let words = isAccepted ? failure.map { "; before, \($0)" } ?? "" : "; nobody has said whether it is wanted"
      return Ending(.timedOut, .us, "\(Introductions.tooLate.detail)\(words)")
    }
  }

  /// What introducers are told instead of `timedOut`. It does not say what came of their addresses, or they could use
  /// us to find out what answers in places that they can't reach.
  static let tooLate = Ending(.timedOut, .us, "the introduction was not followed in time")

  /// How long an introduction may stand.
  static let longestTime = Duration.seconds(300)
  /// The most nodes that wait at once, of all introducers together.
  static let limit = 256
  /// The most invitations under way because of one key's introductions, so that no key keeps those of others waiting.
  static let underWayLimit = 8
  /// The most invitations under way because of all introductions: there is room beside them for the application's own.
  static let allUnderWayLimit = 64
  /// The most addresses of one node, from all introducers.
  static let addressLimit = 16

  private var entries: [NodeID: Entry] = [:]
  private var budget = IntroducerBudget()

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  var nodes: [NodeID] { entries.keys.sorted() }

  subscript(node: NodeID) -> Entry? { entries[node] }

  /// Whether the application has accepted an introduction of this node.
  func isAccepted(_ node: NodeID) -> Bool { entries[node]?.isAccepted ?? false }

  /// How many nodes wait because of a key, even if its node has left in the meantime and comes back.
  func count(becauseOf introducer: PeerID) -> Int { entries.values.count { $0.firstIntroducer.peer == introducer } }

  /// Whether the application was asked about this node and has not answered.
  func isAsked(_ node: NodeID) -> Bool { entries[node]?.phase == .asked }

  /// Whether a node whose introduction was accepted may connect to us.
  var expectsNodes: Bool { !entries.isEmpty && entries.values.contains(where: \.isAccepted) }

  /// How many introductions of a member have no answer.
  func count(by introducer: NodeID) -> Int {
    entries.values.count { $0.introducers.contains { $0.node == introducer } }
  }

  func contains(_ node: NodeID, by introducer: NodeID) -> Bool {
    entries[node]?.introducers.contains { $0.node == introducer } ?? false
  }

  /// The entry of the node that this command of ours is inviting.
  func inviting(by command: CommandID) -> Entry? { entries.values.first { $0.phase == .inviting(command) } }

  // MARK: Time

  var nextDeadline: Instant? {
    entries.values.lazy.map(\.nextDeadline).min()
  }

  /// Nodes whose next try is due, in order.
  func due(at now: Instant) -> [NodeID] {
    entries.values.filter { entry in
      if case .waiting(let next?) = entry.phase { next <= now } else { false }
    }.map(\.node).sorted()
  }

  /// Entries whose time is up, or that of one of their introducers, in the order of their nodes.
  func expired(at now: Instant) -> [Entry] {
    entries.values.filter { $0.deadline <= now || $0.introducers.contains { $0.deadline <= now } }
      .sorted { $0.node < $1.node }
  }

  // MARK: Changes

  /// What has become of an introduction that was added.
  enum Addition {
    /// The application has to be asked.
    case new(IntroducedNode)
    /// Another member has introduced the node before.
    case known
    case refused(Ending)
  }

  /// Why a member can't introduce this node; nil if it can.
  func refusal(of node: NodeID, by introducer: NodeID) -> Ending? {
    let limit = WireLimits.unansweredIntroductions
    guard entries[node] == nil, count(becauseOf: introducer.peer) >= limit else { return nil }
    return Ending(.limitExceeded, .us, "\(limit) nodes that it introduced wait already")
  }

  /// Adds an introduction by one member.
  /// - Parameter hints: where the introducer says that the node is, as far as we may believe it.
  mutating func add(
    _ introduction: Introduce, by introducer: NodeID, hints: [TransportAddress], at now: Instant
  ) -> Addition {
    let node = introduction.member
    let milliseconds = Duration.milliseconds(Int64(clamping: min(introduction.timeout, 86_400_000)))
    let deadline = now + min(milliseconds, Self.longestTime)
    let introducing = Voucher(
      node: introducer, relays: introduction.addresses.contains(.overIntroducer), deadline: deadline)
    switch add(node, by: introducing, at: hints) {
    case nil: return .refused(Ending(.limitExceeded, .us, "\(Self.limit) introduced nodes wait already"))
    case true?:
      return .new(IntroducedNode(node: node, name: introduction.name, by: introducer, expires: deadline))
    case false?: return .known
    }
  }

  /// - Returns: whether the application has to be asked; nil if there is no room for another node.
  private mutating func add(_ node: NodeID, by introducing: Voucher, at addresses: [TransportAddress]) -> Bool? {
    let introducer = introducing.node
    guard var entry = entries[node] else {
      guard count < Self.limit else { return nil }
      let hints = addresses.map { Hint(address: $0, by: introducer.peer) }
      entries[node] = Entry(
        node: node, introducers: [introducing], firstIntroducer: introducer, hints: hints,
        deadline: introducing.deadline)
      return true
    }
    entry.introducers.append(introducing)
    entry.deadline = max(entry.deadline, introducing.deadline)
    let new = addresses.filter { address in !entry.hints.contains { $0.address == address } }
    entry.hints += new.prefix(Self.addressLimit - entry.hints.count).map { Hint(address: $0, by: introducer.peer) }
    entries[node] = entry
    return false
  }

  mutating func remove(_ node: NodeID) { entries[node] = nil }

  /// Removes an introducer of the node. The deadline and the first introducer are then those of the others.
  mutating func removeIntroducer(_ introducer: NodeID, of node: NodeID) {
    guard var entry = entries[node] else { return }
    entry.introducers.removeAll { $0.node == introducer }
    if let first = entry.introducers.first, let last = entry.introducers.map(\.deadline).max() {
      entry.firstIntroducer = first.node
      entry.deadline = last
    }
    entries[node] = entry
  }

  /// Puts the next try off until then, or until something is learned of the node.
  mutating func wait(_ node: NodeID, until next: Instant?, after failure: Ending? = nil) {
    guard var entry = entries[node] else { return }
    entry.phase = .waiting(until: next)
    entry.failure = failure ?? entry.failure
    entries[node] = entry
  }

  /// A try has failed.
  /// - Returns: whether another one is worth it, after a pause that grows up to 8 s.
  mutating func triesAgain(_ node: NodeID, after failure: Ending, at now: Instant) -> Bool {
    // We may be leaving the node, and be introduced to it again.
    let isLeaving = failure.reason == .alreadyConnected && failure.blame == .us
    guard let entry = entries[node], isLeaving || failure.reason.mayPass else { return false }
    wait(node, until: now + .seconds(Int64(1) << min(entry.tries, 3)), after: failure)
    return true
  }

  /// A try begins.
  mutating func began(_ node: NodeID, _ command: CommandID) {
    guard var entry = entries[node] else { return }
    entry.phase = .inviting(command)
    entry.tries += 1
    entries[node] = entry
  }

  /// The addresses at which the node is to be dialled now. Each counts against the member that gave it.
  /// - Parameter seen: where discovery sees the node: these addresses count against its first introducer.
  mutating func takeAddresses(
    of node: NodeID, seen: [TransportAddress], over transports: [TransportKind], at now: Instant
  ) -> [TransportAddress] {
    guard let entry = entries[node] else { return [] }
    let seen = seen.map { Hint(address: $0, by: entry.firstIntroducer.peer) }
    let told = entry.hints.filter { hint in !seen.contains { $0.address == hint.address } }
    var addresses: [TransportAddress] = []
    for hint in seen + told where transports.contains(hint.address.kind) && budget.take(from: hint.by, at: now) {
      addresses.append(hint.address)
    }
    return addresses
  }

  /// Whether another invitation may be under way because of this node's introducer.
  func hasTurn(_ node: NodeID) -> Bool {
    guard let entry = entries[node] else { return false }
    let underWay = entries.values.filter { if case .inviting = $0.phase { true } else { false } }
    return underWay.count < Self.allUnderWayLimit
      && underWay.count { $0.firstIntroducer.peer == entry.firstIntroducer.peer } < Self.underWayLimit
  }

  /// An introducer has left, and waits for no answer any more.
  /// - Returns: nodes whose introductions are over with that.
  mutating func introducerLeft(_ introducer: NodeID) -> [NodeID] {
    var over: [NodeID] = []
    for (node, entry) in entries where entry.introducers.contains(where: { $0.node == introducer }) {
      removeIntroducer(introducer, of: node)
      if !entry.isAccepted, entry.introducers.count == 1 { over.append(node) }
    }
    return over.sorted()
  }
}
