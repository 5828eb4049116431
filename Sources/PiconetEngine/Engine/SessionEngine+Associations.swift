import PiconetWire

/// Associations: begun on a ready link, ended with a reason.
extension SessionEngine {
  /// The handshake of a link is complete. The node with the smaller id decides what becomes of it, so that two nodes that
  /// dial each other at once keep the same one of the two links.
  mutating func ready(_ id: LinkID, _ turn: inout Turn) {
    guard let link = links[id], let far = link.node, let hello = link.hello, node < far else { return }
    if let former = associations[far] {
      if goesOn(former, on: link, hello) {
        resume(former, on: link, &turn)
        return
      }
      if waits(link, beside: former, &turn) { return }
      // A hello that counts this association but does not hold it came from a node that has lost it. One that does not even
      // count it was sent before our `associate` arrived: the far side has dialled us as we dialled it.
      guard hello.held?.id != former.id, let counted = former.farBegun, hello.associationsBegun >= counted else {
        refuse(id, .duplicateLink, "", &turn)
        return
      }
      end(association: far, Self.lostThere, &turn)
    }
    if link.searchedFor != nil {
      refuse(id, reasonGone(far, hello.held?.id, turn.now), "", &turn)
      return
    }
    if !link.isDialler, farewells.reason(for: far, holding: hello.held?.id, at: turn.now) != nil {
      refuse(id, reasonGone(far, hello.held?.id, turn.now), "", &turn)
      return
    }
    guard admitsStranger(far, on: link) else {
      refuse(id, .notAvailable, "", &turn)
      return
    }
    guard makeRoomForAssociation(with: far, on: link, &turn) else {
      refuse(id, .full, "\(configuration.associationLimit) associations", &turn)
      return
    }
    let association = AssociationID(high: random.next(), low: random.next())
    links[id]?.queue(.associate(association, received: 0))
    turn.flush(id)
    begin(association, on: id, &turn)
  }

  mutating func associateCame(
    _ association: AssociationID, _ received: UInt64, on id: LinkID, _ turn: inout Turn
  ) {
    guard let link = links[id], let far = link.node else { return }
    guard far < node else {
      breach(id, .protocolBroken, "associate from the node with the larger id", &turn)
      return
    }
    if let former = associations[far], former.id == association {
      takeOver(former, received, on: link, &turn)
      return
    }
    guard received == 0, farewells.reason(for: far, holding: association, at: turn.now) == nil else {
      refuse(id, reasonGone(far, association, turn.now), "", &turn)
      return
    }
    end(association: far, Self.lostThere, &turn)
    if link.searchedFor != nil {
      // We had nothing else to say to it.
      refuse(id, reasonGone(far, link.hello?.held?.id, turn.now), "", &turn)
      return
    }
    guard admitsStranger(far, on: link) else {
      refuse(id, .notAvailable, "", &turn)
      return
    }
    guard makeRoomForAssociation(with: far, on: link, &turn) else {
      refuse(id, .full, "\(configuration.associationLimit) associations", &turn)
      return
    }
    links[id]?.queue(.associated(received: 0, begun: begun[far.peer] + 1))
    turn.flush(id)
    begin(association, on: id, &turn)
  }

  /// Nobody is a member, invited, about to be, or leaving.
  func isUnused(_ association: Association) -> Bool {
    association.isIdle && association.leaving == nil
      && !attempts.contains { $0.node == association.node && $0.isWithPeer }
  }

