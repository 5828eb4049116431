import PiconetWire

/// Nodes that our members have introduced to us. Each entry lasts until its node is a member too or its introduction
/// has failed.
struct Introductions: Sendable {
  /// A member that has introduced a node, and waits for an answer.
  struct Voucher: Sendable {
    let node: NodeID
    /// Whether the member says that it passes tunnels on to the introduced node.
    let relays: Bool
    /// When the member must have its answer.
    let deadline: Instant
  }

  enum Phase: Equatable, Sendable {
    /// The application has not decided yet whether it wants the node.
    case asked
    /// The application wants the node, and the next try is due at this time. Nil: we don't know where the node is, but
    /// it may still connect to us.
    case waiting(until: Instant?)
    /// Our invitation is under way.
    case inviting(CommandID)
  }

  struct Entry: Sendable {
    let node: NodeID
    fileprivate(set) var introducers: [Voucher]
    /// The first of the introducers that still stand by the introduction. If the node becomes a member, it is by this
    /// one's introduction.
    fileprivate(set) var firstIntroducer: NodeID
    /// The addresses at which the introducers say that the node is.
    fileprivate(set) var hints = AddressHints(limit: Introductions.addressLimit)
    /// The key whose turn pays for the try under way.
    fileprivate var payer: PeerID?
    fileprivate(set) var phase = Phase.asked
    fileprivate(set) var deadline: Instant
    fileprivate(set) var tries = 0
    /// How the last try ended.
    fileprivate(set) var failure: Ending?

    var isAccepted: Bool { phase != .asked }
    fileprivate var isInviting: Bool { if case .inviting = phase { true } else { false } }
    /// The keys of the introducers, any of which may pay for dials. They are the keys of those that stand by the
    /// introduction, or else of the last one that did.
    fileprivate var payers: [PeerID] {
      introducers.isEmpty ? [firstIntroducer.peer] : introducers.map(\.node.peer)
    }

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

  /// What introducers are told instead of `timedOut`. It does not say what came of their addresses. With that they
  /// could use us to find out what answers in places that they can't reach.
  static let tooLate = Ending(.timedOut, .us, "the introduction was not followed in time")

  /// How long an introduction may stand.
  static let longestTime = Duration.seconds(300)
  /// The maximum number of nodes that wait at once, of all introducers together.
  static let limit = 256
  /// The maximum number of invitations under way because of one key's introductions, so that no key keeps those of
  /// others waiting.
  static let underWayLimit = 8
  /// The maximum number of invitations under way because of all introductions. It leaves room for the application's own
  /// invitations.
  static let allUnderWayLimit = 64
  /// The maximum number of addresses of one node, from all introducers. Each introducer has as much room as the others.
  static let addressLimit = 16

  private var entries: [NodeID: Entry] = [:]
  private var budget = IntroducerBudget()

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  var nodes: [NodeID] { entries.keys.sorted() }

  subscript(node: NodeID) -> Entry? { entries[node] }

  /// Returns whether the application has accepted an introduction of this node.
  func isAccepted(_ node: NodeID) -> Bool { entries[node]?.isAccepted ?? false }

  /// Returns how many nodes wait because of a key, even if the key's node has left in the meantime and comes back.
  func count(becauseOf introducer: PeerID) -> Int { entries.values.count { $0.firstIntroducer.peer == introducer } }

  /// Returns whether the application was asked about this node and has not answered.
  func isAsked(_ node: NodeID) -> Bool { entries[node]?.phase == .asked }

  /// Whether a node whose introduction was accepted may connect to us.
  var expectsNodes: Bool { !entries.isEmpty && entries.values.contains(where: \.isAccepted) }

  /// Returns how many introductions of a member have no answer.
  func count(by introducer: NodeID) -> Int {
    entries.values.count { $0.introducers.contains { $0.node == introducer } }
  }

  func contains(_ node: NodeID, by introducer: NodeID) -> Bool {
    entries[node]?.introducers.contains { $0.node == introducer } ?? false
  }

  /// Returns the entry of the node that this command of the engine's own invites.
  func inviting(by command: CommandID) -> Entry? { entries.values.first { $0.phase == .inviting(command) } }

  // MARK: Time

  var nextDeadline: Instant? {
    entries.values.lazy.map(\.nextDeadline).min()
  }

  /// Returns the nodes whose next try is due, in order.
  func due(at now: Instant) -> [NodeID] {
    entries.values.filter { entry in
      if case .waiting(let next?) = entry.phase { next <= now } else { false }
    }.map(\.node).sorted()
  }

  /// Returns the entries whose time is up, or that of one of their introducers, in the order of their nodes.
  func expired(at now: Instant) -> [Entry] {
    entries.values.filter { $0.deadline <= now || $0.introducers.contains { $0.deadline <= now } }
      .sorted { $0.node < $1.node }
  }

  // MARK: Changes

  /// The outcome of adding an introduction.
  enum Addition {
    /// The application has to be asked.
    case new(IntroducedNode)
    /// Another member has introduced the node before.
    case known
    case refused(Ending)
  }

  /// Returns why a member can't introduce this node; nil if it can.
  func refusal(of node: NodeID, by introducer: NodeID) -> Ending? {
    let limit = WireLimits.unansweredIntroductions
    guard entries[node] == nil, count(becauseOf: introducer.peer) >= limit else { return nil }
    return Ending(.limitExceeded, .us, "\(limit) nodes that it introduced wait already")
  }

