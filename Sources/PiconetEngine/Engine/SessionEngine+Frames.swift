import PiconetWire

/// Incoming frames that concern more than their link and its association.
extension SessionEngine {
  mutating func answer(_ request: FrameRequest, on link: Link, _ turn: Turn) throws(Breach) {
    switch request {
    case .hello(let hello): receivedHello(hello, on: link, turn)
    case .associate(let id, let received):
      use(link, associations.use(of: link, associate: id, received, turn), turn)
    case .associated(let received, let begun):
      use(link, associations.use(of: link, associated: received, begun: begun), turn)
    case .invitation(let frame, let association):
      guard admission.admitsInvitation(frame, by: association, over: link, attempts, surroundings, turn) else {
        return end(association, Ending(.notAvailable, .us), told: "", turn)
      }
      let hasRoom = admission.hasRoom(forMember: association.node, associations, turn)
      negotiate(.received(frame, hasRoom: hasRoom), association, turn)
    case .comparison(let word, let association): compare(.received(word), association, turn)
    case .offer(let number, let offer, let association):
      // Releases what a former run of the sender was sending, so that this offer can continue with it.
      for former in associations.formerTransfers(of: association.node, offer) {
        former.association.releaseStore(of: former.transfer, turn)
      }
      association.receivedOffer(number, offer, turn)
    case .removal(let subject, let member):
      follow(removals.remove(subject, for: member, associations, turn), turn)
    case .introduction(let request, let member):
      follow(try introducer.take(request, from: member, surroundings, turn), turn)
    case .listening(let member): introducer.placed(member, surroundings, turn)
    case .groupView(let association):
      admission.viewChanged(of: association.node, turn)
      if association.isMember { introducer.viewChanged(of: association.node, turn) }
    case .tunnelAsked(let number, let target, let association):
      relayed.open(number, to: target, by: association, isShuttingDown: shutdown != nil, associations, turn)
    case .tunnel(let request, let relay): relay.take(request, associations, isWanted: takesTunnels, turn)
    case .leave(let reason, let detail, let association):
      turn.add(.closeLink(link.id, flush: true))
      forget(link, association.endingByLeave(reason, detail), turn)
    case .close(let reason, let detail): receivedClose(reason, detail, on: link, turn)
    case .pong(let token):
      for other in links.waiting(for: token, of: link) { refuse(other, .duplicateLink, "", turn) }
      link.received(pong: token, turn)
    }
  }
}