  private mutating func begin(
    _ id: AssociationID, on link: LinkID, _ turn: inout Turn
  ) {
    guard let ready = links[link], let far = ready.node, let hello = ready.hello else { return }
    begun.increment(far.peer)
    ready.phase = .active
    turn.deadlinesMoved = true
    let limit = min(configuration.messageLimit, Int(clamping: hello.limits.message))
    let peer = ProvenPeer(
      node: far, name: hello.name, traits: ready.opening.traits, association: id,
      isKnown: ready.judgement == .known, messageLimit: limit,
      unreliableLimit: min(
        limit, configuration.frameLimit - Self.unreliableNumberCount,
        Int(clamping: hello.limits.frame) - Self.unreliableNumberCount))
    // Our windows are made for frames of our own limit: a longer one, legal for the far side, might never fit into them.
    var limits = hello.limits
    limits.frame = min(limits.frame, UInt64(configuration.frameLimit))
    let association = Association(
      id: id, node: far, link: link, peer: peer, limits: limits, window: messageWindow(on: ready.opening.traits),
      isDurable: hello.capabilities.contains(.resume), keeping: KeepingLimits(configuration), at: turn.now)
    association.capabilities = hello.capabilities
    association.judgement = ready.judgement
    association.streams.isSupported = hello.capabilities.contains(.streams)
    association.streams.limit = hello.limits.streams
    association.streams.outgoingWindow = hello.limits.streamWindow
    association.streams.incomingWindow = UInt64(firstStreamWindow(on: ready.opening.traits))
    associations[far] = association
    ready.association = association
    association.dialled = addressesDialled(for: ready)
    associationBegan(far, &turn)
  }

  /// Frames of an active association.
  /// - Returns: false for a frame that is the link's own.
  mutating func handleAssociationFrame(
    _ frame: Frame, from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) -> Bool {
    switch frame {
    case .fragment(let bytes): fragmentCame(bytes, from: far, on: id, &turn)
    case .unreliableMessage(let number, let bytes): unreliableCame(number, bytes, from: far, on: id, &turn)
    case .acknowledge(let received):
      guard let association = associations[far], received <= association.sent else {
        breach(id, .protocolBroken, "acknowledges frames that were not sent", &turn)
        return true
      }
      association.acknowledged(upTo: received)
      // Messages may have waited for the room.
      if association.waitsForAcknowledgement { turn.flush(id) }
    case .messageCredit(let limit):
      if let current = associations[far]?.outbox.limit { associations[far]?.outbox.limit = max(current, limit) }
      turn.flush(id)
    case .associated(_, let count):
      // In answer to a new association. That to a resumed one comes before the link is active.
      guard node < far, associations[far]?.farBegun == nil else {
        breach(id, .protocolBroken, "associated twice, or without an associate", &turn)
        return true
      }
      associations[far]?.farBegun = count
    case .invite(let invite): inviteCame(invite, from: far, on: id, &turn)
    case .accept: acceptCame(from: far, on: id, &turn)
    case .decline(let reason, let detail): declineCame(reason, detail, from: far, on: id, &turn)
    case .withdraw(let reason): withdrawCame(reason, from: far, &turn)
    case .codeNonce(let nonce): codeNonceCame(nonce, from: far, on: id, &turn)
    case .codeReveal(let nonce): codeRevealCame(nonce, from: far, on: id, &turn)
    case .inviteByCode(let invite): inviteByCodeCame(invite, from: far, on: id, &turn)
    case .codeAnswer(let answer): codeAnswerCame(answer, from: far, on: id, &turn)
    case .codeConfirm(let confirmation): codeConfirmCame(confirmation, from: far, on: id, &turn)
    case .codeConfirmed: codeConfirmedCame(from: far, on: id, &turn)
    case .removeMember(let subject, _): removeMemberCame(subject, from: far, on: id, &turn)
    case .removed(let member): removedCame(member, from: far, on: id, &turn)
    case .leave(let reason, let detail): leaveCame(reason, detail, from: far, on: id, &turn)
    case .chunk, .position, .transferCredit, .end, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart,
      .comparing, .abandon, .refuse, .senderPaused, .receiverPaused:
      handleTransferFrame(frame, from: far, on: id, &turn)
    case .openStream, .streamData, .endStream, .resetStream, .streamCredit, .stopStream, .streamDone:
      handleStreamFrame(frame, from: far, on: id, &turn)
    default: return false
    }
    return true
  }