  /// Returns the node that must make room for another one of this introducer when there is no room; nil if none must.
  /// The key that introduced it must have at least two more nodes waiting than this introducer. Nodes that are not
  /// being invited go first, and of these the one that would wait longest.
  func crowding(out introducer: NodeID) -> NodeID? {
    guard count >= Self.limit else { return nil }
    let counts = entries.values.reduce(into: [PeerID: Int]()) { $0[$1.firstIntroducer.peer, default: 0] += 1 }
    guard let most = counts.values.max(), most > (counts[introducer.peer] ?? 0) + 1 else { return nil }
    return entries.values.filter { counts[$0.firstIntroducer.peer] == most }.max { left, right in
      (left.isInviting ? 0 : 1, left.deadline, left.node) < (right.isInviting ? 0 : 1, right.deadline, right.node)
    }?.node
  }

  /// Adds an introduction by one member.
  /// - Parameter hints: the addresses at which the introducer says that the node is, as far as we may believe them.
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
      var entry = Entry(
        node: node, introducers: [introducing], firstIntroducer: introducer, deadline: introducing.deadline)
      entry.hints.add(addresses, by: introducer.peer)
      entries[node] = entry
      return true
    }
    entry.introducers.append(introducing)
    entry.deadline = max(entry.deadline, introducing.deadline)
    entry.hints.add(addresses, by: introducer.peer)
    entries[node] = entry
    return false
  }

  mutating func remove(_ node: NodeID) { entries[node] = nil }

  /// Removes an introducer of the node. The deadline, the first introducer and the addresses are then those of the
  /// others. When the last introducer is removed, its addresses stay as long as the introduction does.
  mutating func removeIntroducer(_ introducer: NodeID, of node: NodeID) {
    guard var entry = entries[node] else { return }
    entry.introducers.removeAll { $0.node == introducer }
    if let first = entry.introducers.first, let last = entry.introducers.map(\.deadline).max() {
      entry.firstIntroducer = first.node
      entry.deadline = last
      if !entry.payers.contains(introducer.peer) { entry.hints.remove(introducer.peer) }
    }
    entries[node] = entry
  }

  /// Delays the next try until this time, or until there is news of the node.
  mutating func wait(_ node: NodeID, until next: Instant?, after failure: Ending? = nil) {
    guard var entry = entries[node] else { return }
    entry.phase = .waiting(until: next)
    entry.failure = failure ?? entry.failure
    entries[node] = entry
  }

  /// Handles a failed try.
  /// - Returns: whether another try may succeed. It follows after a pause that grows up to 8 s.
  mutating func triesAgain(_ node: NodeID, after failure: Ending, at now: Instant) -> Bool {
    // We may be leaving the node and be introduced to it again.
    let isLeaving = failure.reason == .alreadyConnected && failure.blame == .us
    guard let entry = entries[node], isLeaving || failure.reason.mayPass else { return false }
    wait(node, until: now + .seconds(Int64(1) << min(entry.tries, 3)), after: failure)
    return true
  }

  /// Notes that a try begins.
  mutating func began(_ node: NodeID, _ command: CommandID) {
    guard var entry = entries[node] else { return }
    entry.payer = payer(forTurnOf: entry) ?? entry.firstIntroducer.peer
    entry.phase = .inviting(command)
    entry.tries += 1
    entries[node] = entry
  }

  /// Returns the addresses at which the node is to be dialled now. Each counts against the first of the members that
  /// name it which has dials left.
  /// - Parameter seen: the addresses at which discovery sees the node. They count against any of its introducers.
  mutating func takeAddresses(
    of node: NodeID, seen: [TransportAddress], over transports: [TransportKind], at now: Instant
  ) -> [TransportAddress] {
    guard let entry = entries[node] else { return [] }
    let seen = seen.map { (address: $0, sources: entry.payers) }
    let told = entry.hints.hints.filter { hint in !seen.contains { $0.address == hint.address } }
    var addresses: [TransportAddress] = []
    for (address, sources) in seen + told.map({ ($0.address, $0.sources) }) where transports.contains(address.kind) {
      if pays(for: sources, at: now) { addresses.append(address) }
    }
    return addresses
  }

  /// Counts a dial of an address that these keys name against the first of them that has dials left.
  /// - Returns: false if no key has dials left.
  mutating func pays(for sources: [PeerID], at now: Instant) -> Bool {
    sources.contains { budget.take(from: $0, at: now) }
  }

  /// Returns whether another invitation may be under way because of one of this node's introducers.
  func hasTurn(_ node: NodeID) -> Bool { entries[node].map { payer(forTurnOf: $0) != nil } ?? false }

  private func payer(forTurnOf entry: Entry) -> PeerID? {
    let underWay = entries.values.filter(\.isInviting)
    guard underWay.count < Self.allUnderWayLimit else { return nil }
    return entry.payers.first { key in underWay.count { $0.payer == key } < Self.underWayLimit }
  }

  /// Removes an introducer that has left, and waits for no answer any more.
  /// - Returns: the nodes whose introductions end with that.
  mutating func introducerLeft(_ introducer: NodeID) -> [NodeID] {
    var over: [NodeID] = []
    for (node, entry) in entries where entry.introducers.contains(where: { $0.node == introducer }) {
      removeIntroducer(introducer, of: node)
      if !entry.isAccepted, entry.introducers.count == 1 { over.append(node) }
    }
    return over.sorted()
  }
}
