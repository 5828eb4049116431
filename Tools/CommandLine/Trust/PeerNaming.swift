import Piconet

/// How peers are called on the screen: a known one by the name that the person gave it, with what it calls itself
/// beside; and so that no two that look alike are taken for one another. Nothing that it gives is escaped.
struct PeerNaming: Sendable {
  /// Who is known here.
  let known: KnownPeers
  /// Made once: there may be a thousand, and as many in sight, who change all the time.
  private let looks: [NameSkeleton: [KnownPeer]]

  init(known: KnownPeers) {
    self.known = known
    looks = Dictionary(grouping: known.entries) { NameSkeleton($0.name) }
  }

  static let nobody = PeerNaming(known: KnownPeers(path: ""))

  /// The name to show first: the petname, where there is one.
  func name(_ peer: PeerID, calledItself name: String) -> String { known[peer]?.name ?? name }

  /// The known peers that have a name which looks like this one, but for the peer itself.
  func lookalikes(_ peer: PeerID, _ look: NameSkeleton) -> [KnownPeer] { (looks[look] ?? []).filter { $0.id != peer } }

  /// The name of a known device that a stranger's name looks like; nil for one that is known, or looks like none.
  func imitated(_ peer: PeerID, calledItself name: String) -> String? {
    known[peer] == nil ? lookalikes(peer, NameSkeleton(name)).first?.name : nil
  }

  /// What is known of the peer, in words; empty for a stranger whose name looks like nobody's.
  func remarks(_ peer: PeerID, calledItself name: String) -> [String] {
    guard let entry = known[peer] else {
      return imitated(peer, calledItself: name).map { ["not the known '\($0)'"] } ?? []
    }
    var words: [String] = []
    if let other = entry.otherName(name) { words.append("calls itself '\(other)'") }
    words.append(entry.isBlocked ? "blocked" : entry.confirmation == .firstUse ? "known, not confirmed" : "known")
    return words
  }

  /// The fingerprints that may be meant by a name, by name. Who is blocked is nobody.
  var fingerprints: [String: Set<String>] {
    Dictionary(grouping: known.entries.filter { !$0.isBlocked }, by: \.name).mapValues { Set($0.map(\.id.description)) }
  }
}

/// Peers that are shown together, and must not be taken for one another.
struct PeersShown: Sendable {
  /// So many digits of a fingerprint are shown at least.
  static let leastDigits = SightedPeer.shortFingerprint

  let naming: PeerNaming
  private let looks: [NameSkeleton: [PeerID]]

  init(_ peers: [(PeerID, String)], _ naming: PeerNaming) {
    self.naming = naming
    looks = Dictionary(grouping: peers) { NameSkeleton($0.1) }.mapValues { $0.map(\.0) }
  }

  init(_ peers: [Peer], _ naming: PeerNaming) { self.init(peers.map { ($0.id.peer, $0.name) }, naming) }

  /// What stands behind the name: digits, as many as tell the peer from all whose names look like its own, and what is
  /// known of it.
  func note(_ peer: PeerID, calledItself name: String) -> String {
    let look = NameSkeleton(name)
    let alike = (looks[look] ?? []).filter { $0 != peer } + naming.lookalikes(peer, look).map(\.id)
    let own = peer.description
    var count = Self.leastDigits
    while count < own.count, alike.contains(where: { $0.description.hasPrefix(own.prefix(count)) }) { count += 4 }
    return ([String(own.prefix(count))] + naming.remarks(peer, calledItself: name)).joined(separator: ", ")
  }
}

extension Console {
  /// `Living room (9f86d081884c)`, `Mum (9f86d081884c, calls itself 'Printer', known)`: safe to be shown.
  func describe(_ peer: Peer, _ shown: PeersShown) -> String {
    let entry = shown.naming.known[peer.id.peer]
    let name = entry.map { safe($0.nameBeforeDigits) } ?? ownWords(peer.name)
    return "\(name) (\(safe(shown.note(peer.id.peer, calledItself: peer.name))))"
  }

  /// What a stranger calls itself, safe to be shown before what is known of it: in quotation marks where it has
  /// brackets and could be taken for that, as `Mum (9f86d081884c), known`, or where it has nothing to see.
  func ownWords(_ name: String) -> String {
    let hasBrackets = name.unicodeScalars.contains { scalar in
      [.openPunctuation, .closePunctuation].contains(scalar.properties.generalCategory)
    }
    guard hasBrackets || name.allSatisfy(\.isWhitespace) else { return safe(name) }
    return "'\(safe(name).replacing("'", with: "\\'"))'"
  }

  /// The same of a peer whose key is proven.
  func describe(_ peer: ProvenMember) -> String {
    guard let known = peer.known else { return "\(ownWords(peer.name)) (\(peer.fingerprint.shortDescription))" }
    let other = known.otherName(peer.name).map { ", calls itself '\(safe($0))'" } ?? ""
    return "\(safe(known.nameBeforeDigits)) (\(peer.fingerprint.shortDescription)\(other))"
  }

  /// Tells whom this one is connected to; of a stranger also that it is not the known device whose name its own looks
  /// like.
  /// - Parameter suppressed: how many before were not told.
  func noteConnected(_ peer: ProvenMember, _ naming: PeerNaming, suppressed: Int = 0) {
    let imitated = peer.known == nil ? naming.imitated(peer.fingerprint, calledItself: peer.name) : nil
    let other = imitated == nil ? "" : notThe(imitated) + ","
    note(
      "Connected to \(describe(peer))\(other) over \(peer.transport)\(NoticeBudget.othersNotTold(suppressed))")
  }

  /// What stands behind a stranger whose name looks like this one's.
  func notThe(_ known: String?) -> String { known.map { ", which is not the known '\(safe($0))'" } ?? "" }
}

extension KnownPeer {
  /// The petname, without the digits of its own key that it ends with where it would look like another one: where
  /// digits stand behind it anyhow.
  var nameBeforeDigits: String {
    let digits = " (\(id.shortDescription))"
    return name.hasSuffix(digits) ? String(name.dropLast(digits.count)) : name
  }

  /// What it calls itself, where that is not how it is shown.
  func otherName(_ name: String) -> String? { [self.name, nameBeforeDigits].contains(name) ? nil : name }

  /// How far the key is known to be the device's.
  var standing: String {
    switch confirmation {
    case .code: "known, the codes were compared"
    case .fingerprint: "known by its fingerprint"
    case .firstUse: "known, but nobody has confirmed it"
    }
  }
}
