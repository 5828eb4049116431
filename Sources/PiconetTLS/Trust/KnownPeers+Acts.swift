import PiconetWire

/// The changes that a person may make to the table. Each changes one peer and leaves all others as they are.
extension KnownPeers {
  /// Accepts a key as a device's, under this name. For a known key it adds the person's new statements: the name stays,
  /// a confirmation is never weakened, and rights are only added.
  ///
  /// A name that looks like another known device's gets digits of the fingerprint appended, so that the two can be told
  /// apart. So does a name with digits in brackets that are not its key's. A name without visible characters is
  /// replaced by the digits alone.
  /// - Parameters:
  ///   - seconds: now, since 1970.
  ///   - address: where a person reached it; from now on the address belongs to no other peer.
  /// - Throws: `blocked` if a person has blocked the key, `limit`.
  public mutating func take(
    _ peer: PeerID, name: String, at seconds: Int64, confirmed confirmation: PeerConfirmation, rights: Set<PeerRight>,
    address: String? = nil
  ) throws(StateFailure) {
    var entry =
      self[peer] ?? KnownPeer(id: peer, name: petname(name, of: peer), since: seconds, confirmation: confirmation)
    guard !entry.isBlocked else {
      throw StateFailure(
        .blocked, path: path,
        "\(peer.shortDescription) is blocked; lift that first: piconet trust unblock \(peer.shortDescription)")
    }
    if let line = damagedBlock(of: peer) {
      throw StateFailure(
        .blocked, path: path, "line \(line), which can't be read, blocks \(peer.shortDescription); mend or remove it")
    }
    if confirmation != .firstUse { entry.confirmation = confirmation }
    entry.rights.formUnion(rights)
    if let address { try reach(&entry, at: address) }
    try put(entry)
  }

  private func petname(_ name: String, of peer: PeerID) -> String {
    // An empty name is a mistake.
    let isOwn = name.isEmpty || Self.isVisible(name: name)
    if isOwn, lookalikes(of: name, but: peer).isEmpty, !BracketedDigits.misleads(name, of: peer) { return name }
    let digits = peer.description
    let names = stride(from: peer.shortDescription.count, through: digits.count, by: 4).lazy.map { count in
      isOwn ? "\(name) (\(digits.prefix(count)))" : String(digits.prefix(count))
    }
    // Another device may have taken this name, with these very digits.
    return names.first { lookalikes(of: $0, but: peer).isEmpty } ?? digits
  }

  private mutating func reach(_ entry: inout KnownPeer, at address: String) throws(StateFailure) {
    guard KnownPeer.isAddress(address) else {
      throw StateFailure(.limit, path: path, "an address is 1 to 300 bytes of printable ASCII")
    }
    if var other = self.entry(at: address), other.id != entry.id {
      other.addresses.removeAll { $0 == address }
      try put(other)
    }
    entry.addresses.removeAll { $0 == address }
    entry.addresses.append(address)
    entry.addresses = entry.addresses.suffix(KnownPeer.addressLimit)
  }

  /// - Throws: `nameTaken` if another device's name looks the same, or digits in brackets look like another key's;
  ///   `limit` if nothing in the name is visible; `unknown`.
  public mutating func rename(_ peer: PeerID, to name: String) throws(StateFailure) {
    var entry = try known(peer)
    guard Self.isVisible(name: name) else {
      throw StateFailure(.limit, path: path, "a name needs a character that can be seen")
    }
    if let other = lookalikes(of: name, but: peer).first {
      throw StateFailure(
        .nameTaken, path: path,
        "the name looks like that of another device, '\(PeerNameEscaping.escape(other.name))' (\(other.id.shortDescription))"
      )
    }
    guard !BracketedDigits.misleads(name, of: peer) else {
      throw StateFailure(
        .nameTaken, path: path,
        "the digits in the name would pass for another device's; its own are (\(peer.shortDescription))")
    }
    entry.name = name
    try put(entry)
  }

  /// - Throws: `unknown`.
  public mutating func confirm(_ peer: PeerID, by confirmation: PeerConfirmation) throws(StateFailure) {
    var entry = try known(peer)
    entry.confirmation = confirmation
    try put(entry)
  }

  /// - Throws: `unknown`, `blocked`.
  public mutating func allow(_ peer: PeerID, _ rights: Set<PeerRight>) throws(StateFailure) {
    let entry = try known(peer)
    try take(peer, name: entry.name, at: entry.since, confirmed: .firstUse, rights: rights)
  }

  /// Removes rights. A right for any program is lost as soon as it is denied for one.
  /// - Throws: `unknown`.
  public mutating func deny(_ peer: PeerID, _ rights: Set<PeerRight>) throws(StateFailure) {
    var entry = try known(peer)
    for right in rights {
      entry.rights.remove(right)
      entry.rights.remove(PeerRight(right.action, nil))
      if right.program == nil { entry.rights = entry.rights.filter { $0.action != right.action } }
    }
    try put(entry)
  }

  /// Refuses the key from now on, known or not; it loses all rights, and does not get them back by being unblocked.
  public mutating func block(_ peer: PeerID, at seconds: Int64) throws(StateFailure) {
    var entry =
      self[peer] ?? KnownPeer(id: peer, name: peer.shortDescription, since: seconds, confirmation: .firstUse)
    entry.isBlocked = true
    entry.rights = []
    try put(entry)
  }

  /// - Throws: `unknown`.
  public mutating func unblock(_ peer: PeerID) throws(StateFailure) {
    var entry = try known(peer)
    entry.isBlocked = false
    try put(entry)
  }

  /// Makes the key a stranger's again.
  /// - Throws: `unknown`.
  public mutating func forget(_ peer: PeerID) throws(StateFailure) {
    _ = try known(peer)
    _ = remove(peer)
  }

  private func known(_ peer: PeerID) throws(StateFailure) -> KnownPeer {
    guard let entry = self[peer] else {
      throw StateFailure(.unknown, path: path, "\(peer.shortDescription) is not known")
    }
    return entry
  }
}
