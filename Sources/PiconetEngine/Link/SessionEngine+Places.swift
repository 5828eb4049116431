import PiconetWire

/// Who gives way where there is no room: strangers to one another, whoever has most of them first; idle members to who
/// wants in, and members of an address that has many of the places.
extension SessionEngine {
  /// Links that never get to an association must not keep others out: of the address with most of them the oldest goes,
  /// but none that we dialled, whose number our attempts bound.
  mutating func makeRoomForHandshake(_ turn: Turn) {
    let unfinished = links.values.filter { $0.phase != .active && !$0.isDialler }
    guard unfinished.count >= configuration.handshakeLimit else { return }
    let oldest = Self.oldest(unfinished.map { (host: $0.opening.traits.remoteHost, since: $0.openedAt, item: $0.id) })
    guard let oldest, let link = links[oldest] else { return }
    end(link, Ending(.limitExceeded, .us, "too many links in their handshake"), turn)
  }

  /// Associations of strangers must not keep others out: a key has few of them, and where there are as many as there
  /// may be, one that nobody uses goes, or else one whose invitation waits.
  mutating func makeRoomForAssociation(
    with remote: NodeID, _ turn: Turn
  ) -> Bool {
    let ofKey = associations.values.filter { $0.node.peer == remote.peer && isStranger($0) }
    if ofKey.count >= KeepingLimits.strangersOfKey,
      let oldest = ofKey.min(by: { ($0.begunAt, $0.node) < ($1.begunAt, $1.node) })
    {
      let ending = Ending(.limitExceeded, .us, "more than \(KeepingLimits.strangersOfKey) associations with one key")
      end(oldest, ending, turn)
    }
    guard associations.count >= configuration.associationLimit else { return true }
    let strangers = associations.values.filter { isStranger($0) }
    let idle = strangers.filter { $0.isUnused }
    let oldest = Self.oldest(
      (idle.isEmpty ? strangers : idle).map {
        (host: $0.peer.traits.remoteHost, since: $0.idleSince, item: $0.node)
      })
    guard let oldest, let association = associations[oldest] else { return false }
    end(association, Ending(.idle, .us, "too many associations"), turn)
    return true
  }

  /// The association is there because the remote side wants it: nobody is a member, leaving, or invited by us.
  private func isStranger(_ association: Association) -> Bool {
    !association.isMember && association.leaving == nil && !invites(association.node)
  }

  /// The oldest one of the host that has most.
  private static func oldest<Item: Comparable>(_ items: [(host: String, since: Instant, item: Item)]) -> Item? {
    var counts: [String: Int] = [:]
    for item in items { counts[item.host, default: 0] += 1 }
    return items.min { left, right in
      let (leftCount, rightCount) = (counts[left.host] ?? 0, counts[right.host] ?? 0)
      if leftCount != rightCount { return leftCount > rightCount }
      return (left.since, left.item) < (right.since, right.item)
    }?.item
  }

  // MARK: Members

  /// The member of which nothing has moved for longest, and for as long as the configuration says; nil where none has
  /// to give way.
  func idleMember(_ now: Instant) -> Association? {
    guard configuration.idleMemberTimeout > .zero else { return nil }
    let idle = associations.values.filter { association in
      association.isMember && association.leaving == nil && association.hasNothingOpen
        && association.isOwedWhatIsOpen
        && association.lastMoved + configuration.idleMemberTimeout <= now
    }
    return idle.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }

  /// A drop now and then makes nobody idle. So where an address has a quarter of the places or more, and two more than
  /// whoever wants in, the one of its strangers of which nothing has moved for longest; nil where no address has.
  private func crowdingMember(for newcomer: NodeID) -> Association? {
    let members = associations.values.filter { $0.isMember && $0.leaving == nil }
    let counts = Dictionary(grouping: members, by: \.peer.traits.remoteHost).mapValues(\.count)
    let own = associations[newcomer].flatMap { counts[$0.peer.traits.remoteHost] } ?? 0
    let crowded = max(own + 2, (configuration.capacity + 3) / 4)
    let strangers = members.filter {
      $0.judgement != .known && counts[$0.peer.traits.remoteHost, default: 0] >= crowded
    }
    return strangers.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }

  /// Whether somebody can become a member.
  func hasRoomForMember(_ newcomer: NodeID, _ now: Instant) -> Bool {
    memberCount < configuration.capacity || givingWay(to: newcomer, now) != nil
  }

  private func givingWay(to newcomer: NodeID, _ now: Instant) -> (Association, why: String)? {
    guard configuration.idleMemberTimeout > .zero else { return nil }
    if let idle = idleMember(now) { return (idle, "nothing has moved for \(configuration.idleMemberTimeout.inWords)") }
    return crowdingMember(for: newcomer).map { ($0, "its address has many of the places") }
  }

  /// Somebody is to become a member: where the session is full, another one goes.
  /// - Returns: whether there is room.
  mutating func makeRoomForMember(_ newcomer: NodeID, _ turn: Turn) -> Bool {
    guard memberCount >= configuration.capacity else { return true }
    guard let (member, why) = givingWay(to: newcomer, turn.now) else { return false }
    end(member, Ending(.idle, .us, "somebody else wants in, and \(why)"), turn)
    return true
  }
}

extension KeepingLimits {
  /// Associations that one key may have with us by several incarnations without being a member or invited.
  static let strangersOfKey = 4
}

extension Association {
  /// Nothing is under way that somebody waits for, but for resources that come.
  fileprivate var hasNothingOpen: Bool {
    transfers.outgoing.isEmpty && outbox.isEmpty && streams.outgoing.isEmpty && streams.incoming.isEmpty
  }

  /// Every resource that comes from it waits for its next bytes, and for nothing of ours.
  fileprivate var isOwedWhatIsOpen: Bool {
    if transfers.incoming.isEmpty { return true }
    // What can't be reached for the moment may come back and go on.
    return suspension == nil && transfers.incoming.values.allSatisfy(\.waitsForSender)
  }

  /// Grows with what comes and is of use to somebody.
  var movedCount: UInt64 { sequenced.received &+ unreliable.counts.received &+ transfers.chunkCount }
}
