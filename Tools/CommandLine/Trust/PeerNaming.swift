import Piconet

/// How peers are called on the screen: a known one by the name that the person gave it, with what it calls itself beside; and so that no two
/// that look alike are taken for one another. Nothing that it gives is escaped.
struct PeerNaming: Sendable {
  /// Who is known here.
  let known: KnownPeers

  static let nobody = PeerNaming(known: KnownPeers(path: ""))

  /// So many digits of a fingerprint are shown at least.
  static let leastDigits = SightedPeer.shortFingerprint

  /// The name to show first: the petname, where there is one.
  func name(_ peer: PeerID, calledItself name: String) -> String { known[peer]?.name ?? name }

  /// What stands behind the name: digits, and what is known of the peer.
  /// - Parameter others: who else is in sight, with their names.
  func note(_ peer: PeerID, calledItself name: String, among others: [(PeerID, String)] = []) -> String {
    ([digits(of: peer, calledItself: name, among: others)] + remarks(peer, calledItself: name)).joined(separator: ", ")
  }

  /// What is known of the peer, in words; empty for a stranger whose name looks like nobody's.
  func remarks(_ peer: PeerID, calledItself name: String) -> [String] {
    guard let entry = known[peer] else {
      let alike = known.lookalikes(of: name)
      return alike.isEmpty ? [] : ["not the known '\(alike.map(\.name).joined(separator: "', '"))'"]
    }
    var words: [String] = []
    if entry.name != name { words.append("calls itself '\(name)'") }
    words.append(entry.isBlocked ? "blocked" : entry.confirmation == .firstUse ? "known, not confirmed" : "known")
    return words
  }

  /// Digits of the fingerprint, as many as tell the peer from all whose names look like its own.
  private func digits(of peer: PeerID, calledItself name: String, among others: [(PeerID, String)]) -> String {
    let skeleton = NameSkeleton(name)
    let alike =
      others.filter { $0.0 != peer && NameSkeleton($0.1) == skeleton }.map(\.0)
      + known.lookalikes(of: name, but: peer).map(\.id)
    let own = peer.description
    var count = Self.leastDigits
    while count < own.count, alike.contains(where: { $0.description.hasPrefix(own.prefix(count)) }) { count += 4 }
    return String(own.prefix(count))
  }

  /// The fingerprints that may be meant by a name, by name. Who is blocked is nobody.
  var fingerprints: [String: Set<String>] {
    Dictionary(grouping: known.entries.filter { !$0.isBlocked }, by: \.name).mapValues { Set($0.map(\.id.description)) }
  }
}

extension Console {
  /// `Living room (9f86d081884c)`, `Mum (9f86d081884c, calls itself 'Printer', known)`: safe to be shown.
  func describe(_ peer: Peer, _ naming: PeerNaming, among others: [Peer] = []) -> String {
    let note = naming.note(peer.id.peer, calledItself: peer.name, among: others.map { ($0.id.peer, $0.name) })
    return "\(safe(naming.name(peer.id.peer, calledItself: peer.name))) (\(safe(note)))"
  }

  /// The same of a peer whose key is proven.
  func describe(_ peer: ProvenMember) -> String {
    guard let known = peer.known else { return "\(safe(peer.name)) (\(peer.fingerprint.shortDescription))" }
    let other = known.name == peer.name ? "" : ", calls itself '\(safe(peer.name))'"
    return "\(safe(known.name)) (\(peer.fingerprint.shortDescription)\(other))"
  }
}

extension KnownPeer {
  /// How far the key is known to be the device's.
  var standing: String {
    switch confirmation {
    case .code: "known, the codes were compared"
    case .fingerprint: "known by its fingerprint"
    case .firstUse: "known, but nobody has confirmed it"
    }
  }
}
