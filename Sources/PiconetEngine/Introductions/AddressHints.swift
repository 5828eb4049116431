import PiconetWire

/// Addresses at which members say that a node is, each with the members that name it. Each of these members has as much
/// room as the others: invented addresses of one member don't push out those that another names.
struct AddressHints: Sendable {
  struct Hint: Sendable {
    let address: TransportAddress
    /// The keys that name the address, in the order in which they did. The address counts as the first key's.
    fileprivate(set) var sources: [PeerID]
  }

  /// The maximum number of keys noted with one address.
  private static let sourceLimit = 16

  private(set) var hints: [Hint] = []
  private let limit: Int

  /// - Parameter limit: the maximum number of addresses.
  init(limit: Int) { self.limit = limit }

  var addresses: [TransportAddress] { hints.map(\.address) }

  /// Returns the keys that name this address, in the order in which they did.
  func sources(of address: TransportAddress) -> [PeerID] {
    hints.first { $0.address == address }?.sources ?? []
  }

  /// Adds addresses that a key names. If there is no room, the key gets the room of a key that has more.
  mutating func add(_ addresses: [TransportAddress], by source: PeerID) {
    for address in addresses {
      if let index = hints.firstIndex(where: { $0.address == address }) {
        let sources = hints[index].sources
        if sources.count < Self.sourceLimit, !sources.contains(source) { hints[index].sources.append(source) }
      } else if hints.count < limit || makeRoom(for: source) {
        hints.append(Hint(address: address, sources: [source]))
      }
    }
  }

  /// - Returns: false if no key has at least two places more than this one.
  private mutating func makeRoom(for source: PeerID) -> Bool {
    while hints.count >= limit {
      let own = count(of: source)
      // If several keys have the most, the place that was added last is freed.
      guard let most = hints.reversed().map({ $0.sources[0] }).max(by: { count(of: $0) < count(of: $1) }),
        count(of: most) > own + 1, let index = hints.lastIndex(where: { $0.sources[0] == most })
      else { return false }
      drop(most, at: index)
    }
    return true
  }

  /// Returns the number of places of a key.
  private func count(of source: PeerID) -> Int { hints.count { $0.sources[0] == source } }

  /// Removes a key, whose word no longer counts.
  mutating func remove(_ source: PeerID) {
    for index in hints.indices.reversed() { drop(source, at: index) }
  }

  private mutating func drop(_ source: PeerID, at index: Int) {
    hints[index].sources.removeAll { $0 == source }
    if hints[index].sources.isEmpty { hints.remove(at: index) }
  }
}
