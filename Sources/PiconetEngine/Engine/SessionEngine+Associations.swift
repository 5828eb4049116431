import PiconetWire

/// Associations: begun on a ready link, ended with a reason.
extension SessionEngine {
  /// The handshake of a link is complete. The node with the smaller id decides what becomes of it, so that two nodes that
  /// dial each other at once keep the same one of the two links.
  mutating func ready(_ id: LinkID, _ now: Instant, _ effects: inout [Effect]) {
    guard let link = links[id], let far = link.node, let hello = link.hello, node < far else { return }
    if let former = associations[far] {
      // A hello that counts this association but does not hold it came from a node that has lost it. One that does not even
      // count it was sent before our `associate` arrived: the far side has dialled us as we dialled it.
      guard hello.held?.id != former.id, let counted = former.farBegun, hello.associationsBegun >= counted else {
        refuse(id, .duplicateLink, "", now, &effects)
        return
      }
      end(former.link, Ending(.linkFailed, .link, "the other side lost the connection"), now, &effects)
    }
    guard makeRoomForAssociation(now, &effects) else {
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
    guard received == 0 else {
      refuse(id, .noSuchAssociation, "", now, &effects)
      return
    }
    if let former = associations[far] {
      end(former.link, Ending(.linkFailed, .link, "the other side lost the connection"), now, &effects)
    }
    guard makeRoomForAssociation(now, &effects) else {
      refuse(id, .full, "\(configuration.associationLimit) associations", now, &effects)
      return
    }
    links[id]?.queue(.associated(received: 0, begun: begun[far.peer] + 1))
    dirty.insert(id)
    begin(association, on: id, now, &effects)
  }

  /// Associations that nobody uses must not keep others out: the longest idle of them goes.
  private mutating func makeRoomForAssociation(_ now: Instant, _ effects: inout [Effect]) -> Bool {
    guard associations.count >= configuration.associationLimit else { return true }
    guard
      let idle = associations.values.filter({ isUnused($0) }).min(by: {
        ($0.idleSince, $0.node) < ($1.idleSince, $1.node)
      })
    else { return false }
    end(idle.link, Ending(.idle, .us, "too many associations"), now, &effects)
    return true
  }

  /// Nobody is a member, invited, leaving, or compares codes.
  func isUnused(_ association: Association) -> Bool {
    association.isIdle && association.leaving == nil
      && !attempts.contains { $0.node == association.node && $0.phase == .confirming }
  }

  private mutating func begin(
    _ id: AssociationID, on link: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let ready = links[link], let far = ready.node, let hello = ready.hello else { return }
    begun.increment(far.peer)
    links[link]?.phase = .active
    timesChanged = true
    let limit = min(configuration.messageLimit, Int(clamping: hello.limits.message))
    let peer = ProvenPeer(
      node: far, name: hello.name, traits: ready.opening.traits, code: ready.code,
      isKnown: ready.judgement == .known, messageLimit: limit)
    // Our windows are made for frames of our own limit: a longer one, legal for the far side, might never fit into them.
    var limits = hello.limits
    limits.frame = min(limits.frame, UInt64(configuration.frameLimit))
    let association = Association(
      id: id, node: far, link: link, peer: peer, limits: limits, window: messageWindow(on: ready.opening.traits),
      at: now)
    associations[far] = association
    ready.association = association
    associationBegan(far, now, &effects)
  }

  /// Frames of an active association.
  /// - Returns: false for a frame that is the link's own.
  mutating func handleAssociationFrame(
    _ frame: Frame, from far: NodeID, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) -> Bool {
    switch frame {
    case .fragment(let bytes): fragmentCame(bytes, from: far, on: id, now, &effects)
    case .unreliableMessage(let bytes):
      guard associations[far]?.isMember == true else {
        if associations[far]?.dropsMemberFrames == true { return true }
        breach(id, .protocolBroken, "a message before the invitation was accepted", now, &effects)
        return true
      }
      deliver(.messagesReceived(far, [bytes], .unreliable), &effects)
    case .acknowledge(let received):
      guard let association = associations[far], received <= association.sent else {
        breach(id, .protocolBroken, "acknowledges frames that were not sent", now, &effects)
        return true
      }
      associations[far]?.acknowledged = max(association.acknowledged, received)
    case .messageCredit(let limit):
      if let current = associations[far]?.outbox.limit { associations[far]?.outbox.limit = max(current, limit) }
      dirty.insert(id)
    case .associated(_, let count): associations[far]?.farBegun = count
    case .invite(let timeout, let context): inviteCame(timeout, context, from: far, on: id, now, &effects)
    case .accept: acceptCame(from: far, on: id, now, &effects)
    case .decline(let reason, let detail): declineCame(reason, detail, from: far, on: id, now, &effects)
    case .withdraw(let reason): withdrawCame(reason, from: far, now, &effects)
    case .leave(let reason, let detail): leaveCame(reason, detail, from: far, on: id, now, &effects)
    case .chunk, .position, .transferCredit, .end, .offer, .acceptOffer, .declineOffer, .stored, .abandon, .refuse:
      handleTransferFrame(frame, from: far, on: id, now, &effects)
    default: return false
    }
    return true
  }

  /// A whole message, or the last fragment of one. It counts itself.
  mutating func messageCame(
    _ bytes: Bytes, to association: Association, on id: LinkID, _ now: Instant, _ effects: inout [Effect]
  ) {
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
    let isOurs = associations[far]?.leaving?.isTold == true
    effects.append(.closeLink(id, flush: true))
    forget(id, Ending(reason, isOurs ? .nobody : .peer, detail), now, &effects)
  }

  /// Ends all that the association carried. Its link is closed by the caller.
  mutating func endAssociation(_ far: NodeID, _ ending: Ending, _ now: Instant, _ effects: inout [Effect]) {
    guard let association = associations.removeValue(forKey: far) else { return }
    var ending = ending
    // Whoever has said goodbye is not told of a failed link: the far side's closing is what it waited for.
    if let leaving = association.leaving, leaving.isTold { ending = Ending(leaving.reason, .nobody) }
    for transfer in association.outgoing.values.sorted() + association.outgoingOrder {
      drop(outgoing: transfer, ending, &effects)
    }
    for transfer in association.incoming.values.sorted() { drop(incoming: transfer, ending, &effects) }
    if association.invitationExpires != nil { deliver(.invitationEnded(far, ending), &effects) }
    if association.isMember { deliver(.disconnected(far, ending), &effects) }
    attemptsLostAssociation(far, unanswered: association.unanswered.compactMap { $0 }, ending, &effects)
    if let command = association.leaving?.command { reply(command, .done, &effects) }
  }
}
