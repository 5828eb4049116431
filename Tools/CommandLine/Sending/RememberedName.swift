import Piconet
import PiconetTerminal

/// What a name stands for among the peers that this device remembers.
struct RememberedName {
  let name: String
  let folded: FoldedName
  /// The fingerprints that are meant; empty: it is not a petname, and means a peer that calls itself so.
  let keys: Set<String>
  /// Whether it matches exactly, and not only if case is ignored.
  let isExact: Bool
  /// Whether it is a remembered name, and not the digits of a key.
  let isRemembered: Bool
  /// Whether it says which key is meant: by digits, or as the programs show a known one.
  let hasDigits: Bool
  /// In lower case, if the name may be the beginning of a fingerprint.
  private let digits: String?

  /// - Parameter known: the remembered fingerprints, by name.
  init(_ name: String, in known: [String: Set<String>]) {
    let digits = KnownPeer.areDigits(name) ? name.lowercased() : nil
    let folded = FoldedName(name)
    let byDigits = known.values.joined().filter { digits.map($0.hasPrefix) ?? false }
    let shown = Self.keys(shownAs: name, in: known)
    func named(_ isMeant: (String) -> Bool) -> Set<String> {
      Set(known.flatMap { petname, keys in keys.filter { isMeant(KnownPeer.withoutDigits(petname, of: $0)) } })
    }
    // Before a petname of these very words: a device may call itself what another one is shown as.
    var keys = shown.isEmpty ? (known[name] ?? []).union(byDigits) : shown
    var isExact = true
    if keys.isEmpty { keys = named { $0 == name } }
    if keys.isEmpty {
      isExact = false
      keys = named { FoldedName($0) == folded }
      for (petname, others) in known where FoldedName(petname) == folded { keys.formUnion(others) }
    }
    (self.name, self.folded, self.digits) = (name, folded, digits)
    (self.keys, self.isExact) = (keys, isExact)
    hasDigits = digits != nil || !shown.isEmpty
    isRemembered = !keys.isEmpty && (byDigits.isEmpty || known[name] != nil || !shown.isEmpty)
  }

  /// Whether the peer calls itself by this name.
  func names(_ peer: SightedPeer) -> Bool { isExact ? peer.name == name : FoldedName(peer.name) == folded }

  func hasDigits(_ fingerprint: String) -> Bool { digits.map(fingerprint.hasPrefix) ?? false }

  /// The known keys that the programs show as `Bob (8aa20a70d40b)`.
  private static func keys(shownAs name: String, in known: [String: Set<String>]) -> Set<String> {
    guard let shown = KnownPeer.partDigits(of: name) else { return [] }
    let (before, digits) = (FoldedName(shown.name), shown.digits.lowercased())
    return known.reduce(into: []) { keys, entry in
      keys.formUnion(
        entry.value.filter {
          $0.hasPrefix(digits) && FoldedName(KnownPeer.withoutDigits(entry.key, of: $0)) == before
        })
    }
  }
}
