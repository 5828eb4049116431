import PiconetWire

/// Where members say that a node is, and whose word each address is. Each of these members has as much room as the
/// others: what one has invented puts out nothing that another one names.
struct AddressHints: Sendable {
  struct Hint: Sendable {
    let address: TransportAddress
    /// The keys that name the address, in the order in which they did. It takes the place of the first one.
    fileprivate(set) var sources: [PeerID]
  }

  /// More keys are not noted with one address.
  private static let sourceLimit = 16

  private(set) var hints: [Hint] = []
  private let limit: Int

  /// - Parameter limit: the most addresses.
  init(limit: Int) { self.limit = limit }

  var addresses: [TransportAddress] { hints.map(\.address) }

  /// Who names this address, in the order in which they did.
  func sources(of address: TransportAddress) -> [PeerID] {
    hints.first { $0.address == address }?.sources ?? []
  }

  /// A key names addresses. Where there is no room it gets that of a key that has more of it.
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

  /// - Returns: false if nobody has two places more than this key.
  private mutating func makeRoom(for source: PeerID) -> Bool {
    while hints.count >= limit {
      let own = count(of: source)
      // Of several with the most the one that came last gives way.
      guard let most = hints.reversed().map({ $0.sources[0] }).max(by: { count(of: $0) < count(of: $1) }),
        count(of: most) > own + 1, let index = hints.lastIndex(where: { $0.sources[0] == most })
      else { return false }
      drop(most, at: index)
    }
    return true
  }

  /// How many places a key takes.
  private func count(of source: PeerID) -> Int { hints.count { $0.sources[0] == source } }

  /// A key's word counts no more.
  mutating func remove(_ source: PeerID) {
    for index in hints.indices.reversed() { drop(source, at: index) }
  }

  private mutating func drop(_ source: PeerID, at index: Int) {
    hints[index].sources.removeAll { $0 == source }
    if hints[index].sources.isEmpty { hints.remove(at: index) }
  }
}
