import PiconetWire

/// The associations of this node, the memory of former ones, and queries that concern all of them.
struct AssociationTable {
  private var associations: InlineFirstDictionary<NodeID, Association> = [:]
  private var farewells = Farewells()
  /// How many associations were begun with each peer.
  private var begun = BegunCounts()
  /// How many associations there may be.
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

  // MARK: Beginning and end

  /// Begins an association on this link, whose handshake is complete.
  /// - Parameter id: the id that the smaller node has given the association; nil if we are the smaller node.
  mutating func begin(
    _ id: AssociationID?, on link: Link, _ configuration: EngineConfiguration, _ watch: DeadlineWatch, _ turn: Turn
  ) -> Association? {
    guard let remote = link.node, let hello = link.hello else { return nil }
    let own = id ?? AssociationID(high: turn.random.next(), low: turn.random.next())
    link.queue(id == nil ? .associate(own, received: 0) : .associated(received: 0, begun: begun[remote.peer] + 1))
    turn.flush(link)
    let association = Association(
      id: own, node: remote, of: turn.node, on: link, hello, configuration, watch, at: turn.now)
    append(association)
    link.activate(association)
    return association
  }

  mutating func append(_ association: Association) {
    associations[association.node] = association
    begun.increment(association.node.peer)
  }

  /// Concludes an association that has no link any more.
  /// - Parameter isRemembered: whether its node may be told why it is over if the node tries to resume it.
  /// - Returns: how the association has ended for us.
  mutating func conclude(
    _ association: Association, _ ending: Ending, isRemembered: Bool, _ turn: Turn
  ) -> Ending {
    let ending = association.ending(of: ending, seenBy: turn.node)
    associations[association.node] = nil
    if isRemembered, let farewell = association.farewell(after: ending, turn.now) {
      farewells.note(farewell, to: association.node, limit: limit, at: turn.now)
    }
    association.end(ending, turn)
    return ending
  }

  // MARK: Former associations

  /// Returns how many associations were begun with a peer.
  func begunCount(with peer: PeerID) -> UInt64 { begun[peer] }

  /// Returns the number of associations begun with the peer of this link, as our hello states it. The link may look for
  /// one node of a key while we have an association with another node of that key. If the latter answers, our count
  /// must not tell it that we have lost the association.
  func begunCount(statedOn link: Link) -> UInt64 {
    let looksPast = link.searchedFor.map { hasOther(than: $0) } ?? false
    return looksPast ? 0 : begun[link.opening.peer]
  }

  /// Returns why the association that a node still holds is over; nil if we know nothing of it.
  func farewell(to node: NodeID, holding held: AssociationID?, at now: Instant) -> Reason? {
    farewells.reason(for: node, holding: held, at: now)
  }

  /// Returns why the association that a node still holds is over, if it certainly is over: `noSuchAssociation` if we
  /// know nothing more.
  func reasonGone(_ node: NodeID, holding held: AssociationID?, at now: Instant) -> Reason {
    farewell(to: node, holding: held, at: now) ?? .noSuchAssociation
  }

  // MARK: Time

  /// Associations that have something due, in the order of their nodes.
  func due(at now: Instant, _ surroundings: Surroundings) -> [Association] {
    inOrder.filter { association in association.nextDeadline(surroundings).map { $0 <= now } ?? false }
  }

  /// Returns whether any association fits. This makes no array, because a driver asks once a round.
  func contains(where fits: (Association) -> Bool) -> Bool { associations.contains(where: fits) }

  // MARK: Invitations

  /// The number of our own invitations without a reply yet.
  var invitationCount: Int { values.count { $0.invitations.own != nil } }

  /// Returns the association with the invitation of our own that this command began.
  func inviting(by command: CommandID) -> Association? {
    values.first { $0.invitations.own?.command == command }
  }

  /// Returns the association whose invitation this command has accepted, and whose peer has not admitted us yet.
  func accepting(by command: CommandID) -> Association? { values.first { $0.invitations.isAccepted(by: command) } }

  /// The commands of all our own invitations.
  var inviting: [CommandID] { values.compactMap { $0.invitations.own?.command } }

  /// Returns the associations on which our own invitation has run out of time, in the order of the commands.
  func invitationsDue(at now: Instant) -> [Association] {
    let due = values.compactMap { association in
      association.invitations.own.map { (association: association, own: $0) }
    }.filter { $0.own.deadline <= now }
    return due.sorted { $0.own.command < $1.own.command }.map(\.association)
  }

  /// Returns the association that has asked the driver for something under this number.
  func awaiting(_ id: CodeID) -> Association? { values.first { $0.invitations.awaits(id) } }

  // MARK: Comparisons

  /// Returns the association whose comparison this command waits for.
  func comparing(by command: CommandID) -> Association? { values.first { $0.comparisons.isWanted(by: command) } }

  /// Returns the association whose comparison has asked the driver for something under this number.
  func comparing(awaiting id: CodeID) -> Association? { values.first { $0.comparisons.awaits(id) } }

  /// Returns the association whose link we dialled at one of these addresses.
  func dialled(_ kind: TransportKind, at addresses: [TransportAddress]) -> Association? {
    inOrder.first { association in
      guard let opening = association.link?.opening, opening.dial != nil, opening.traits.kind == kind else {
        return false
      }
      return addresses.contains { $0.kind == kind && $0.leads(to: opening.traits.remoteAddress) }
    }
  }

  // MARK: Handshakes

  /// Returns the association that our hello on this link can name as held. A dialling side does not know the remote
  /// side's incarnation yet, so any association with the remote key may be the right one.
  func held(for link: Link) -> Association? {
    let held = values.filter { association in
      guard association.isDurable else { return false }
      return (link.node ?? link.searchedFor).map { $0 == association.node }
        ?? (association.node.peer == link.opening.peer)
    }
    return held.count == 1 ? held.first : nil
  }

  /// Returns whether there is an association with another node of the same key.
  private func hasOther(than node: NodeID) -> Bool { values.contains { $0.node.peer == node.peer && $0.node != node } }

  /// Returns incoming resources from former runs of the sender that are identical to the resource it offers now. They
  /// stay suspended for a while.
  func formerTransfers(of sender: NodeID, _ offer: ResourceOffer) -> [(
    association: Association, transfer: TransferReceiver
  )] {
    guard !offer.identity.isEmpty else { return [] }
    let former = values.filter { $0.node != sender && $0.node.peer == sender.peer && $0.suspension != nil }
    let transfers = former.flatMap { association in
      association.receiving(offer).map { (association: association, transfer: $0) }
    }
    return transfers.sorted { $0.transfer.id < $1.transfer.id }
  }
}
