import PiconetWire

/// Associations: begun on a ready link, moved to another one, and ended with a reason.
extension SessionEngine {
  // MARK: Links

  /// Carries out what `AssociationTable` has decided about a link.
  mutating func use(_ link: Link, _ use: LinkUse?, _ turn: Turn) {
    switch use {
    case .wait(let association): association.probe(for: link, turn)
    case .resume(let association):
      leave(linkOf: association, for: link, turn)
      link.askToResume(association, turn)
    case .takeOver(let association, let received):
      leave(linkOf: association, for: link, turn)
      let begun = associations.begunCount(with: association.node.peer)
      link.queue(.associated(received: association.receivedCount, begun: begun))
      resume(association, received, on: link, turn)
    case .goOn(let association, let received):
      resume(association, received, on: link, turn)
      for other in links.ready(to: association.node) { refuse(other, .duplicateLink, "", turn) }
    case .begin(let id, let former):
      if let former { end(former, Association.lostByPeer, turn) }
      begin(id, on: link, turn)
    case .refuse(let reason, let former):
      if let former { end(former, Association.lostByPeer, turn) }
      refuse(link, reason, "", turn)
    case .breach(let breach, let association):
      self.breach(link, breach, turn)
      if let association { end(association, Ending(breach.reason, .peer), turn) }
    case nil: break
    }
  }

  private mutating func begin(_ id: AssociationID?, on link: Link, _ turn: Turn) {
    guard let remote = link.node else { return }
    guard admission.admitsStranger(remote, over: link, attempts, surroundings, turn) else {
      return refuse(link, .notAvailable, "", turn)
    }
    guard make(admission.roomForAssociation(ofKey: remote.peer, associations, attempts), turn) else {
      return refuse(link, .full, "\(configuration.associationLimit) associations", turn)
    }
    guard let association = associations.begin(id, on: link, configuration, watch, turn) else { return }
    association.dialled(at: attempts.addressesDialled(for: link))
    associationBegan(association, turn)
  }

  /// Moves the association to another link. Data that still arrives on the previous link does not count.
  private mutating func leave(linkOf association: Association, for link: Link, _ turn: Turn) {
    if let former = association.take(link) { end(former, Ending(.duplicateLink, .nobody), turn) }
    association.detach(turn)
  }

  private mutating func resume(_ association: Association, _ received: UInt64, on link: Link, _ turn: Turn) {
    let dialled = attempts.addressesDialled(for: link)
    association.resume(on: link, remoteHas: received, dialled: dialled, surroundings, turn)
    associationBegan(association, turn)
  }

  /// - Returns: whether there is room now; an association may have been ended for it.
  mutating func make(_ room: Admission.Room, _ turn: Turn) -> Bool {
    if case .after(let association, let ending) = room { end(association, ending, turn) }
    return room.isFound
  }

  // MARK: The end

  /// Leaves a peer. Everything sent before the goodbye still goes out, and nothing new begins. The remote side closes
  /// the link when it receives the goodbye.
  mutating func leave(_ id: CommandID?, _ remote: NodeID, _ reason: Reason, by: NodeID? = nil, _ turn: Turn) {
    if let association = associations[remote], association.leaving == nil {
      let ending = Ending(reason, .us, by: by)
      if association.leave(ending, command: id, turn) { return }
      end(association, ending, turn)
    }
    if let id { turn.reply(id, .done) }
  }

  /// Ends an association, its link if it has one, and all that it carried.
  /// - Parameter told: the detail that the remote side is told instead of the ending's own.
  mutating func end(_ association: Association, _ ending: Ending, told: String? = nil, _ turn: Turn) {
    // With the link, its association is concluded.
    if let link = association.link { end(link, ending, told: told, turn) } else { conclude(association, ending, turn) }
  }

  /// Concludes an association that has no link any more.
  mutating func conclude(_ association: Association, _ ending: Ending, _ turn: Turn) {
    if association.isOver { return }
    let ending = associations.conclude(association, ending, isRemembered: shutdown == nil, turn)
    if ending.reason == .removed, ending.blame == .peer, shutdown == nil { removals.removed(by: association, turn) }
    endIntroductions(with: association, ending, turn)
  }

  /// Ends the associations that keep more unacknowledged data than allowed.
  mutating func endCrowded(_ turn: Turn) {
    for remote in turn.takeCrowded() {
      if let association = associations[remote] { end(association, association.endOfCrowded, turn) }
    }
  }
}
