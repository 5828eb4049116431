import PiconetWire

/// What happens to a link between two nodes, depending on the association that each of them has.
enum LinkUse {
  /// We ask the remote side to continue this association here.
  case resume(Association)
  /// The link waits until it is known whether the association's own link still works.
  case wait(Association)
  /// The remote side wants to continue this association here, and has received so many of its frames.
  case takeOver(Association, received: UInt64)
  /// The remote side continues this association here, as we have asked it to.
  case goOn(Association, received: UInt64)
  /// An association may begin here, named by the remote side or by us. The remote side has lost the former association,
  /// which ends first.
  case begin(AssociationID?, former: Association?)
  /// The link is of no use. The remote side has lost the association, which ends first.
  case refuse(Reason, former: Association?)
  /// The remote side has broken a rule, which ends this association too.
  case breach(Breach, Association?)
}

// MARK: - Decisions

extension AssociationTable {
  /// Decides what happens to a link whose handshake is complete. The node with the smaller id decides. Two nodes that
  /// dial each other at once then keep the same one of the two links.
  /// - Returns: nil if the remote side decides.
  func use(ofReady link: Link, _ turn: Turn) -> LinkUse? {
    guard let remote = link.node, let hello = link.hello, turn.node < remote, !link.isForgotten else { return nil }
    let former = self[remote]
    if let use = former?.use(of: link, hello) { return use }
    let held = hello.held?.id
    let hasParted = !link.isDialler && farewell(to: remote, holding: held, at: turn.now) != nil
    if link.searchedFor != nil || hasParted {
      return .refuse(reasonGone(remote, holding: held, at: turn.now), former: former)
    }
    return .begin(nil, former: former)
  }

  /// Decides what happens to a link that has waited in vain for a sign of life on the active one.
  func use(ofWaiting link: Link, _ turn: Turn) -> LinkUse? {
    link.endProbe()
    guard let remote = link.node, let association = self[remote], association.link?.phase == .active else { return nil }
    // The association may have ended meanwhile, and another one begun.
    return link.hello?.held?.id == association.id ? .resume(association) : use(ofReady: link, turn)
  }

  /// Decides what happens to a link on which the smaller node has named an association.
  func use(of link: Link, associate id: AssociationID, _ received: UInt64, _ turn: Turn) -> LinkUse? {
    guard let remote = link.node else { return nil }
    guard remote < turn.node else { return .breach(Breach("associate from the node with the larger id"), nil) }
    let former = self[remote]
    if let former, former.id == id {
      if received == 0, former.wasBegunLate(on: link) { return .refuse(.duplicateLink, former: nil) }
      return former.use(receivedThere: received) ?? .takeOver(former, received: received)
    }
    guard received == 0, farewell(to: remote, holding: id, at: turn.now) == nil else {
      return .refuse(reasonGone(remote, holding: id, at: turn.now), former: nil)
    }
    // We dialled this link only to resume an association, and no such association exists.
    if link.searchedFor != nil {
      return .refuse(reasonGone(remote, holding: link.hello?.held?.id, at: turn.now), former: former)
    }
    return .begin(id, former: former)
  }

  /// Decides what happens to a link on which the remote side has answered our request to resume an association.
  func use(of link: Link, associated received: UInt64, begun: UInt64) -> LinkUse? {
    guard link.phase == .resuming, let remote = link.node else { return nil }
    return self[remote]?.use(of: link, resumedAt: received, begun: begun)
  }
}

extension Association {
  /// Decides what happens to another link whose handshake is complete. Only the smaller node decides.
  /// - Returns: nil if the remote side has lost the association, and another one may begin.
  fileprivate func use(of link: Link, _ hello: Hello) -> LinkUse? {
    if goesOn(on: link, hello) { return .resume(self) }
    let isHeld = hello.held?.id == id
    if isDurable, isHeld, self.link != nil { return .wait(self) }
    // A hello that counts this association but does not hold it came from a node that has lost it. A hello that does
    // not even count it was sent before our `associate` arrived: the two nodes dialled each other at once.
    guard !isHeld, let counted = remoteBegun, hello.associationsBegun >= counted else {
      return .refuse(.duplicateLink, former: nil)
    }
    return nil
  }

  /// Returns whether the remote side began the association on this link before it moved to another one, and we learn of
  /// that late. In that case neither hello here names the association, and the remote side has named it in a later
  /// hello. Frames that follow here were sent again on the other link.
  fileprivate func wasBegunLate(on link: Link) -> Bool {
    isNamedThere && link.hello?.held?.id != id && link.named != id
  }

  /// Returns whether the association is to continue over this link, whose handshake is complete.
  private func goesOn(on link: Link, _ hello: Hello) -> Bool {
    guard isDurable, hello.capabilities.contains(.resume) else { return false }
    let isHeld = hello.held?.id == id
    guard let current = self.link else {
      // A hello that does not even count the association was sent before the remote side had it.
      return isHeld || remoteBegun.map { hello.associationsBegun < $0 } ?? true
    }
    return isHeld && current.phase == .active && isBetter(link, than: current)
  }

  /// Decides what happens to a link on which the remote side continues an association and has received this many of its
  /// frames. It is this association, unless the remote side has begun another one or has started over.
  fileprivate func use(of link: Link, resumedAt received: UInt64, begun: UInt64) -> LinkUse {
    if let remoteBegun, remoteBegun != begun { return .refuse(.noSuchAssociation, former: self) }
    if let use = use(receivedThere: received) { return use }
    confirmed(begun: begun, received, on: link)
    return .goOn(self, received: received)
  }

  /// Returns why the association can't be resumed when the remote side has received this many of our frames; nil if it
  /// can.
  fileprivate func use(receivedThere received: UInt64) -> LinkUse? {
    guard isDurable, received <= sequenced.sent else {
      return .breach(Breach("has received frames that were not sent"), self)
    }
    return received >= sequenced.acknowledged ? nil : .refuse(.noSuchAssociation, former: self)
  }
}
