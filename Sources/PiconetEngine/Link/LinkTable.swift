import PiconetWire

/// The links of one node, to all remote sides.
struct LinkTable {
  private var links: InlineFirstDictionary<LinkID, Link> = [:]

  subscript(id: LinkID) -> Link? { links[id] }
  var isEmpty: Bool { links.isEmpty }
  var count: Int { links.count }
  /// In no order.
  var keys: [LinkID] { links.keys }
  /// In no order.
  var values: [Link] { links.values }
  /// In the order of their numbers.
  var inOrder: [Link] { links.values.sorted { $0.id < $1.id } }

  mutating func append(_ link: Link) { links[link.id] = link }

  /// Lets a link go. Data that still comes from it does not count.
  mutating func forget(_ link: Link, _ turn: Turn) {
    links[link.id] = nil
    link.forget()
    turn.forget(link)
  }

  /// Returns whether there is a link to this node.
  func contains(node: NodeID) -> Bool { values.contains { $0.node == node } }

  /// Returns the links to this node that wait for a decision, in the order of their numbers.
  func ready(to node: NodeID) -> [Link] { inOrder.filter { $0.node == node && $0.phase == .ready } }

  /// Returns the links that wait to replace this one. They replace it unless it gives a sign of life, which is the
  /// answer to this ping.
  func waiting(for token: UInt64, of link: Link) -> [Link] {
    guard link.phase == .active else { return [] }
    return inOrder.filter { $0.node == link.node && $0.probe?.token == token }
  }

  /// Returns the links that have something due, or a ping soon, in the order of their numbers.
  func due(at now: Instant, soon: Instant) -> [Link] {
    values.filter { $0.due(at: now, soon: soon) != nil }.sorted { $0.id < $1.id }
  }

  /// Returns the link that gives way to another handshake if the limit is reached. It is the oldest from the address
  /// with the most, but never one that we dialled: our attempts bound the number of those.
  func givingWay(limit: Int) -> Link? {
    let unfinished = values.filter { $0.phase != .active && !$0.isDialler }
    guard unfinished.count >= limit else { return nil }
    return Crowd.oldest(of: unfinished, by: \.id) { ($0.opening.traits.remoteHost, since: $0.openedAt) }
  }
}
