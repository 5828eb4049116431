import Piconet

/// The nodes that a session's node lets in, and those that it refuses to let in again.
struct Doors: Sendable {
  /// An acceptance that waits for the node that it lets in.
  struct Door: Sendable {
    let attempt: Int
    let peer: MCPeerID
    /// The key of that node.
    let fingerprint: PeerID
  }

  /// Meeting places handed out for custom discovery, with the peers that got them, the oldest first.
  private(set) var given: [(ticket: Ticket, peer: MCPeerID)] = []
  private(set) var open: [Ticket: Door] = [:]
  private(set) var denied: Set<NodeID> = []
  private var denials: [NodeID] = []

  static let limit = 256

  mutating func give(_ ticket: Ticket, to peer: MCPeerID) {
    if given.count >= Self.limit { given.removeFirst() }
    given.append((ticket, peer))
  }

  mutating func takeBack(from peer: MCPeerID) { given.removeAll { $0.peer == peer } }

  mutating func open(_ ticket: Ticket, _ door: Door) { open[ticket] = door }

  /// Notes that the program wants this peer now: the place that it was given counts.
  mutating func openGiven(_ door: Door) {
    for place in given where place.peer == door.peer { open[place.ticket] = door }
    takeBack(from: door.peer)
  }

  mutating func close(_ attempt: Int) { open = open.filter { $0.value.attempt != attempt } }

  mutating func deny(_ node: NodeID) {
    guard denied.insert(node).inserted else { return }
    denials.append(node)
    if denials.count > Self.limit { denied.remove(denials.removeFirst()) }
  }
}
