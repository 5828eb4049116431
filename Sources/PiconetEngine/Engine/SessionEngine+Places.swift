import PiconetWire

/// Room for another link, association or member: if there is none, another one gives way, or the newcomer does not get
/// in.
extension SessionEngine {
  /// Links that never get to an association must not keep others out.
  mutating func makeRoomForHandshake(_ turn: Turn) {
    guard let link = links.givingWay(limit: configuration.handshakeLimit) else { return }
    end(link, Ending(.limitExceeded, .us, "too many links in their handshake"), turn)
  }

  /// Associations of strangers must not keep others out: each key may have only a few.
  /// - Returns: whether there is room.
  mutating func makeRoomForAssociation(with remote: NodeID, _ turn: Turn) -> Bool {
    if let oldest = associations.beyondKey(remote.peer, attempts) {
      let words = "more than \(KeepingLimits.strangersOfKey) associations with one key"
      end(oldest, Ending(.limitExceeded, .us, words), turn)
    }
    guard associations.isFull else { return true }
    guard let stranger = associations.strangerGivingWay(attempts) else { return false }
    end(stranger, Ending(.idle, .us, "too many associations"), turn)
    return true
  }

  // MARK: Members

  var isFull: Bool { associations.takenPlaces >= configuration.capacity }

  /// Whether this node can become a member.
  func hasRoomForMember(_ newcomer: NodeID, _ now: Instant) -> Bool {
    !isFull || associations.givingWay(to: newcomer, configuration, now) != nil
  }

  /// Makes room for a new member: if the session is full, another member goes.
  /// - Returns: whether there is room.
  mutating func makeRoomForMember(_ newcomer: NodeID, _ turn: Turn) -> Bool {
    guard isFull, associations[newcomer]?.holdsPlace != true else { return true }
    guard let (member, why) = associations.givingWay(to: newcomer, configuration, turn.now) else { return false }
    end(member, Ending(.idle, .us, "somebody else wants in, and \(why)"), turn)
    return true
  }
}
