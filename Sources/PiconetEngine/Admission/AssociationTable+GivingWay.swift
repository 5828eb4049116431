import PiconetWire

// MARK: - Members

extension AssociationTable {
  /// Places in the session that are taken or reserved, including our own.
  var takenPlaces: Int { 1 + values.count { $0.isMember || $0.holdsPlace } }

  /// Returns the member that gives way to a newcomer in a full session, and why; nil if none has to. No member of our
  /// group gives way: the other members would still have it.
  func givingWay(
    to newcomer: NodeID, _ configuration: EngineConfiguration, _ now: Instant
  ) -> (member: Association, why: String)? {
    let timeout = configuration.idleMemberTimeout
    guard timeout > .zero else { return nil }
    if let idle = idleMember(for: timeout, now) { return (idle, "nothing has moved for \(timeout.inWords)") }
    if let crowding = crowdingMember(for: newcomer, capacity: configuration.capacity) {
      return (crowding, "its address or key has many of the places")
    }
    guard self[newcomer]?.judgement == .known else { return nil }
    return leastMoved(placed.filter { $0.judgement != .known }).map { ($0, "a known device takes its place") }
  }

  /// Returns the member that has been idle longest; nil if no member has been idle for `timeout`.
  private func idleMember(for timeout: Duration, _ now: Instant) -> Association? {
    let idle = values.filter { association in
      association.isMember && !association.isOfGroup && association.leaving == nil && association.hasNothingOpen
        && association.isOwedWhatIsOpen && association.lastMoved + timeout <= now
    }
    return idle.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }

  /// Returns the stranger that gives way because its address or key holds too many places; nil if none holds too many.
  /// A little traffic now and then is enough not to be idle. So an address or key gives up a stranger's place if it
  /// holds at least a quarter of the places. It must also hold at least two more than the newcomer's own address or
  /// key.
  private func crowdingMember(for newcomer: NodeID, capacity: Int) -> Association? {
    let placed = placed
    let ofHosts = Dictionary(grouping: placed, by: \.peer.traits.remoteHost).mapValues(\.count)
    let ofKeys = Dictionary(grouping: placed, by: \.node.peer).mapValues(\.count)
    func crowd(_ association: Association) -> Int {
      max(ofHosts[association.peer.traits.remoteHost] ?? 0, ofKeys[association.node.peer] ?? 0)
    }
    let crowded = max((self[newcomer].map(crowd) ?? 0) + 2, (capacity + 3) / 4)
    return leastMoved(placed.filter { $0.judgement != .known && crowd($0) >= crowded })
  }

  /// Associations that hold a place. A reserved place counts like a member's. Otherwise a peer that is promised a place
  /// and never joins would keep it, and other members would lose theirs for nothing.
  private var placed: [Association] { values.filter { ($0.isMember && $0.leaving == nil) || $0.holdsPlace } }

  /// Returns the association outside our group that has been idle longest. A node that is not a member yet gives way
  /// before any member, unless we have invited it.
  private func leastMoved(_ strangers: [Association]) -> Association? {
    let strangers = strangers.filter { !$0.isOfGroup }
    let pending = strangers.filter { !$0.isMember && $0.invitations.own == nil }
    let going = pending.isEmpty ? strangers.filter(\.isMember) : pending
    return going.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }
}

extension Association {
  /// Whether nothing is open except incoming resources.
  fileprivate var hasNothingOpen: Bool {
    transfers.outgoing.isEmpty && outbox.isEmpty && outgoingChannels.isEmpty && streams.outgoing.isEmpty
      && streams.incoming.isEmpty
  }

  /// Whether every incoming resource waits for the peer's next bytes, and no resource waits for us.
  fileprivate var isOwedWhatIsOpen: Bool {
    if transfers.incoming.isEmpty { return true }
    // An offer may wait behind others from the same sender.
    let begun = transfers.incoming.values.filter { $0.phase != .offered }
    // A peer that can't be reached at the moment may come back and continue.
    return suspension == nil && !begun.isEmpty && begun.allSatisfy(\.waitsForSender)
  }
}

// MARK: - Strangers

extension AssociationTable {
  /// Returns the oldest association of a key that has reached its limit of strangers; nil if the key has fewer.
  func beyondKey(_ peer: PeerID, _ attempts: borrowing InvitationAttempts) -> Association? {
    let ofKey = strangers(attempts).filter { $0.node.peer == peer }
    guard ofKey.count >= KeepingLimits.strangersOfKey else { return nil }
    return ofKey.min { ($0.begunAt, $0.node) < ($1.begunAt, $1.node) }
  }

  /// Returns the association that gives way to another when the table is full. An unused one goes first, or else one
  /// whose invitation waits. Among these, the oldest of the host that has most goes.
  func strangerGivingWay(_ attempts: borrowing InvitationAttempts) -> Association? {
    let strangers = strangers(attempts)
    let idle = strangers.filter(\.isUnused)
    return Crowd.oldest(of: idle.isEmpty ? strangers : idle, by: \.node) {
      ($0.peer.traits.remoteHost, since: $0.invitations.idleSince)
    }
  }

  /// Associations that only the remote side wants: not with members, not being left, and not invited by us.
  private func strangers(_ attempts: borrowing InvitationAttempts) -> [Association] {
    var strangers: [Association] = []
    for association in values
    where !association.isMember && association.leaving == nil && association.invitations.own == nil
      && !attempts.contains(node: association.node)
    {
      strangers.append(association)
    }
    return strangers
  }
}

extension KeepingLimits {
  /// The limit on associations that one key may have with us over several incarnations. Members and nodes that we have
  /// invited don't count.
  static let strangersOfKey = 4
}
