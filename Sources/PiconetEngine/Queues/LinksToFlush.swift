/// Links with something to transmit. Nearly always there is one, which is kept without hashing.
struct LinksToFlush: Sendable {
  private var first: LinkID?
  private var others: Set<LinkID> = []

  var isEmpty: Bool { first == nil }

  mutating func insert(_ link: LinkID) {
    if first == link { return }
    if first == nil { first = link } else { others.insert(link) }
  }

  mutating func remove(_ link: LinkID) {
    if first == link { first = others.popFirst() } else if !others.isEmpty { others.remove(link) }
  }

  /// Takes the only link; nil unless there is exactly one.
  mutating func takeOnly() -> LinkID? {
    guard others.isEmpty else { return nil }
    defer { first = nil }
    return first
  }

  /// Takes all links, in the order of their numbers.
  mutating func takeAll() -> [LinkID] {
    guard let first else { return [] }
    let all = [first] + others
    self.first = nil
    others.removeAll(keepingCapacity: true)
    return all.sorted()
  }
}
