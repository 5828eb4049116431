import PiconetWire

/// Associations: begun on a ready link, ended with a reason.
extension SessionEngine {
  /// The handshake of a link is complete. The node with the smaller id decides what becomes of it, so that two nodes that
  /// dial each other at once keep the same one of the two links.
  mutating func ready(_ id: LinkID, _ now: Instant, _ effects: inout [Effect]) {
    guard let link = links[id], let far = link.node, let hello = link.hello, node < far else { return }
    if let former = associations[far] {
      if goesOn(former, on: link, hello) {
        resume(former, on: link, now, &effects)
        return
      }
      if waits(link, beside: former, now) { return }
      // A hello that counts this association but does not hold it came from a node that has lost it. One that does not even
      // count it was sent before our `associate` arrived: the far side has dialled us as we dialled it.
      guard hello.held?.id != former.id, let counted = former.farBegun, hello.associationsBegun >= counted else {
        refuse(id, .duplicateLink, "", now, &effects)
        return
      }
      end(association: far, Self.lostThere, now, &effects)
    }
    if link.searchedFor != nil {
      refuse(id, reasonGone(far, hello.held?.id, now), "", now, &effects)
      return
    }
    if !link.isDialler, farewells.reason(for: far, holding: hello.held?.id, at: now) != nil {
      refuse(id, reasonGone(far, hello.held?.id, now), "", now, &effects)
      return
    }
    guard admitsStranger(far, on: link) else {
      refuse(id, .notAvailable, "", now, &effects)
      return
    }
    guard makeRoomForAssociation(with: far, on: link, now, &effects) else {
      refuse(id, .full, "\(configuration.associationLimit) associations", now, &effects)
      return
    }
    let association = AssociationID(high: random.next(), low: random.next())
    links[id]?.queue(.associate(association, received: 0))
    dirty.insert(id)
    begin(association, on: id, now, &effects)
  }

  mutating func associateCame(
    _ association: AssociationID, _ received: UInt64, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let link = links[id], let far = link.node else { return }
    guard far < node else {
      breach(id, .protocolBroken, "associate from the node with the larger id", now, &effects)
      return
    }
    if let former = associations[far], former.id == association {
      takeOver(former, received, on: link, now, &effects)
      return
    }
    guard received == 0, farewells.reason(for: far, holding: association, at: now) == nil else {
      refuse(id, reasonGone(far, association, now), "", now, &effects)
      return
    }
    end(association: far, Self.lostThere, now, &effects)
    if link.searchedFor != nil {
      // We had nothing else to say to it.
      refuse(id, reasonGone(far, link.hello?.held?.id, now), "", now, &effects)
      return
    }
    guard admitsStranger(far, on: link) else {
      refuse(id, .notAvailable, "", now, &effects)
      return
    }
    guard makeRoomForAssociation(with: far, on: link, now, &effects) else {
      refuse(id, .full, "\(configuration.associationLimit) associations", now, &effects)
      return
    }
    links[id]?.queue(.associated(received: 0, begun: begun[far.peer] + 1))
    dirty.insert(id)
    begin(association, on: id, now, &effects)
  }

  /// Nobody is a member, invited, about to be, or leaving.
  func isUnused(_ association: Association) -> Bool {
    association.isIdle && association.leaving == nil
      && !attempts.contains { $0.node == association.node && $0.isWithPeer }
  }

