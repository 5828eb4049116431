import PiconetWire

/// The associations of one node, what is known of former ones, and what is asked of all of them together.
struct AssociationTable {
  private var associations: InlineFirstDictionary<NodeID, Association> = [:]
  private var farewells = Farewells()
  /// How many were begun with each peer.
  private var begun = BegunCounts()
  /// How many there may be.
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(node: NodeID) -> Association? { associations[node] }
  var isEmpty: Bool { associations.isEmpty }
  var count: Int { associations.count }
  var isFull: Bool { count >= limit }
  /// In no order.
  var values: [Association] { associations.values }
  /// In the order of their nodes.
  var inOrder: [Association] { associations.values.sorted { $0.node < $1.node } }

  /// Adds one that begins.
  mutating func append(_ association: Association) {
    associations[association.node] = association
    begun.increment(association.node.peer)
  }

  /// Takes out one that ends.
  /// - Parameter farewell: what its node is told if it comes back for it.
  mutating func remove(_ association: Association, saying farewell: Farewells.Farewell?, at now: Instant) {
    associations[association.node] = nil
    if let farewell { farewells.note(farewell, to: association.node, limit: limit, at: now) }
  }

  // MARK: Those that were

  /// How many were begun with a peer.
  func begunCount(with peer: PeerID) -> UInt64 { begun[peer] }

  /// The same, as a hello of ours on this link says it. The link may look for one node of a key while we have an
  /// association with another node of that key: if the latter answers, our count must not tell it that we have lost the
  /// association.
  func begunCount(statedOn link: Link) -> UInt64 {
    let looksPast = link.searchedFor.map { hasOther(than: $0) } ?? false
    return looksPast ? 0 : begun[link.opening.peer]
  }

  /// Why the association that a node still holds is over; nil where nothing is known.
  func farewell(to node: NodeID, holding held: AssociationID?, at now: Instant) -> Reason? {
    farewells.reason(for: node, holding: held, at: now)
  }

  /// The same, for one that is certainly over.
  func reasonGone(_ node: NodeID, holding held: AssociationID?, at now: Instant) -> Reason {
    farewell(to: node, holding: held, at: now) ?? .noSuchAssociation
  }

  // MARK: Time

  /// Those that have something due, in the order of their nodes.
  func due(at now: Instant, _ surroundings: Surroundings) -> [Association] {
    inOrder.filter { association in association.nextDeadline(surroundings).map { $0 <= now } ?? false }
  }

  /// Without an array: a driver asks once a round.
  func contains(where fits: (Association) -> Bool) -> Bool { associations.contains(where: fits) }

  // MARK: Invitations

  /// Invitations of ours that have no reply yet.
  var invitationCount: Int { values.count { $0.invitations.own != nil } }

  /// The one with an invitation of ours by this command.
  func inviting(by command: CommandID) -> Association? {
    values.first { $0.invitations.own?.command == command }
  }

  /// The one whose invitation this command has accepted, and that has not admitted us yet.
  func accepting(by command: CommandID) -> Association? { values.first { $0.invitations.isAccepted(by: command) } }

  /// The commands of all invitations of ours.
  var inviting: [CommandID] { values.compactMap { $0.invitations.own?.command } }

  /// The associations whose invitation's time is up, in the order of the commands.
  func invitationsDue(at now: Instant) -> [Association] {
    let due = values.compactMap { association in
      association.invitations.own.map { (association: association, own: $0) }
    }.filter { $0.own.deadline <= now }
    return due.sorted { $0.own.command < $1.own.command }.map(\.association)
  }

  /// The one that has asked the driver for something by this number.
  func awaiting(_ id: CodeID) -> Association? { values.first { $0.invitations.awaits(id) } }

  /// The one whose link we have dialled at one of these addresses.
  func dialled(_ kind: TransportKind, at addresses: [TransportAddress]) -> Association? {
    inOrder.first { association in
      guard let opening = association.link?.opening, opening.dial != nil, opening.traits.kind == kind else {
        return false
      }
      return addresses.contains { $0.kind == kind && $0.leads(to: opening.traits.remoteAddress) }
    }
  }

  // MARK: Handshakes

  /// The association that a hello of ours on this link can name as held. A dialling side does not know the remote
  /// side's incarnation yet: an association with any of them may be the one.
  func held(for link: Link) -> Association? {
    let held = values.filter { association in
      guard association.isDurable else { return false }
      return (link.node ?? link.searchedFor).map { $0 == association.node }
        ?? (association.node.peer == link.opening.peer)
    }
    return held.count == 1 ? held.first : nil
  }

