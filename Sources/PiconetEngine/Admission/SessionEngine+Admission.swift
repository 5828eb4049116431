import PiconetWire

/// Carries out what `Admission` says.
extension SessionEngine {
  // MARK: Strangers

  mutating func expect(_ id: CommandID, _ peer: PeerID, for duration: Duration, _ turn: Turn) {
    do throws(Ending) {
      try admission.expect(peer, for: duration, at: turn.now)
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(error))
    }
  }

  /// Admits the node, turns it away, or keeps its link until that can be decided. Whether an admitted node is trusted
  /// is asked next.
  mutating func judge(_ remote: NodeID, _ hello: Hello, on link: Link, _ turn: Turn) {
    switch admission.verdict(on: remote, over: link, attempts, ways, turn) {
    case .admitted: admitted(remote, hello, on: link, turn)
    case .undecided: admission.wait(link)
    case .turnedAway: turnAway(remote, hello, on: link, turn)
    }
  }

  /// Judges the links that wait: admits the peers that our own dials have reached, and turns the others away once no
  /// dial is left that might reach them.
  mutating func judgeUndecided(_ turn: Turn) {
    for link in admission.takeUndecided() where !link.isForgotten {
      if let remote = link.node, let hello = link.hello { judge(remote, hello, on: link, turn) }
    }
  }

  /// Whether a peer is expected: by its key, or because a member has introduced it.
  public var expectsPeers: Bool { admission.expectsPeers || turn.introduced.entries.expectsNodes }

  /// Whether a peer may dial us to resume an association: as long as one may, a hidden node goes on listening.
  public var expectsMembers: Bool {
    configuration.disconnectTimeout > .zero && shutdown == nil
      && associations.contains { $0.isDurable && !$0.isUnused }
  }

  /// Whether a peer may dial us although we are hidden: one that is expected, or a member that has lost its link. The
  /// driver listens as long as this is true.
  public var expectsLinks: Bool { expectsPeers || expectsMembers }

  // MARK: Room

  /// - Returns: whether there is room now; an association may have been ended for it.
  private mutating func make(_ room: Admission.Room, _ turn: Turn) -> Bool {
    switch room {
    case .free: return true
    case .after(let association, let ending):
      end(association, ending, turn)
      return true
    case .none: return false
    }
  }

  /// - Returns: whether there is room.
  mutating func makeRoomForAssociation(with remote: NodeID, _ turn: Turn) -> Bool {
    if let (oldest, ending) = admission.strangerGivingWay(ofKey: remote.peer, associations, attempts) {
      end(oldest, ending, turn)
    }
    return make(admission.roomForAssociation(associations, attempts), turn)
  }

  /// - Returns: whether there is room.
  mutating func makeRoomForMember(_ newcomer: NodeID, _ turn: Turn) -> Bool {
    if takesGroupPlace(newcomer) { return hasRoom(forMember: newcomer, turn) }
    return make(admission.room(forMember: newcomer, associations, at: turn.now), turn)
  }
}
