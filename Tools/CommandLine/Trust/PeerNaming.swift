import Piconet

/// The names of peers on the screen. A known peer has the name that the person gave it, beside the name that it gives
/// itself, so that no two that look alike are mistaken for each other. Results are not escaped.
struct PeerNaming: Sendable {
  /// Who is known here.
  let known: KnownPeers
  /// Made once: there may be a thousand known peers, and as many in sight that change all the time.
  private let looks: [NameSkeleton: [KnownPeer]]

  init(known: KnownPeers) {
    self.known = known
    looks = Dictionary(grouping: known.entries) { NameSkeleton($0.name) }
  }

  static let nobody = PeerNaming(known: KnownPeers(path: ""))

  /// The name to show first: the petname, if there is one.
  func name(_ peer: PeerID, calledItself name: String) -> String { known[peer]?.name ?? name }

  /// The known peers whose names look like this one, or like what stands before digits in it, except the peer itself.
  func lookalikes(_ peer: PeerID, calledItself name: String) -> [KnownPeer] {
    NameSkeleton.all(of: name).flatMap { looks[$0] ?? [] }.filter { $0.id != peer }
  }

  /// The name of a known device that a stranger's name looks like; nil for a known peer, or a name that looks like
  /// none.
  func imitated(_ peer: PeerID, calledItself name: String) -> String? {
    known[peer] == nil ? lookalikes(peer, calledItself: name).first?.name : nil
  }

  /// What is known about the peer, in words; empty for a stranger whose name looks like no other.
  func remarks(_ peer: PeerID, calledItself name: String) -> [String] {
    guard let entry = known[peer] else {
      return imitated(peer, calledItself: name).map { ["not the known '\($0)'"] } ?? []
    }
    var words: [String] = []
    if let other = entry.otherName(name) { words.append("calls itself '\(other)'") }
    words.append(entry.isBlocked ? "blocked" : entry.confirmation == .firstUse ? "known, not confirmed" : "known")
    return words
  }

  /// A message of the library, which knows no names, with the name of each known device before its digits.
  /// - Returns: also those names, in their order.
  func withNames(_ message: String) -> (message: String, names: [String]) {
    var names: [String] = []
    let words = message.split(separator: " ", omittingEmptySubsequences: false).map { word -> String in
      let digits = word.prefix { $0.isHexDigit }
      guard digits.count == SightedPeer.shortFingerprint, word.dropFirst(digits.count).allSatisfy(\.isPunctuation)
      else {
        return String(word)
      }
      let meant = known.entries.filter { $0.id.shortDescription == digits }
      guard meant.count == 1 else { return String(word) }
      names.append(meant[0].name)
      return "'\(meant[0].nameBeforeDigits)' (\(digits))" + word.dropFirst(digits.count)
    }
    return (words.joined(separator: " "), names)
  }

  /// The fingerprints that a name may mean, by name. A blocked peer's petname still means that peer, and no other who
  /// takes it; of several with one name, with digits behind it or not, those that are not blocked are meant.
  var fingerprints: [String: Set<String>] {
    let free = Set(known.entries.lazy.filter { !$0.isBlocked }.map(\.nameBeforeDigits))
    let meant = known.entries.filter { !$0.isBlocked || !free.contains($0.nameBeforeDigits) }
    return Dictionary(grouping: meant, by: \.name).mapValues { Set($0.map(\.id.description)) }
  }

  /// Returns why none of these keys gets anything, if the person has blocked them all; nil: not all are blocked, or the
  /// set is empty.
  func blockade(_ keys: Set<PeerID>) -> String? {
    guard let key = keys.min(by: { $0.description < $1.description }), keys.allSatisfy(known.isBlocked) else {
      return nil
    }
    if known[key]?.isBlocked != true, let line = known.damagedBlock(of: key) {
      return "it is blocked by line \(line) of \(known.path), which can't be read: mend or remove that"
    }
    return "it is blocked; lift that with: piconet trust unblock \(key.shortDescription)"
  }
}

/// Peers that are shown together, and must not be mistaken for each other.
struct PeersShown: Sendable {
  /// How many digits of a fingerprint are shown at least.
  static let leastDigits = SightedPeer.shortFingerprint

  let naming: PeerNaming
  private let looks: [NameSkeleton: [PeerID]]

