import Piconet

/// The states of the peers of a session, and the reports of each change to its owner. Pure: events go in, calls come
/// out.
///
/// Whether a peer is in sight and whether it is connected come from different sources. The book reports from both, so
/// that each change is reported once, and in a valid order.
struct PeerBook: Sendable {
  enum Phase: Hashable, Sendable {
    case apart
    /// We have invited the peer, or accepted its request.
    case connecting
    /// The peer has invited us.
    case asking(UInt64)
    case connected
    /// We are leaving it, or were told to.
    case leaving
  }

  struct Entry: Sendable {
    let peerID: String
    var name: String
    var isInSight = false
    var phase = Phase.apart
    /// Whether it is reached over another peer.
    var isRelayed = false
    /// Whether the last report said that it is available.
    fileprivate var isToldAvailable = false
    fileprivate var isToldRequest = false
    /// Why its last request, or ours, has failed.
    var ending: GKSessionError?
    /// Set to connect again once the present attempt or connection is over.
    var again: Duration?
  }

  /// A peer that is no longer in sight or connected.
  private struct Former: Sendable {
    let peerID: String
    let name: String
    let state: GKPeerConnectionState
    let ending: GKSessionError?
  }

  static let formerLimit = 128

  let own: String
  private(set) var entries: [NodeID: Entry] = [:]
  private var nodes: [String: NodeID] = [:]
  private var former: [Former] = []

  init(own: String) { self.own = own }

  // MARK: Looking up

  func node(_ peerID: String) -> NodeID? { nodes[peerID] }

  subscript(_ node: NodeID) -> Entry? { entries[node] }

  func name(_ peerID: String) -> String? {
    nodes[peerID].flatMap { entries[$0]?.name } ?? former.last { $0.peerID == peerID }?.name
  }

  /// Returns why the request of a peer, or ours, has failed.
  func ending(_ peerID: String) -> GKSessionError? {
    nodes[peerID].map { entries[$0]?.ending } ?? former.last { $0.peerID == peerID }?.ending
  }

  func peers(in state: GKPeerConnectionState) -> [String] {
    let present = entries.values.filter { entry in
      switch state {
      case .stateAvailable: entry.isInSight && entry.phase != .connected && entry.phase != .leaving
      case .stateConnected: entry.phase == .connected || entry.phase == .leaving
      case .stateConnecting:
        switch entry.phase {
        case .connecting, .asking: true
        default: false
        }
      case .stateConnectedRelay: entry.isRelayed && (entry.phase == .connected || entry.phase == .leaving)
      case .stateUnavailable, .stateDisconnected: false
      }
    }
    let gone = former.filter { $0.state == state && nodes[$0.peerID] == nil }
    return (present.map(\.peerID) + gone.map(\.peerID)).sorted()
  }

  // MARK: Events

  /// Takes all peers that are in sight now.
  mutating func sighted(_ peers: [(node: NodeID, name: String, claim: String?)]) -> [SessionCall] {
    var calls: [SessionCall] = []
    let present = Set(peers.map(\.node))
    let absent = entries.filter { !present.contains($0.key) }.sorted { $0.key < $1.key }
    for (node, var entry) in absent {
      entry.isInSight = false
      entries[node] = entry
      calls += settle(node)
    }
    for peer in peers {
      var entry = enter(peer.node, peer.name, peer.claim)
      entry.isInSight = true
      entry.name = peer.name
      entries[peer.node] = entry
      calls += settle(peer.node)
    }
    return calls
  }

  /// Notes that we begin to connect, or accept.
  mutating func connecting(_ node: NodeID) -> [SessionCall] {
    guard let former = entries[node] else { return [] }
    var entry = former
    entry.phase = .connecting
    entry.ending = nil
    entry.again = nil
    entries[node] = entry
    // The report of its request has told the program so, or will.
    if case .asking = former.phase, former.isToldRequest { return [] }
    return [.state(peer: entry.peerID, .stateConnecting)]
  }

  /// Notes that a peer asks. Only a peer that is apart can ask: any other has been asked by us, and its request is an
  /// answer.
  mutating func asked(_ node: NodeID, name: String, claim: String?, id: UInt64) -> [SessionCall] {
    var entry = enter(node, name, claim)
    entry.phase = .asking(id)
    entry.isToldRequest = false
    entry.ending = nil
    entries[node] = entry
    return [.request(peer: entry.peerID, node, id: id)]
  }

  /// Returns whether a request is still open; it then counts as reported.
  mutating func tells(request id: UInt64, of node: NodeID) -> Bool {
    guard var entry = entries[node], entry.phase == .asking(id) else { return false }
    entry.isToldRequest = true
    entries[node] = entry
    return true
  }

