import PiconetWire

/// Incoming frames that concern more than their link and its association.
extension SessionEngine {
  mutating func received(_ bytes: Bytes, on link: Link, _ turn: Turn) {
    link.received(bytes, turn)
    guard let association = link.association else { return decode(link, turn) }
    let moved = association.movedCount
    decode(link, turn)
    if association.movedCount != moved { association.moved(turn.now) }
  }

  /// Decodes frames until no whole one is left, the link is gone, or the driver has to answer first.
  mutating func decode(_ link: Link, _ turn: Turn) {
    do throws(Breach) {
      while let request = try link.takeReceived(turn) { try answer(request, on: link, turn) }
    } catch {
      breach(link, error, turn)
    }
  }

  private mutating func answer(_ request: FrameRequest, on link: Link, _ turn: Turn) throws(Breach) {
    switch request {
    case .hello(let hello): receivedHello(hello, on: link, turn)
    case .associate(let id, let received):
      use(link, associations.use(of: link, associate: id, received, turn), turn)
    case .associated(let received, let begun):
      use(link, associations.use(of: link, associated: received, begun: begun), turn)
    case .invitation(let frame, let association):
      guard admission.admitsInvitation(frame, by: association, over: link, surroundings, turn) else {
        return end(association, Ending(.notAvailable, .us), told: "", turn)
      }
      let hasRoom = admission.hasRoom(forMember: association.node, associations, turn)
      negotiate(.received(frame, hasRoom: hasRoom), association, turn)
    case .offer(let number, let offer, let association):
      // Releases the store of what a former run of the sender was sending, so that this offer can go on with it.
      for former in associations.formerTransfers(of: association.node, offer) {
        former.association.releaseStore(of: former.transfer, turn)
      }
      association.receivedOffer(number, offer, turn)
    case .removal(let subject, let member):
      follow(removals.remove(subject, for: member, associations, turn), turn)
    case .introduction(let introduction, let association):
      follow(turn.introduced.received(introduction, by: association, surroundings, turn), turn)
    case .askedIntroduction(let subject, let association):
      introducer.asked(for: subject, by: association, surroundings, turn)
    case .groupView(let association):
      turn.placesChanged()
      if association.isMember { introducer.viewChanged(of: association.node, turn) }
    case .withdrawnIntroduction(let subject, let reason, let association):
      follow(turn.introduced.withdrawn(subject, reason, by: association, associations, turn), turn)
    case .introductionAnswer(let subject, let ending, let association):
      try introducer.answered(by: association, about: subject, ending, associations, turn)
    case .tunnelAsked(let number, let target, let association):
      relayed.open(number, to: target, by: association, isShuttingDown: shutdown != nil, associations, turn)
    case .tunnelOffered(let number, let remote, let relays, let association):
      associations.takeTunnel(
        number, from: remote, relays: relays, over: association, isWanted: takesTunnels, turn)
    case .tunnelOpened(let id, let remote, let relays, let association):
      turn.add(.tunnelOpened(id, associations.route(to: remote, over: association, relays: relays)))
    case .leave(let reason, let detail, let association):
      turn.add(.closeLink(link.id, flush: true))
      forget(link, association.endingByLeave(reason, detail), turn)
    case .close(let reason, let detail): receivedClose(reason, detail, on: link, turn)
    case .pong(let token):
      // Links that wait to replace the active one are refused.
      if link.phase == .active {
        for other in links.waiting(for: token, of: link.node) { refuse(other, .duplicateLink, "", turn) }
      }
      link.received(pong: token, turn)
    }
  }
}
