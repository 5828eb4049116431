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
      while let request = try link.takeReceived(turn) { answer(request, on: link, turn) }
    } catch {
      breach(link, error, turn)
    }
  }

  private mutating func answer(_ request: FrameRequest, on link: Link, _ turn: Turn) {
    switch request {
    case .hello(let hello): receivedHello(hello, on: link, turn)
    case .associate(let id, let received): receivedAssociate(id, received, on: link, turn)
    case .associated(let received, let begun): receivedAssociated(received, begun, on: link, turn)
    case .invitation(let frame, let association):
      guard admission.admitsInvitation(frame, by: association, over: link, attempts, ways, turn) else {
        return end(association, Ending(.notAvailable, .us), told: "", turn)
      }
      let hasRoom = hasRoom(forMember: association.node, turn)
      negotiate(.received(frame, hasRoom: hasRoom), association, turn)
    case .offer(let number, let offer, let association):
      // Releases the store of what a former run of the sender was sending, so that this offer can go on with it.
      for former in associations.formerTransfers(of: association.node, offer) {
        former.association.releaseStore(of: former.transfer, turn)
      }
      association.receivedOffer(number, offer, turn)
    case .removal(let subject, let member): remove(subject, for: member, turn)
    case .introduction(let introduction, let association): received(introduction, from: association, turn)
    case .askedIntroduction(let subject, let association):
      introducer.asked(for: subject, by: association, surroundings, turn)
    case .groupView(let association): groupViewChanged(of: association, turn)
    case .withdrawnIntroduction(let subject, let reason, let association):
      follow(turn.introduced.withdrawn(subject, reason, by: association, turn), turn)
    case .introductionAnswer(let subject, let ending, let association):
      do throws(Breach) {
        try introducer.answered(by: association, about: subject, ending, associations, turn)
      } catch {
        breach(link, error, turn)
      }
    case .tunnelAsked(let number, let target, let association): asked(number, to: target, by: association, turn)
    case .tunnelOffered(let number, let remote, let relays, let association):
      offered(number, from: remote, relays: relays, over: association, turn)
    case .tunnelOpened(let id, let remote, let relays, let association):
      turn.add(.tunnelOpened(id, associations.route(to: remote, over: association, relays: relays)))
    case .leave(let reason, let detail, let association):
      receivedLeave(reason, detail, from: association, on: link, turn)
    case .close(let reason, let detail): receivedClose(reason, detail, on: link, turn)
    case .pong(let token):
      probeAnswered(token, on: link, turn)
      link.received(pong: token, turn)
    }
  }
}