  /// Notes that a request of the peer has ended without an answer from here.
  mutating func requestEnded(_ id: UInt64, of node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard let entry = entries[node], entry.phase == .asking(id) else { return [] }
    return failed(node, error, isTold: entry.isToldRequest)
  }

  /// Notes that we have declined; the program knows it.
  mutating func denied(_ node: NodeID) -> [SessionCall] { failed(node, GKSessionError(.declinedError), isTold: false) }

  /// Notes that our request, or our acceptance, has failed.
  mutating func attemptFailed(_ node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard entries[node]?.phase == .connecting else { return [] }
    return failed(node, error, isTold: true)
  }

  private mutating func failed(_ node: NodeID, _ error: GKSessionError, isTold: Bool) -> [SessionCall] {
    guard var entry = entries[node] else { return [] }
    entry.phase = .apart
    entry.ending = error
    entries[node] = entry
    return (isTold ? [.failed(peer: entry.peerID, error)] : []) + settle(node)
  }

  mutating func joined(_ node: NodeID, name: String, claim: String?) -> [SessionCall] {
    var entry = enter(node, name, claim)
    guard entry.phase != .connected else { return [] }
    entry.phase = .connected
    entry.isToldAvailable = false
    entry.ending = nil
    entry.again = nil
    entries[node] = entry
    return [.state(peer: entry.peerID, .stateConnected)]
  }

  /// Notes how a connected peer is reached from now on. That is not reported: it is connected as before. Does nothing
  /// for a peer that has been forgotten.
  mutating func isReached(_ node: NodeID, overAnother isRelayed: Bool) {
    guard var entry = entries[node] else { return }
    entry.isRelayed = isRelayed
    entries[node] = entry
  }

  /// Notes that we begin to leave it, if it is connected.
  mutating func leaving(_ node: NodeID) {
    guard var entry = entries[node], entry.phase == .connected else { return }
    entry.phase = .leaving
    entries[node] = entry
  }

  mutating func left(_ node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard var entry = entries[node], entry.phase == .connected || entry.phase == .leaving else { return [] }
    entry.phase = .apart
    entries[node] = entry
    // The header of Apple's delegate counts "disconnects due to timeouts" among the failures.
    let failure: [SessionCall] = error.code == .timedOutError ? [.failed(peer: entry.peerID, error)] : []
    return failure + [.state(peer: entry.peerID, .stateDisconnected)] + settle(node, after: .stateDisconnected)
  }

  /// Sets whether the peer is to be connected again when the present attempt or connection is over; nil: no longer. A
  /// peer that has been forgotten has neither.
  mutating func again(_ node: NodeID, _ timeout: Duration?) {
    guard var entry = entries[node] else { return }
    entry.again = timeout
    entries[node] = entry
  }

  /// - Returns: the timeout with which to connect now.
  mutating func takeAgain(_ node: NodeID) -> Duration? {
    guard var entry = entries[node], entry.phase == .apart, let again = entry.again else { return nil }
    entry.again = nil
    entries[node] = entry
    return again
  }

  // MARK: Entries

  /// Enters a node. Its first claim to a peer id counts for as long as it is known; a claim to the id of another node,
  /// or of this one, does not count.
  /// - Returns: the node's entry, which is made if needed.
  private mutating func enter(_ node: NodeID, _ name: String, _ claim: String?) -> Entry {
    if let entry = entries[node] { return entry }
    let claimed = claim.flatMap { $0 == own || nodes[$0] != nil ? nil : $0 }
    let peerID = claimed ?? "\(node.peer)/\(node.incarnation)"
    let entry = Entry(peerID: peerID, name: name)
    entries[node] = entry
    nodes[peerID] = node
    return entry
  }

  /// Reports whether a peer that is apart is available, and forgets it if it is out of sight.
  private mutating func settle(
    _ node: NodeID, after last: GKPeerConnectionState = .stateUnavailable
  ) -> [SessionCall] {
    guard var entry = entries[node], entry.phase == .apart else { return [] }
    if entry.isInSight {
      if entry.isToldAvailable { return [] }
      entry.isToldAvailable = true
      entries[node] = entry
      return [.state(peer: entry.peerID, .stateAvailable)]
    }
    entries[node] = nil
    nodes[entry.peerID] = nil
    former.removeAll { $0.peerID == entry.peerID }
    if former.count >= Self.formerLimit { former.removeFirst() }
    former.append(Former(peerID: entry.peerID, name: entry.name, state: last, ending: entry.ending))
    return entry.isToldAvailable ? [.state(peer: entry.peerID, .stateUnavailable)] : []
  }
}
