import Piconet
import PiconetTerminal

/// A peer in sight, limited to what matters for choosing one. Nothing about it is proven.
struct SightedPeer: Hashable, Sendable {
  /// 64 hexadecimal digits.
  let fingerprint: String
  let name: String
  /// What else it is advertised as.
  var otherNames: [String] = []
  /// Its best address.
  var address: String?
  /// Unique, since two programs on one device share a key.
  let id: String

  init(fingerprint: String, name: String, otherNames: [String] = [], address: String? = nil, id: String) {
    self.fingerprint = fingerprint
    self.name = name
    self.otherNames = otherNames
    self.address = address
    self.id = id
  }

  init(_ peer: Peer) {
    fingerprint = peer.id.peer.description
    name = peer.name
    otherNames = peer.otherNames
    address = peer.addresses.first?.text
    id = "\(fingerprint)/\(peer.id.incarnation)"
  }

  /// The same peer under each of its names.
  var underEachName: [SightedPeer] {
    let names = [name] + otherNames
    return names.map { called in
      SightedPeer(
        fingerprint: fingerprint, name: called, otherNames: names.filter { $0 != called }, address: address, id: id)
    }
  }

  /// How many digits of the fingerprint a list shows, and the fewest that `--to` accepts.
  static let shortFingerprint = 12
}

extension Peer {
  /// The transports by which it can be reached, best first.
  var transports: [TransportKind] {
    addresses.reduce(into: []) { kinds, address in if !kinds.contains(address.kind) { kinds.append(address.kind) } }
  }
}

extension Recipient {
  /// Returns those of `peers` that are meant, each under the name by which it is meant.
  ///
  /// A name that this device remembers means the keys remembered under it, whatever names they give now, and no other
  /// peer. The same holds for digits with which a remembered key's fingerprint begins, since any device can take them
  /// as a name. A remembered name that differs only in case means the same, unless another peer has exactly this name:
  /// both are then meant, and a person has to decide. Any other name means peers that give it, exactly or else ignoring
  /// case, and digits also mean peers whose fingerprint begins with them.
  ///
  /// A device that is in sight more than once under the same name, as for a while after a restart, counts once, by its
  /// last sighting. If a remembered device is in sight under several names, the one with the wanted name is meant, if
  /// there is one. A stranger that is advertised under several names has all of them: any device can advertise it under
  /// another name, even before it does so itself.
  /// - Parameters:
  ///   - peers: in the order in which they came into sight.
  ///   - known: the remembered fingerprints, by name.
  func matches(in peers: [SightedPeer], known: [String: Set<String>] = [:]) -> [SightedPeer] {
    switch self {
    case .all: peers
    case .peer(let fingerprint): Self.newest(peers.filter { $0.fingerprint == fingerprint })
    case .named(let name):
      Self.once(Self.newest(Self.matches(name, in: peers, known: known)))
    }
  }

  private static func matches(
    _ name: String, in peers: [SightedPeer], known: [String: Set<String>]
  ) -> [SightedPeer] {
    let meant = RememberedName(name, in: known)
    // A known key gets files whatever it calls itself: another device that advertises it under a different name must
    // not lead there.
    let isKnown = Set(known.values.joined())
    let peers = peers.flatMap { peer in
      meant.keys.isEmpty && isKnown.contains(peer.fingerprint) ? [peer] : peer.underEachName
    }
    let called = peers.filter { $0.name == name }
    guard !meant.keys.isEmpty else {
      let exact = peers.filter { $0.name == name || meant.hasDigits($0.fingerprint) }
      return exact.isEmpty ? peers.filter { FoldedName($0.name) == meant.folded } : exact
    }
    let wanted = peers.filter { meant.keys.contains($0.fingerprint) }
    // Of several programs on one device, the one with this name, if there is one.
    let keys = Set(wanted.filter { meant.names($0) }.map(\.fingerprint))
    let programs = wanted.filter { meant.names($0) || !keys.contains($0.fingerprint) }
    guard !meant.isExact, !programs.isEmpty else { return programs }
    // Another device has exactly this name: it is not for us to say which of the two is meant.
    return programs + called.filter { !meant.keys.contains($0.fingerprint) }
  }

  /// Which of `peers` have the wanted name although it belongs to other keys that this device remembers: exactly, or,
  /// for a stranger, spelled differently.
  func impostors(in peers: [SightedPeer], known: [String: Set<String>]) -> [SightedPeer] {
    guard case .named(let name) = self else { return [] }
    let meant = RememberedName(name, in: known)
    guard meant.isRemembered else { return [] }
    let all = Set(known.values.joined())
    return Self.once(
      Self.newest(
        peers.flatMap(\.underEachName).filter { peer in
          if meant.keys.contains(peer.fingerprint) { return false }
          return peer.name == name || FoldedName(peer.name) == meant.folded && !all.contains(peer.fingerprint)
        }))
  }

  /// Whether the wanted name differs from all of these only in letter case or in its form of writing.
  func differsInCase(from peers: [SightedPeer], known: [String: Set<String>]) -> Bool {
    guard case .named(let name) = self else { return false }
    let meant = RememberedName(name, in: known)
    return meant.keys.isEmpty ? !peers.contains { $0.name == name || meant.hasDigits($0.fingerprint) } : !meant.isExact
  }

  private static func newest(_ peers: [SightedPeer]) -> [SightedPeer] {
    var result: [SightedPeer] = []
    for peer in peers {
      // Under all of its names: one that another device has given it keeps no former sighting.
      let former = result.filter { $0.fingerprint == peer.fingerprint && $0.name == peer.name }.map(\.id)
      result.removeAll { former.contains($0.id) && $0.id != peer.id }
      result.append(peer)
    }
    return result
  }

  /// Each peer under the first of the names that match.
  private static func once(_ peers: [SightedPeer]) -> [SightedPeer] {
    var seen: Set<String> = []
    return peers.filter { seen.insert($0.id).inserted }
  }

  /// In words; may contain text from the command line.
  var text: String {
    switch self {
    case .all: "all"
    case .peer(let fingerprint): fingerprint
    case .named(let name): name
    }
  }
}
