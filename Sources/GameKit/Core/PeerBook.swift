import Piconet

/// How the peers stand with a session, and what its owner is told of each change. Pure: what happened goes in, calls
/// come out.
///
/// Whether a peer is in sight and whether it is connected come from different sources: what is told is made of both
/// here, so that each change is told once, and in a sound order.
struct PeerBook: Sendable {
  enum Phase: Hashable, Sendable {
    case apart
    /// We have asked it, or accepted it.
    case connecting
    /// It has asked us.
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
    /// Whether the last that was told of it is that it is available.
    fileprivate var isToldAvailable = false
    fileprivate var isToldRequest = false
    /// Why its last request, or ours, has come to nothing.
    var ending: GKSessionError?
    /// Connect again once the present attempt or connection is over.
    var again: Duration?
  }

  /// A peer that has gone.
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

  /// Why the request of a peer, or ours, has come to nothing.
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

  // MARK: What happened

  /// All peers that are in sight now.
  mutating func sighted(_ peers: [(node: NodeID, name: String, claim: String?)]) -> [SessionCall] {
    var calls: [SessionCall] = []
    let present = Set(peers.map(\.node))
    for node in entries.keys.filter({ !present.contains($0) }).sorted() {
      entries[node]?.isInSight = false
      calls += settle(node)
    }
    for peer in peers {
      enter(peer.node, peer.name, peer.claim)
      entries[peer.node]?.isInSight = true
      entries[peer.node]?.name = peer.name
      calls += settle(peer.node)
    }
    return calls
  }

  /// We begin to connect, or accept.
  mutating func connecting(_ node: NodeID) -> [SessionCall] {
    guard let entry = entries[node] else { return [] }
    entries[node]?.phase = .connecting
    entries[node]?.ending = nil
    entries[node]?.again = nil
    // Of a request it has been told already, or will be as the request is.
    if case .asking = entry.phase, entry.isToldRequest { return [] }
    return [.state(peer: entry.peerID, .stateConnecting)]
  }

  /// A peer asks. Only one that is apart can: any other has been asked by us, and that is an answer.
  mutating func asked(_ node: NodeID, name: String, claim: String?, id: UInt64) -> [SessionCall] {
    enter(node, name, claim)
    guard let entry = entries[node] else { return [] }
    entries[node]?.phase = .asking(id)
    entries[node]?.isToldRequest = false
    entries[node]?.ending = nil
    return [.request(peer: entry.peerID, node, id: id)]
  }

  /// Whether a request is open, and is told now.
  mutating func tells(request id: UInt64, of node: NodeID) -> Bool {
    guard entries[node]?.phase == .asking(id) else { return false }
    entries[node]?.isToldRequest = true
    return true
  }

  /// A request of the peer has ended without an answer from here.
  mutating func requestEnded(_ id: UInt64, of node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard let entry = entries[node], entry.phase == .asking(id) else { return [] }
    return failed(node, error, isTold: entry.isToldRequest)
  }

  /// We have declined, and know it.
  mutating func denied(_ node: NodeID) -> [SessionCall] { failed(node, GKSessionError(.declinedError), isTold: false) }

  /// What we asked for, or accepted, has come to nothing.
  mutating func attemptFailed(_ node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard entries[node]?.phase == .connecting else { return [] }
    return failed(node, error, isTold: true)
  }

  private mutating func failed(_ node: NodeID, _ error: GKSessionError, isTold: Bool) -> [SessionCall] {
    guard let entry = entries[node] else { return [] }
    entries[node]?.phase = .apart
    entries[node]?.ending = error
    return (isTold ? [.failed(peer: entry.peerID, error)] : []) + settle(node)
  }

  mutating func joined(_ node: NodeID, name: String, claim: String?) -> [SessionCall] {
    enter(node, name, claim)
    guard let entry = entries[node], entry.phase != .connected else { return [] }
    entries[node]?.phase = .connected
    entries[node]?.isToldAvailable = false
    entries[node]?.ending = nil
    entries[node]?.again = nil
    return [.state(peer: entry.peerID, .stateConnected)]
  }

  /// A connected peer is reached so from now on. Nothing is told of that: it is connected as before.
  mutating func isReached(_ node: NodeID, overAnother isRelayed: Bool) { entries[node]?.isRelayed = isRelayed }

  /// We begin to leave it.
  mutating func leaving(_ node: NodeID) {
    if entries[node]?.phase == .connected { entries[node]?.phase = .leaving }
  }

  mutating func left(_ node: NodeID, _ error: GKSessionError) -> [SessionCall] {
    guard let entry = entries[node], entry.phase == .connected || entry.phase == .leaving else { return [] }
    entries[node]?.phase = .apart
    // The header of Apple's delegate: failures are also "disconnects due to timeouts".
    let failure: [SessionCall] = error.code == .timedOutError ? [.failed(peer: entry.peerID, error)] : []
    return failure + [.state(peer: entry.peerID, .stateDisconnected)] + settle(node, after: .stateDisconnected)
  }

  /// The peer is to be connected again when the present attempt or connection is over; nil: not any more.
  mutating func again(_ node: NodeID, _ timeout: Duration?) { entries[node]?.again = timeout }

  /// - Returns: with which timeout to connect now.
  mutating func takeAgain(_ node: NodeID) -> Duration? {
    guard let entry = entries[node], entry.phase == .apart, let again = entry.again else { return nil }
    entries[node]?.again = nil
    return again
  }

  // MARK: Entries

  /// The first claim that is made for a node counts for as long as it is known; one of an id that another node has, or
  /// this one, does not.
  private mutating func enter(_ node: NodeID, _ name: String, _ claim: String?) {
    if entries[node] != nil { return }
    let claimed = claim.flatMap { $0 == own || nodes[$0] != nil ? nil : $0 }
    let peerID = claimed ?? "\(node.peer)/\(node.incarnation)"
    entries[node] = Entry(peerID: peerID, name: name)
    nodes[peerID] = node
  }

  /// Tells whether a peer that is apart is available, and forgets one that is neither.
  private mutating func settle(
    _ node: NodeID, after last: GKPeerConnectionState = .stateUnavailable
  ) -> [SessionCall] {
    guard let entry = entries[node], entry.phase == .apart else { return [] }
    if entry.isInSight {
      if entry.isToldAvailable { return [] }
      entries[node]?.isToldAvailable = true
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