  private mutating func begin(
    _ id: AssociationID, on link: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let ready = links[link], let far = ready.node, let hello = ready.hello else { return }
    begun.increment(far.peer)
    ready.phase = .active
    timesChanged = true
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
      isDurable: hello.capabilities.contains(.resume), keeping: KeepingLimits(configuration), at: now)
    association.capabilities = hello.capabilities
    association.judgement = ready.judgement
    association.streams.isSupported = hello.capabilities.contains(.streams)
    association.streams.limit = hello.limits.streams
    association.streams.outgoingWindow = hello.limits.streamWindow
    association.streams.incomingWindow = UInt64(firstStreamWindow(on: ready.opening.traits))
    associations[far] = association
    ready.association = association
    association.dialled = addressesDialled(for: ready)
    associationBegan(far, now, &effects)
  }

  /// Frames of an active association.
  /// - Returns: false for a frame that is the link's own.
  mutating func handleAssociationFrame(
    _ frame: Frame, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) -> Bool {
    switch frame {
    case .fragment(let bytes): fragmentCame(bytes, from: far, on: id, now, &effects)
    case .unreliableMessage(let number, let bytes): unreliableCame(number, bytes, from: far, on: id, now, &effects)
    case .acknowledge(let received):
      guard let association = associations[far], received <= association.sent else {
        breach(id, .protocolBroken, "acknowledges frames that were not sent", now, &effects)
        return true
      }
      association.acknowledged(upTo: received)
      // Messages may have waited for the room.
      if association.waitsForAcknowledgement { dirty.insert(id) }
    case .messageCredit(let limit):
      if let current = associations[far]?.outbox.limit { associations[far]?.outbox.limit = max(current, limit) }
      dirty.insert(id)
    case .associated(_, let count):
      // In answer to a new association. That to a resumed one comes before the link is active.
      guard node < far, associations[far]?.farBegun == nil else {
        breach(id, .protocolBroken, "associated twice, or without an associate", now, &effects)
        return true
      }
      associations[far]?.farBegun = count
    case .invite(let invite): inviteCame(invite, from: far, on: id, now, &effects)
    case .accept: acceptCame(from: far, on: id, now, &effects)
    case .decline(let reason, let detail): declineCame(reason, detail, from: far, on: id, now, &effects)
    case .withdraw(let reason): withdrawCame(reason, from: far, now, &effects)
    case .codeNonce(let nonce): codeNonceCame(nonce, from: far, on: id, now, &effects)
    case .codeReveal(let nonce): codeRevealCame(nonce, from: far, on: id, now, &effects)
    case .inviteByCode(let invite): inviteByCodeCame(invite, from: far, on: id, now, &effects)
    case .codeAnswer(let answer): codeAnswerCame(answer, from: far, on: id, now, &effects)
    case .codeConfirm(let confirmation): codeConfirmCame(confirmation, from: far, on: id, now, &effects)
    case .codeConfirmed: codeConfirmedCame(from: far, on: id, now, &effects)
    case .removeMember(let subject, _): removeMemberCame(subject, from: far, on: id, now, &effects)
    case .removed(let member): removedCame(member, from: far, on: id, now, &effects)
    case .leave(let reason, let detail): leaveCame(reason, detail, from: far, on: id, now, &effects)
    case .chunk, .position, .transferCredit, .end, .offer, .acceptOffer, .declineOffer, .stored, .present, .restart,
      .comparing, .abandon, .refuse, .senderPaused, .receiverPaused:
      handleTransferFrame(frame, from: far, on: id, now, &effects)
    case .openStream, .streamData, .endStream, .resetStream, .streamCredit, .stopStream, .streamDone:
      handleStreamFrame(frame, from: far, on: id, now, &effects)
    default: return false
    }
    return true
  }

  /// A whole message, or the last fragment of one.
  mutating func messageCame(
    _ bytes: Bytes, to association: Association, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    association.counts.received.messages.add(bytes: TrafficCount.frameCount(bytes.count))
    if association.countReceived(bulk: bytes.count) { dirty.insert(id) }
    do throws(InboxBreach) {
      guard let message = try association.take(bytes, messageLimit: configuration.messageLimit) else { return }
      if arrived?.node == association.node {
        arrived?.messages.append(message)
      } else {
        flushArrived(&effects)
        arrived = (association.node, [message])
      }
    } catch {
      breach(id, error, now, &effects)
    }
  }

  private mutating func fragmentCame(
    _ bytes: Bytes, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    do throws(InboxBreach) {
      if associations[far]?.dropsMemberFrames == true { return }
      guard associations[far]?.isMember == true else { throw InboxBreach.notMember }
      try associations[far]?.inbox.fragment(bytes, messageLimit: configuration.messageLimit)
    } catch {
      breach(id, error, now, &effects)
    }
  }

  private mutating func breach(
    _ id: LinkID, _ breach: InboxBreach, _ now: Instant, _ effects: inout [Effect]
  ) {
    switch breach {
    case .notMember:
      self.breach(id, .protocolBroken, "a message before the invitation was accepted", now, &effects)
    case .credit: self.breach(id, .limitExceeded, "more messages than the credit allows", now, &effects)
    case .messageLimit:
      self.breach(
        id, .limitExceeded, "a message above the limit of \(configuration.messageLimit) bytes", now, &effects)
    }
  }

  private mutating func leaveCame(
    _ reason: Reason, _ detail: String, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    // Of a leave and a removal that cross, the removal counts on both sides.
    let leaving = associations[far]?.leaving
    let isOurs = leaving?.isTold == true && (reason != .removed || leaving?.reason == .removed)
    effects.append(.closeLink(id, flush: true))
    let by = reason == .removed ? associations[far]?.removedBy ?? far : nil
    forget(id, Ending(reason, isOurs ? .nobody : .peer, detail, by: by), now, &effects)
  }

  /// Ends all that the association carried. Its link is closed by the caller.
  mutating func endAssociation(_ far: NodeID, _ ending: Ending, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations.removeValue(forKey: far) else { return }
    endSearch(association, &effects)
    timesChanged = true
    var ending = ending
    // Its farewell took too long, so that only the link's end told why: whoever ended it has said so.
    if ending.reason == .removed, ending.blame != .peer, ending.by == nil { ending.by = node }
    // Whoever has said goodbye is not told of a failed link: the far side's closing is what it waited for.
    if let leaving = association.leaving, leaving.isTold, ending.reason != .removed || leaving.reason == .removed {
      ending = Ending(leaving.reason, .nobody, by: leaving.by)
    }
    noteFarewell(to: association, ending, now)
    for transfer in association.outgoing.values.sorted() + association.outgoingOrder {
      drop(outgoing: transfer, ending, &effects)
    }
    for transfer in association.incoming.values.sorted() { drop(incoming: transfer, ending, &effects) }
    dropStreams(of: association, ending, &effects)
    // Before both sides have compared the code, this is one try of it.
    let brokenOff = association.exchange?.isTry == true ? Self.brokenOff(ending) : ending
    questions.remove(far)
    endExchange(of: association, brokenOff, now, &effects)
    endProof(
      of: association, Ending(.wrongCode, ending.blame, "the attempt broke off: \(ending)"), isAnswered: false, now,
      &effects)
    if association.invitation?.isDelivered == true { deliver(.invitationEnded(far, brokenOff), &effects) }
    if let command = association.invitation?.acceptance?.command { reply(command, .failed(brokenOff), &effects) }
    if association.isMember { deliver(.disconnected(far, ending), &effects) }
    attemptsLostAssociation(far, brokenOff, &effects)
    if let command = association.leaving?.command { reply(command, .done, &effects) }
  }
}
