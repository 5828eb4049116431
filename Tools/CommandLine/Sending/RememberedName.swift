import PiconetTerminal

/// What a name stands for among the peers that this device remembers.
struct RememberedName {
  let name: String
  let folded: FoldedName
  /// The fingerprints that are meant; empty: it is nobody's petname, and means a peer that calls itself so.
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
    let digits = Self.isFingerprintStart(name) ? name.lowercased() : nil
    let folded = FoldedName(name)
    let byDigits = known.values.joined().filter { digits.map($0.hasPrefix) ?? false }
    let shown = Self.keys(shownAs: name, in: known)
    func named(_ isMeant: (String) -> Bool) -> Set<String> {
      Set(known.flatMap { petname, keys in keys.filter { isMeant(Self.beforeDigits(petname, of: $0)) } })
    }
    // Before a petname of these very words: somebody may have called himself as another device is shown.
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

  /// The petname without the digits of its own key that keep it from looking like another one.
  private static func beforeDigits(_ petname: String, of key: String) -> String {
    let digits = " (\(key.prefix(SightedPeer.shortFingerprint)))"
    return petname.hasSuffix(digits) ? String(petname.dropLast(digits.count)) : petname
  }

  /// The known keys that the programs show as `Bob (8aa20a70d40b)`.
  private static func keys(shownAs name: String, in known: [String: Set<String>]) -> Set<String> {
    guard name.last == ")", let open = name.lastIndex(of: "("), name[..<open].last == " " else { return [] }
    let digits = name[name.index(after: open)...].dropLast().lowercased()
    guard isFingerprintStart(digits) else { return [] }
    let before = FoldedName(String(name[..<open].dropLast()))
    return known.reduce(into: []) { keys, entry in
      keys.formUnion(
        entry.value.filter { $0.hasPrefix(digits) && FoldedName(beforeDigits(entry.key, of: $0)) == before })
    }
  }

  /// Whether it may be the beginning of a fingerprint.
  static func isFingerprintStart(_ text: String) -> Bool {
    text.utf8.count >= SightedPeer.shortFingerprint && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }
}
