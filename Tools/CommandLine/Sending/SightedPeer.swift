import Piconet

/// A peer in sight, as far as choosing one goes. Nothing of it is proven.
struct SightedPeer: Hashable, Sendable {
  /// 64 hexadecimal digits.
  let fingerprint: String
  let name: String
  /// Where it can be reached best.
  var address: String?
  /// Unique: two programs of one device have one key.
  let id: String

  init(fingerprint: String, name: String, address: String? = nil, id: String) {
    self.fingerprint = fingerprint
    self.name = name
    self.address = address
    self.id = id
  }

  init(_ peer: Peer) {
    fingerprint = peer.id.peer.description
    name = peer.name
    address = peer.addresses.first?.text
    id = "\(fingerprint)/\(peer.id.incarnation)"
  }

  /// What a list shows of the fingerprint, and what `--to` takes at least.
  static let shortFingerprint = 12
}

extension Peer {
  /// The transports by which it can be reached, best first.
  var transports: [TransportKind] {
    addresses.reduce(into: []) { kinds, address in if !kinds.contains(address.kind) { kinds.append(address.kind) } }
  }
}

extension Recipient {
  /// Who of `peers` is meant.
  ///
  /// A name that this device remembers means the keys that it remembers under it, whatever they call themselves now,
  /// and nobody else. So do digits with which the fingerprint of a remembered key begins: anybody can take them for a
  /// name. Any other name means who is called so, and digits also whose fingerprint begins so. One device that is in
  /// sight under the same name more than once, as for a while after it was restarted, counts once: the sighting that
  /// came last. Of a remembered device that is in sight under several names, the one that is called so, if one is.
  /// - Parameters:
  ///   - peers: in the order in which they came into sight.
  ///   - known: the fingerprints that are remembered, by name.
  func matches(in peers: [SightedPeer], known: [String: Set<String>] = [:]) -> [SightedPeer] {
    switch self {
    case .all: peers
    case .peer(let fingerprint): Self.newest(peers.filter { $0.fingerprint == fingerprint })
    case .named(let name): Self.newest(Self.matches(name, in: peers, known: known))
    }
  }

  private static func matches(
    _ name: String, in peers: [SightedPeer], known: [String: Set<String>]
  ) -> [SightedPeer] {
    let digits = isFingerprintStart(name) ? name.lowercased() : nil
    func hasDigits(_ fingerprint: String) -> Bool { digits.map(fingerprint.hasPrefix) ?? false }
    let keys = (known[name] ?? []).union(known.values.joined().filter(hasDigits))
    guard !keys.isEmpty else { return peers.filter { $0.name == name || hasDigits($0.fingerprint) } }
    let wanted = peers.filter { keys.contains($0.fingerprint) }
    // Of several programs of one device the one that is called so, if one is.
    let called = Set(wanted.filter { $0.name == name }.map(\.fingerprint))
    return wanted.filter { $0.name == name || !called.contains($0.fingerprint) }
  }

  /// Who of `peers` has the wanted name, which belongs to other keys that this device remembers.
  func impostors(in peers: [SightedPeer], known: [String: Set<String>]) -> [SightedPeer] {
    guard case .named(let name) = self, let keys = known[name] else { return [] }
    return Self.newest(peers.filter { $0.name == name && !keys.contains($0.fingerprint) })
  }

  private static func isFingerprintStart(_ text: String) -> Bool {
    text.utf8.count >= SightedPeer.shortFingerprint && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  private static func newest(_ peers: [SightedPeer]) -> [SightedPeer] {
    var result: [SightedPeer] = []
    for peer in peers {
      result.removeAll { $0.fingerprint == peer.fingerprint && $0.name == peer.name }
      result.append(peer)
    }
    return result
  }

  /// For people; may hold what came from the command line.
  var text: String {
    switch self {
    case .all: "all"
    case .peer(let fingerprint): fingerprint
    case .named(let name): name
    }
  }
}