  /// A whole message, or the last fragment of one.
  mutating func messageCame(
    _ bytes: Bytes, to association: Association, on id: LinkID, _ turn: inout Turn
  ) {
    association.counts.received.messages.add(bytes: TrafficCount.frameCount(bytes.count))
    if association.countReceived(bulk: bytes.count) { turn.flush(id) }
    do throws(InboxBreach) {
      guard let message = try association.take(bytes, messageLimit: configuration.messageLimit) else { return }
      turn.arrived(message, from: association.node)
    } catch {
      breach(id, error, &turn)
    }
  }

  private mutating func fragmentCame(
    _ bytes: Bytes, from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) {
    do throws(InboxBreach) {
      if associations[far]?.dropsMemberFrames == true { return }
      guard associations[far]?.isMember == true else { throw InboxBreach.notMember }
      try associations[far]?.inbox.fragment(bytes, messageLimit: configuration.messageLimit)
    } catch {
      breach(id, error, &turn)
    }
  }

  private mutating func breach(
    _ id: LinkID, _ breach: InboxBreach, _ turn: inout Turn
  ) {
    switch breach {
    case .notMember:
      self.breach(id, .protocolBroken, "a message before the invitation was accepted", &turn)
    case .credit: self.breach(id, .limitExceeded, "more messages than the credit allows", &turn)
    case .messageLimit:
      self.breach(
        id, .limitExceeded, "a message above the limit of \(configuration.messageLimit) bytes", &turn)
    }
  }

  private mutating func leaveCame(
    _ reason: Reason, _ detail: String, from far: NodeID, on id: LinkID, _ turn: inout Turn
  ) {
    // Of a leave and a removal that cross, the removal counts on both sides.
    let leaving = associations[far]?.leaving
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    turn.add(.closeLink(id, flush: true))
    let by = reason == .removed ? associations[far]?.removedBy ?? far : nil
    forget(id, Ending(reason, isOurs ? .nobody : .peer, detail, by: by), &turn)
  }

  /// Ends all that the association carried. Its link is closed by the caller.
  mutating func endAssociation(_ far: NodeID, _ ending: Ending, _ turn: inout Turn) {
    guard let association = associations.removeValue(forKey: far) else { return }
    endSearch(association, &turn)
    turn.deadlinesMoved = true
    var ending = ending
    // Its farewell took too long, so that only the link's end told why: whoever ended it has said so.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // Whoever has said goodbye is not told of a failed link: the far side's closing is what it waited for.
    if let leaving = association.leaving, leaving.isTold, ending.reason != .removed || leaving.reason == .removed {
      ending = Ending(leaving.reason, .nobody, by: leaving.by)
    }
    noteFarewell(to: association, ending, turn.now)
    for transfer in association.outgoing.values.sorted() + association.outgoingOrder {
      drop(outgoing: transfer, ending, &turn)
    }
    for transfer in association.incoming.values.sorted() { drop(incoming: transfer, ending, &turn) }
    dropStreams(of: association, ending, &turn)
    // Before both sides have compared the code, this is one try of it.
    let brokenOff = association.exchange?.isTry == true ? Self.brokenOff(ending) : ending
    questions.remove(far)
    endExchange(of: association, brokenOff, &turn)
    endProof(
      of: association, Ending(.wrongCode, ending.blame, "the attempt broke off: \(ending)"), isAnswered: false, &turn)
    if association.invitation?.isDelivered == true { turn.deliver(.invitationEnded(far, brokenOff)) }
    if let command = association.invitation?.acceptance?.command { turn.reply(command, .failed(brokenOff)) }
    if association.isMember { turn.deliver(.disconnected(far, ending)) }
    attemptsLostAssociation(far, brokenOff, &turn)
    if let command = association.leaving?.command { turn.reply(command, .done) }
  }
}
