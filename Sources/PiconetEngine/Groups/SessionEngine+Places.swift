import PiconetWire

/// Places of a group: asked for on the way to membership, told to members, and given up when there are too many.
extension SessionEngine {
  private var isGroup: Bool { configuration.membership == .group }

  // MARK: Admission

  /// Whether this node needs a place of the group as a member. One that is in no group needs one of our session only.
  func takesGroupPlace(_ newcomer: NodeID) -> Bool { isGroup && associations[newcomer]?.isOfGroup != false }

  /// Whether this node can become a member.
  func hasRoom(forMember newcomer: NodeID, _ turn: Turn) -> Bool {
    takesGroupPlace(newcomer)
      ? places.hasPlace(for: newcomer, associations, turn.introduced, at: turn.now)
      : admission.hasRoom(forMember: newcomer, associations, at: turn.now)
  }

  /// Whether a node that a member introduces could become a member: what a member has, others may have, too.
  func hasRoom(forIntroduced subject: NodeID, _ turn: Turn) -> Bool {
    isGroup
      ? places.hasPlace(forKin: subject, associations, at: turn.now)
      : admission.hasRoom(forMember: subject, associations, at: turn.now)
  }

  /// How an invitation of ours ends if there is no place; nil if there is one.
  /// - Parameter newcomer: nil: an address where anybody may answer.
  func full(for newcomer: NodeID?, _ turn: Turn) -> Ending? {
    guard isGroup else { return admission.full(associations) }
    return places.hasPlace(for: newcomer, associations, turn.introduced, at: turn.now) ? nil : configuration.full
  }

  /// Whether there is no place for the node of the association that waits for the driver's answer.
  func isFull(awaiting id: CodeID, _ turn: Turn) -> Bool {
    guard isGroup else { return admission.isFull(associations) }
    return associations.awaiting(id).map { !hasRoom(forMember: $0.node, turn) } ?? false
  }

  /// What is told of our group to a node before we invite it or accept its invitation.
  func stateView(_ turn: Turn) {
    if isGroup { turn.groupView = places.view(associations, reserved: true) }
  }

  // MARK: Changes

  mutating func groupViewChanged(of association: Association, _ turn: Turn) {
    turn.placesChanged()
    if association.isMember { introducer.viewChanged(of: association.node, turn) }
  }

  mutating func settlePlaces(_ turn: Turn) {
    guard turn.takePlacesChanged(), isGroup, shutdown == nil else { return }
    places.changed(associations, at: turn.now)
  }

  mutating func placesDeadline(_ turn: Turn) {
    guard isGroup else { return }
    places.tellMembers(associations, turn)
    for remote in places.takeParting(associations, at: turn.now) { leave(nil, remote, .full, turn) }
    turn.placesChanged()
  }
}