  init(_ peers: [(PeerID, String)], _ naming: PeerNaming) {
    self.naming = naming
    looks = Dictionary(grouping: peers) { NameSkeleton($0.1) }.mapValues { $0.map(\.0) }
  }

  init(_ peers: [Peer], _ naming: PeerNaming) { self.init(peers.map { ($0.id.peer, $0.name) }, naming) }

  /// What follows the name: digits and what is known about the peer.
  func note(_ peer: PeerID, calledItself name: String) -> String {
    ([digits(peer, calledItself: name)] + naming.remarks(peer, calledItself: name)).joined(separator: ", ")
  }

  /// As many digits as distinguish the peer from all whose names look like its own.
  func digits(_ peer: PeerID, calledItself name: String) -> String {
    let look = NameSkeleton(name)
    let alike = (looks[look] ?? []).filter { $0 != peer } + naming.lookalikes(peer, calledItself: name).map(\.id)
    let own = peer.description
    var count = Self.leastDigits
    while count < own.count, alike.contains(where: { $0.description.hasPrefix(own.prefix(count)) }) { count += 4 }
    return String(own.prefix(count))
  }
}

extension Console {
  /// `Living room (9f86d081884c)`, `Mum (9f86d081884c, calls itself 'Printer', known)`: safe to show.
  func describe(_ peer: Peer, _ shown: PeersShown) -> String {
    let entry = shown.naming.known[peer.id.peer]
    let name = entry.map(petname) ?? ownWords(peer.name)
    return "\(name) (\(safe(shown.note(peer.id.peer, calledItself: peer.name))))"
  }

  /// What a stranger calls itself, safe to show before what is known about it: in quotation marks if it has brackets
  /// and could pass for such information, like `Mum (9f86d081884c), known`, or if nothing in it is visible.
  func ownWords(_ name: String) -> String {
    let hasBrackets = name.unicodeScalars.contains { scalar in
      [.openPunctuation, .closePunctuation].contains(scalar.properties.generalCategory)
    }
    return hasBrackets || name.allSatisfy(\.isWhitespace) ? quoted(name) : safe(name)
  }

  private func quoted(_ name: String) -> String { "'\(safe(name).replacing("'", with: "\\'"))'" }

  /// A petname, safe to show before its key's digits: in quotation marks if it has other digits.
  func petname(_ entry: KnownPeer) -> String {
    entry.hasOtherDigits ? quoted(entry.nameBeforeDigits) : safe(entry.nameBeforeDigits)
  }

  /// Describes a peer whose key is proven, safe to show.
  func describe(_ peer: ProvenMember) -> String {
    guard let known = peer.known else { return "\(ownWords(peer.name)) (\(peer.fingerprint.shortDescription))" }
    let other = known.otherName(peer.name).map { ", calls itself '\(safe($0))'" } ?? ""
    return "\(petname(known)) (\(peer.fingerprint.shortDescription)\(other))"
  }

  /// What a peer whose key is proven is called in a sentence, safe to show: a petname, with its own digits behind other
  /// ones; a stranger's own words.
  func name(_ peer: ProvenMember) -> String {
    guard let known = peer.known else { return ownWords(peer.name) }
    return known.hasOtherDigits ? "\(petname(known)) (\(peer.fingerprint.shortDescription))" : safe(known.name)
  }

  /// What such a peer is called where only the name is left: in quotation marks if it has another key's digits.
  func name(_ peer: TransferPeer) -> String {
    let key = PeerID(hexadecimal: peer.fingerprint)
    return key.map { KnownPeer.hasOtherDigits(peer.name, of: $0) } == true ? quoted(peer.name) : safe(peer.name)
  }

  /// Says who has connected; for a stranger also that it is not the known device whose name looks like its own.
  /// - Parameter suppressed: how many before went unreported.
  func noteConnected(_ peer: ProvenMember, _ naming: PeerNaming, suppressed: Int = 0) {
    let imitated = peer.known == nil ? naming.imitated(peer.fingerprint, calledItself: peer.name) : nil
    let other = imitated == nil ? "" : notThe(imitated) + ","
    note(
      "Connected to \(describe(peer))\(other) over \(peer.transport)\(NoticeBudget.othersNotTold(suppressed))")
  }

  /// What follows a stranger whose name looks like this known peer's.
  func notThe(_ known: String?) -> String { known.map { ", which is not the known '\(safe($0))'" } ?? "" }
}

extension KnownPeer {
  /// What it calls itself, if that is not how it is shown.
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
