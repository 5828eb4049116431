import PiconetWire

/// Whom to let in, once TLS has proven whose key the far side has.
public enum TrustPolicy: Sendable, Hashable {
  /// Only peers that are remembered.
  case remembered
  /// Also new ones, which are then to be remembered.
  case firstUse
  /// Only these; what is remembered does not matter.
  case pinned(Set<PeerID>)
  /// New ones when a person has compared the short code.
  case ask

  /// Judges a peer; pure. Under every policy but `pinned`, a name that is remembered of another key alone is never
  /// accepted, also not from a peer that is itself known under another name.
  /// - Parameters:
  ///   - peer: the proven fingerprint.
  ///   - name: what the peer calls itself.
  public func judge(peer: PeerID, name: String, knownPeers: KnownPeers) -> TrustVerdict {
    if case .pinned(let peers) = self { return peers.contains(peer) ? .known : .refused(.notPinned) }
    let namesakes = knownPeers.entries(named: name)
    if let other = namesakes.first, !namesakes.contains(where: { $0.peer == peer }) {
      return .keyChanged(KeyChange(name: name, remembered: other, presented: peer, path: knownPeers.path))
    }
    if knownPeers.entry(of: peer) != nil { return .known }
    return switch self {
    case .remembered, .pinned: .refused(.notRemembered)
    case .firstUse: .new(.accepted)
    case .ask: .new(.needsAsking)
    }
  }
}

/// What a policy says of a peer.
public enum TrustVerdict: Sendable, Hashable {
  case known
  case new(NewPeer)
  case refused(TrustRefusal)
  case keyChanged(KeyChange)

  public enum NewPeer: Sendable, Hashable {
    /// Let in on first use; remember it.
    case accepted
    /// A person must compare the short code first; then remember it.
    case needsAsking
  }
}

/// Why a peer is not let in although nothing is wrong with its key.
public enum TrustRefusal: String, Sendable, Hashable, CustomStringConvertible {
  case notRemembered, notPinned

  public var description: String {
    switch self {
    case .notRemembered: "this device is not among the remembered ones"
    case .notPinned: "this device is not one of those that were named"
    }
  }
}

/// A name that is remembered, with a key that is not.
public struct KeyChange: Sendable, Hashable, CustomStringConvertible {
  public let name: String
  public let remembered: PeerID
  public let presented: PeerID
  /// The known-peers file, and the line in it (from 1).
  public let path: String
  public let line: Int

  init(name: String, remembered: KnownPeers.Entry, presented: PeerID, path: String) {
    self.name = name
    self.remembered = remembered.peer
    self.presented = presented
    self.path = path
    line = remembered.line
  }

  /// For a person; safe on a terminal whatever the name holds.
  public var description: String {
    """
    "\(PeerNameEscaping.escape(name))" is not the device that was remembered under this name.
    Remembered key: \(remembered.shortDescription)   Key now: \(presented.shortDescription)
    Either the device was set up anew, or another device has the same name, or somebody pretends to be it.
    If you are sure that all is well, forget the old key: remove line \(line) of \(path)
    """
  }
}