  /// Whether there is one with another node of the same key.
  private func hasOther(than node: NodeID) -> Bool { values.contains { $0.node.peer == node.peer && $0.node != node } }

  /// Incoming resources of the sender's former runs, which stay suspended for a while, that are the very one it offers
  /// now.
  func formerTransfers(of sender: NodeID, _ offer: ResourceOffer) -> [(
    association: Association, transfer: TransferReceiver
  )] {
    guard !offer.identity.isEmpty else { return [] }
    let former = values.filter { $0.node != sender && $0.node.peer == sender.peer && $0.suspension != nil }
    let transfers = former.flatMap { association in
      association.transfers.incoming.values.filter {
        $0.phase == .receiving && $0.offer.identity == offer.identity && $0.offer.size == offer.size
      }.map { (association: association, transfer: $0) }
    }
    return transfers.sorted { $0.transfer.id < $1.transfer.id }
  }
}

// MARK: - Members

extension AssociationTable {
  /// Places in the session that are taken or reserved, our own included.
  var takenPlaces: Int { 1 + values.count { $0.isMember || $0.holdsPlace } }

  /// Which member gives way to a newcomer in a full session, and why; nil if none has to.
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

  /// The member that has been idle longest; nil if none has been for this long.
  private func idleMember(for timeout: Duration, _ now: Instant) -> Association? {
    let idle = values.filter { association in
      association.isMember && association.leaving == nil && association.hasNothingOpen
        && association.isOwedWhatIsOpen && association.lastMoved + timeout <= now
    }
    return idle.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }

  /// A little traffic now and then is enough not to be idle. So if an address or a key has a quarter of the places or
  /// more, and at least two more than the newcomer's, one of its strangers goes. Nil if none has that many.
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

  /// Associations that have a place. A reserved one counts like a member's: otherwise a peer that is promised one and
  /// never comes would hold it, and have others thrown out, for nothing.
  private var placed: [Association] { values.filter { ($0.isMember && $0.leaving == nil) || $0.holdsPlace } }

  /// The one that has been idle longest: a node that is not a member yet before any member, but none that we have
  /// invited.
  private func leastMoved(_ strangers: [Association]) -> Association? {
    let pending = strangers.filter { !$0.isMember && $0.invitations.own == nil }
    let going = pending.isEmpty ? strangers.filter(\.isMember) : pending
    return going.min { ($0.lastMoved, $0.node) < ($1.lastMoved, $1.node) }
  }
}

extension Association {
  /// Nothing is open but incoming resources.
  fileprivate var hasNothingOpen: Bool {
    transfers.outgoing.isEmpty && outbox.isEmpty && outgoingChannels.isEmpty && streams.outgoing.isEmpty
      && streams.incoming.isEmpty
  }

  /// Every resource that comes from it waits for its next bytes, and not for us.
  fileprivate var isOwedWhatIsOpen: Bool {
    if transfers.incoming.isEmpty { return true }
    // An offer may wait behind others of the same sender.
    let begun = transfers.incoming.values.filter { $0.phase != .offered }
    // A peer that can't be reached for the moment may come back and go on.
    return suspension == nil && !begun.isEmpty && begun.allSatisfy(\.waitsForSender)
  }
}

// MARK: - Strangers

extension AssociationTable {
  /// The oldest association of a key that has as many strangers as it may; nil if it has fewer.
  func beyondKey(_ peer: PeerID, _ attempts: borrowing InvitationAttempts) -> Association? {
    let ofKey = strangers(attempts).filter { $0.node.peer == peer }
    guard ofKey.count >= KeepingLimits.strangersOfKey else { return nil }
    return ofKey.min { ($0.begunAt, $0.node) < ($1.begunAt, $1.node) }
  }

  /// The association that gives way to another when there are as many as there may be: an unused one, or else one whose
  /// invitation waits, of the host that has most.
  func strangerGivingWay(_ attempts: borrowing InvitationAttempts) -> Association? {
    let strangers = strangers(attempts)
    let idle = strangers.filter(\.isUnused)
    return Crowd.oldest(of: idle.isEmpty ? strangers : idle, by: \.node) {
      ($0.peer.traits.remoteHost, since: $0.invitations.idleSince)
    }
  }

  /// Associations that only the remote side wants: not members, not being left, and not invited by us.
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
  /// Associations that one key may have with us, by several incarnations, without being a member or invited.
  static let strangersOfKey = 4
}
