import PiconetWire

/// The rule that decides which peers to let in, once TLS has proven the remote side's key. Trust belongs to keys: a
/// peer's name never lets it in.
@nonexhaustive
public enum TrustPolicy: Sendable, Hashable {
  /// Only peers with a right in this program.
  case remembered
  /// Peers with unknown keys as well. They are not remembered: only a person can do that (`Node.remember`).
  case firstUse
  /// Only these keys; remembered peers do not matter.
  case pinned(Set<PeerID>)
  /// Peers with unknown keys as well, once a person has compared the short code.
  case ask

  /// Judges a peer; pure. Every policy refuses a blocked key. Every policy but `pinned` refuses a stranger with the
  /// name of another key; a known key may take any name.
  /// - Parameters:
  ///   - peer: the proven fingerprint.
  ///   - name: the name that the peer gives itself.
  ///   - program: the program whose rights count.
  ///   - isDialled: whether we have dialled it: then the right to be sent to counts.
  public func judge(
    peer: PeerID, name: String, program: String, isDialled: Bool = false, knownPeers: KnownPeers
  ) -> TrustVerdict {
    let entry = knownPeers[peer]
    if knownPeers.isBlocked(peer) { return .refused(.blocked) }
    if case .pinned(let peers) = self { return peers.contains(peer) ? .known : .refused(.notPinned) }
    guard let entry else {
      if let other = knownPeers.entries(named: name).first {
        return .keyChanged(
          KeyChange(name: name, remembered: other.id, presented: peer, path: knownPeers.path))
      }
      return switch self {
      case .remembered, .pinned: .refused(.notRemembered)
      case .firstUse: .new(.accepted)
      case .ask: .new(.needsAsking)
      }
    }
    switch self {
    case .pinned, .firstUse: return .known
    case .remembered:
      // A peer that has dialled us may be one that we want to invite.
      return entry.may(.send, in: program) || !isDialled && entry.may(.push, in: program) ? .known : .refused(.noRight)
    // A person is asked once about a key that was accepted without comparing the code; so is one about a confirmed peer
    // that has lost the right.
    case .ask: return entry.may(.send, in: program) && entry.confirmation != .firstUse ? .known : .new(.needsAsking)
    }
  }
}

/// The decision of a policy about a peer.
public enum TrustVerdict: Sendable, Hashable {
  /// It is let in.
  case known
  /// No person here has said anything about this key.
  case new(NewPeer)
  /// It is not let in.
  case refused(TrustRefusal)
  /// A stranger with the name of a known peer: it is not let in.
  case keyChanged(KeyChange)

  /// The treatment of a stranger.
  public enum NewPeer: Sendable, Hashable {
    /// Let in without asking a person.
    case accepted
    /// A person must compare the short code first.
    case needsAsking
  }
}

/// Why a peer is refused although nothing is wrong with its key.
public enum TrustRefusal: String, Sendable, Hashable, CustomStringConvertible {
  /// A stranger, under a policy that lets no strangers in.
  case notRemembered
  /// Not one of the pinned keys.
  case notPinned
  /// Known, without a right in this program.
  case noRight
  /// Blocked by a person.
  case blocked

  public var description: String {
    switch self {
    case .notRemembered: "this device is not among the remembered ones"
    case .notPinned: "this device is not one of those that were named"
    case .noRight: "this device has no right to do this"
    case .blocked: "this device is blocked"
    }
  }
}

/// A name that is remembered, with a key that is not.
public struct KeyChange: Sendable, Hashable, CustomStringConvertible {
  /// The name that the stranger gives itself.
  public let name: String
  /// The known peer's key.
  public let remembered: PeerID
  /// The stranger's key.
  public let presented: PeerID
  /// The known-peers file.
  public let path: String

  /// A description for a person; safe on a terminal whatever the name contains.
  public var description: String {
    """
    "\(PeerNameEscaping.escape(name))" is not the device that was remembered under this name.
    The remembered key is \(remembered.shortDescription), the one that it shows now \(presented.shortDescription).
    Either the device was set up anew, or another device has the same name, or somebody pretends to be it.
    If you are sure that all is well, forget the old key: piconet trust forget \(remembered.shortDescription)
    """
  }
}
