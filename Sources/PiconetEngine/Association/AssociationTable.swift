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
