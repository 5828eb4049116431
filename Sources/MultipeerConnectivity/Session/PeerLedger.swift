/// The peers that are connected, connecting or neither, and the reports to the delegate: each change once, in the order
/// not connected, connecting, connected, not connected. A value; its owner passes on what its functions return.
///
/// A peer may be reached in several ways at once: invitations of both sides, introductions by members, several sessions
/// of the peer itself. It is connected while one of them has led to it, and not connected when the last one has ended.
struct PeerLedger<Node: Hashable> {
  struct Told: Equatable {
    let peer: MCPeerID
    let state: MCSessionState
  }

  /// An invitation, ours or the peer's, from its beginning to the node that it has led to.
  typealias Attempt = Int

  private struct Entry {
    let peer: MCPeerID
    var told = MCSessionState.notConnected
    /// Attempts under way.
    var attempts: Set<Attempt> = []
    /// Members of the node that have not agreed yet.
    var pending: Set<Node> = []
    var connected: Set<Node> = []
    /// Whether our invitation has to be answered, even if nothing was reported of it.
    var owesAnswer = false

    var isUnderWay: Bool { !attempts.isEmpty || !pending.isEmpty }
  }

  private var entries: [UInt64: Entry] = [:]
  private var lastAttempt = 0

  /// Begins an attempt, of which nothing is reported before the other side has accepted. If the peer is connected by
  /// then, no answer is owed: two sides that invite each other find out too late that one invitation would have been
  /// enough.
  mutating func begin(_ peer: MCPeerID) -> Attempt {
    lastAttempt += 1
    var entry = entries[peer.identifier] ?? Entry(peer: peer)
    entry.attempts.insert(lastAttempt)
    if entry.told != .connected { entry.owesAnswer = true }
    entries[peer.identifier] = entry
    return lastAttempt
  }

  func isUnderWay(_ attempt: Attempt, to peer: MCPeerID) -> Bool {
    entries[peer.identifier]?.attempts.contains(attempt) == true
  }

  /// Notes that both have agreed; a connection is on its way.
  mutating func accepted(_ attempt: Attempt, of peer: MCPeerID) -> [Told] {
    guard isUnderWay(attempt, to: peer) else { return [] }
    return change(peer) { _ in }
  }

  /// Notes that the attempt has led to a member, whose own changes are reported from now on. Does nothing for an
  /// attempt that is over.
  mutating func arrived(_ attempt: Attempt, of peer: MCPeerID) {
    guard var entry = entries[peer.identifier] else { return }
    entry.attempts.remove(attempt)
    entries[peer.identifier] = entry
  }

  mutating func failed(_ attempt: Attempt, of peer: MCPeerID) -> [Told] {
    guard var entry = entries[peer.identifier], entry.attempts.remove(attempt) != nil else { return [] }
    entries[peer.identifier] = entry
    return settle(peer)
  }

  /// Notes that a node of the peer is a member, which has not agreed yet.
  mutating func joined(_ node: Node, of peer: MCPeerID) -> [Told] {
    change(peer) { $0.pending.insert(node) }
  }

  mutating func connected(_ node: Node, of peer: MCPeerID) -> [Told] {
    let told = change(peer) {
      $0.pending.remove(node)
      $0.connected.insert(node)
      // Other attempts to reach the peer are not needed any more.
      $0.attempts = []
      $0.owesAnswer = false
    }
    guard var entry = entries[peer.identifier], entry.told != .connected else { return told }
    entry.told = .connected
    entries[peer.identifier] = entry
    return told + [Told(peer: entry.peer, state: .connected)]
  }

  mutating func left(_ node: Node, of peer: MCPeerID) -> [Told] {
    guard var entry = entries[peer.identifier],
      entry.pending.remove(node) != nil || entry.connected.remove(node) != nil
    else { return [] }
    entries[peer.identifier] = entry
    return settle(peer)
  }

  /// Ends all attempts and connections.
  mutating func end() -> [Told] {
    defer { entries = [:] }
    return entries.values.filter { $0.told != .notConnected || $0.owesAnswer }
      .sorted { $0.peer.identifier < $1.peer.identifier }
      .map { Told(peer: $0.peer, state: .notConnected) }
  }

  /// Changes an entry. A peer that was not connected is connecting afterwards.
  private mutating func change(_ peer: MCPeerID, _ body: (inout Entry) -> Void) -> [Told] {
    var entry = entries[peer.identifier] ?? Entry(peer: peer)
    body(&entry)
    let isNew = entry.told == .notConnected
    if isNew { entry.told = .connecting }
    entries[peer.identifier] = entry
    return isNew ? [Told(peer: entry.peer, state: .connecting)] : []
  }

  private mutating func settle(_ peer: MCPeerID) -> [Told] {
    guard var entry = entries[peer.identifier], entry.connected.isEmpty else { return [] }
    // Another attempt goes on; only an existing connection has ended meanwhile.
    if entry.isUnderWay, entry.told != .connected { return [] }
    let isSaid = entry.told != .notConnected || entry.owesAnswer
    entry.told = .notConnected
    entries[peer.identifier] = entry.isUnderWay ? entry : nil
    return isSaid ? [Told(peer: entry.peer, state: .notConnected)] : []
  }
}
