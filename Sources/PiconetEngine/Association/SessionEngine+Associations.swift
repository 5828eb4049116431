import PiconetWire

/// Associations: begun on a ready link, ended with a reason.
extension SessionEngine {
  /// The handshake of a link is complete. The node with the smaller id decides what becomes of it, so that two nodes
  /// that dial each other at once keep the same one of the two links.
  mutating func ready(_ link: Link, _ turn: Turn) {
    guard let remote = link.node, let hello = link.hello, node < remote, !link.isForgotten else { return }
    if let former = associations[remote] {
      switch former.use(of: link, hello) {
      case .resume: return resume(former, on: link, turn)
      case .wait: return former.probe(for: link, turn)
      case .refuse: return refuse(link, .duplicateLink, "", turn)
      case .begin: end(former, Association.lostByPeer, turn)
      }
    }
    let held = hello.held?.id
    let hasParted = !link.isDialler && associations.farewell(to: remote, holding: held, at: turn.now) != nil
    if link.searchedFor != nil || hasParted {
      return refuse(link, associations.reasonGone(remote, holding: held, at: turn.now), "", turn)
    }
    guard mayBegin(with: remote, on: link, turn) else { return }
    let id = AssociationID(high: turn.random.next(), low: turn.random.next())
    link.queue(.associate(id, received: 0))
    turn.flush(link)
    begin(id, on: link, turn)
  }

  mutating func receivedAssociate(_ id: AssociationID, _ received: UInt64, on link: Link, _ turn: Turn) {
    guard let remote = link.node else { return }
    guard remote < node else {
      return breach(link, Breach("associate from the node with the larger id"), turn)
    }
    let former = associations[remote]
    if let former, former.id == id { return takeOver(former, received, on: link, turn) }
    guard received == 0, associations.farewell(to: remote, holding: id, at: turn.now) == nil else {
      return refuse(link, associations.reasonGone(remote, holding: id, at: turn.now), "", turn)
    }
    if let former { end(former, Association.lostByPeer, turn) }
    // We dialled this link only to resume an association, and there is none to resume.
    if link.searchedFor != nil {
      return refuse(link, associations.reasonGone(remote, holding: link.hello?.held?.id, at: turn.now), "", turn)
    }
    guard mayBegin(with: remote, on: link, turn) else { return }
    link.queue(.associated(received: 0, begun: associations.begunCount(with: remote.peer) + 1))
    turn.flush(link)
    begin(id, on: link, turn)
  }

  /// - Returns: false where the link was refused.
  private mutating func mayBegin(with remote: NodeID, on link: Link, _ turn: Turn) -> Bool {
    guard admission.admitsStranger(remote, over: link, attempts, ways, turn) else {
      refuse(link, .notAvailable, "", turn)
      return false
    }
    guard makeRoomForAssociation(with: remote, turn) else {
      refuse(link, .full, "\(configuration.associationLimit) associations", turn)
      return false
    }
    return true
  }

  private mutating func begin(_ id: AssociationID, on link: Link, _ turn: Turn) {
    guard let remote = link.node, let hello = link.hello else { return }
    let association = Association(
      id: id, node: remote, of: node, on: link, hello, configuration, watch, at: turn.now)
    associations.append(association)
    link.activate(association)
    association.dialled(at: attempts.addressesDialled(for: link))
    associationBegan(association, turn)
  }

  /// Ends an association, its link if it has one, and all that it carried.
  /// - Parameter told: the detail that the remote side is told instead of the ending's own.
  mutating func end(_ association: Association, _ ending: Ending, told: String? = nil, _ turn: Turn) {
    // With the link, its association is concluded.
    if let link = association.link { end(link, ending, told: told, turn) } else { conclude(association, ending, turn) }
  }

  /// The end of an association, which has no link any more.
  mutating func conclude(_ association: Association, _ ending: Ending, _ turn: Turn) {
    if association.isOver { return }
    let ending = association.ending(of: ending, seenBy: node)
    let farewell = shutdown == nil ? association.farewell(after: ending, turn.now) : nil
    associations.remove(association, saying: farewell, at: turn.now)
    association.end(ending, turn)
    endIntroductions(with: association, ending, turn)
  }

  /// Ends the associations for which more is kept than may be.
  mutating func endCrowded(_ turn: Turn) {
    for remote in turn.takeCrowded() {
      if let association = associations[remote] { end(association, association.endOfCrowded, turn) }
    }
  }
}
