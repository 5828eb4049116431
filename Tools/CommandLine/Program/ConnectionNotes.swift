import Piconet

/// With `-v`, figures of the connections to peers. They are read now and then, since nothing can be read once a peer
/// has left.
final class ConnectionNotes: Sendable {
  private let node: Node
  private let console: Console
  private let seen = Guarded<[NodeID: (name: String, MemberStatistics)]>([:])

  init(node: Node, console: Console) {
    self.node = node
    self.console = console
  }

  func look(at peer: ProvenMember) async {
    guard console.verbosity.detail > 0, let member = node.session.members.first(where: { $0.id == peer.id }),
      let statistics = await node.session.statistics(for: member)
    else { return }
    let name = console.name(peer)
    seen.change { $0[peer.id] = (name, statistics) }
    // Otherwise a short connection would have no round trip.
    if statistics.roundTrip == nil, member.transport != nil {
      Task { if (try? await node.session.ping(member)) != nil { await look(at: peer) } }
    }
  }

  /// Looks at all peers now and then, until the task is cancelled: a connection that breaks is reported as it was at
  /// the end, not at the beginning. For a peer that can't be reached, what was last seen is kept, because it names the
  /// transport.
  func watch() async {
    guard console.verbosity.detail > 0 else { return }
    while !Task.isCancelled {
      for member in node.session.members where member.transport != nil { await look(at: member.proven) }
      try? await ContinuousClock().sleep(for: Self.watchInterval)
    }
  }

  private static let watchInterval = Duration.milliseconds(500)

  /// Looks soon, without making the caller wait.
  func lookSoon(at peer: ProvenMember) {
    if console.verbosity.detail > 0 { Task { await look(at: peer) } }
  }

  /// Notes that the connection is over.
  /// - Parameter isTold: whether its beginning was reported; its end is then reported, too.
  func over(_ peer: NodeID, isTold: Bool = true) {
    guard let (name, statistics) = seen.change({ $0.removeValue(forKey: peer) }), isTold else { return }
    for line in ConnectionFigures(statistics).lines { console.note("\(name): \(line)", detail: 1) }
  }

  /// Reports all remaining connections.
  func tellAll() { for peer in seen.value.keys.sorted() { over(peer) } }
}
