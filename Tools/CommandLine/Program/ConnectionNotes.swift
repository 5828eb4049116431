import Piconet

/// With `-v`, what the connections to peers were like. They are looked at now and then: once a peer has left there is nothing to see.
final class ConnectionNotes: Sendable {
  private let node: Node
  private let console: Console
  private let seen = Guarded<[NodeID: (name: String, AssociationStatistics)]>([:])

  init(node: Node, console: Console) {
    self.node = node
    self.console = console
  }

  func look(at peer: ProvenMember) async {
    guard console.verbosity.detail > 0, let member = node.session.members.first(where: { $0.id == peer.id }),
      let statistics = await node.session.statistics(for: member)
    else { return }
    let name = console.safe(peer.name)
    seen.change { $0[peer.id] = (name, statistics) }
  }

  /// Looks soon, without making the caller wait.
  func lookSoon(at peer: ProvenMember) {
    if console.verbosity.detail > 0 { Task { await look(at: peer) } }
  }

  /// The connection is over.
  func tell(_ peer: NodeID) {
    guard let (name, statistics) = seen.change({ $0.removeValue(forKey: peer) }) else { return }
    for line in ConnectionFigures(statistics).lines { console.note("\(name): \(line)", detail: 1) }
  }

  /// All is over.
  func tellAll() { for peer in seen.value.keys.sorted() { tell(peer) } }
}
