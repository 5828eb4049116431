import PiconetWire

/// Links: the handshake, frames on their way in, the end.
extension SessionEngine {
  mutating func opened(_ id: LinkID, _ opening: LinkOpening, _ turn: inout Turn) {
    guard shutdown == nil else {
      turn.add(.closeLink(id, flush: false))
      return
    }
    let link = Link(id: id, opening: opening, at: turn.now, frameLimit: configuration.frameLimit)
    if let dial = opening.dial {
      if let (far, _) = searchDials[dial] {
        guard claim(dial, for: far, link: id, opening, &turn) else { return }
        link.searchedFor = far
      } else if !claim(dial, link: id, opening, &turn) {
        return
      }
    }
    makeRoomForHandshake(&turn)
    links[id] = link
    turn.deadlinesMoved = true
    guard opening.isAdmitted else {
      let told = "this device is not trusted there"
      return end(id, Ending(.identity, .peer, "a stranger, to whom nothing is said"), told: told, &turn)
    }
    if link.isDialler { sendHello(on: id, &turn) }
  }

  private mutating func sendHello(on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    // A dialling side does not know the far side's incarnation yet: an association with any of them may be the one.
    let held = associations.values.filter { association in
      guard association.isDurable else { return false }
      return (link.node ?? link.searchedFor).map { $0 == association.node }
        ?? (association.node.peer == link.opening.peer)
    }
    let hello = Hello(
      incarnation: node.incarnation, name: configuration.name, scope: configuration.scope,
      capabilities: [.resume, .removal, .streams, .typedCodes], limits: ownLimits(on: link.opening.traits),
      associationsBegun: looksPast(link) ? 0 : begun[link.opening.peer],
      held: held.count == 1 ? held.first.map { HeldAssociation(id: $0.id, received: $0.received) } : nil)
    link.queue(.hello(hello))
    turn.flush(id)
  }

  /// The link looks for one node of a key while we have an association with another one: if that answers, our count must not tell it that we
  /// have lost the association.
  private func looksPast(_ link: Link) -> Bool {
    guard let wanted = link.searchedFor else { return false }
    return associations.values.contains { $0.node.peer == wanted.peer && $0.node != wanted }
  }

  mutating func received(_ bytes: Bytes, on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    link.lastReceived = turn.now
    link.pingedAt = nil
    link.association?.counts.received.bytes &+= UInt64(truncatingIfNeeded: bytes.count)
    link.decoder.push(bytes)
    guard let association = link.association else { return decode(link, &turn) }
    let moved = association.movedCount
    turn.readCount = bytes.count
    decode(link, &turn)
    if association.movedCount != moved { association.lastMoved = turn.now }
  }

  /// Looks at frames until there is no whole one, the link is gone, or the driver has to answer first.
  mutating func decode(_ link: Link, _ turn: inout Turn) {
    do throws(WireError) {
      while !link.isDecodingPaused, !link.isForgotten, let frame = try link.decoder.next() {
        // Messages are what there is most of: they pass by everything that they can't concern.
        if case .message(let bytes) = frame, let association = link.association {
          messageCame(bytes, to: association, on: link.id, &turn)
        } else {
          handle(frame, on: link.id, &turn)
        }
      }
    } catch {
      return breach(link.id, .protocolBroken, "\(error)", &turn)
    }
    if link.isForgotten { return }
    if link.isDecodingPaused, link.decoder.bufferedCount > Link.pausedLimit {
      breach(link.id, .limitExceeded, "too many bytes during the handshake", &turn)
    } else if link.control.count > link.controlLimit {
      breach(link.id, .limitExceeded, "asks for more answers than it takes", &turn)
    }
  }

  private mutating func handle(_ frame: Frame, on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    guard link.isLegal(frame) else {
      breach(id, .protocolBroken, "frame 0x\([frame.type].hexadecimal) at the wrong time", &turn)
      return
    }
    link.association?.counts.received.count(frame)
    if link.phase == .active, let node = link.node {
      if frame.isSequenced, link.association?.countReceived(bulk: frame.bulkCount) == true { turn.flush(id) }
      if handleAssociationFrame(frame, from: node, on: id, &turn) { return }
    }
    switch frame {
    case .hello(let hello): helloCame(hello, on: id, &turn)
    case .associate(let association, let received): associateCame(association, received, on: id, &turn)
    case .associated(let received, let begun): resumeConfirmed(received, begun, on: id, &turn)
    case .close(let reason, let detail): closeCame(reason, detail, on: id, &turn)
    case .ping(let token):
      links[id]?.queue(.pong(token))
      turn.flush(id)
    case .pong(let token): pongCame(token, on: link, &turn)
    default: break
    }
  }

  private mutating func helloCame(_ hello: Hello, on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    guard hello.versions.overlaps(Hello.supportedVersions) else {
      refuse(id, .version, "versions \(hello.versions) and \(Hello.supportedVersions)", &turn)
      return
    }
    guard hello.scope.utf8.elementsEqual(configuration.scope.utf8) else {
      refuse(id, .wrongSession, "", &turn)
      return
    }
    let far = NodeID(peer: link.opening.peer, incarnation: hello.incarnation)
    guard far != node else {
      refuse(id, .selfConnection, "this is our own address", &turn)
      return
    }
    links[id]?.node = far
    links[id]?.hello = hello
    // Our own hello, which holds nothing any more, would tell that we have lost the association.
    if !link.isDialler, let reason = farewells.reason(for: far, holding: hello.held?.id, at: turn.now) {
      refuse(id, reason, "", &turn)
      return
    }
    guard admits(far, on: link) else {
      // Who holds an association has come for that one, and must learn that it is over.
      refuse(id, hello.held.map { reasonGone(far, $0.id, turn.now) } ?? .notAvailable, "", &turn)
      return
    }
    if let wanted = link.searchedFor, wanted != far {
      otherAnswered(wanted, on: link, &turn)
      refuse(id, .duplicateLink, "the node that was looked for is not here", &turn)
      return
    }
    if !link.isDialler { sendHello(on: id, &turn) }
    link.phase = .awaitingTrust
    turn.add(.judgeTrust(id, far, name: hello.name, isDialled: link.isDialler))
  }

  /// Whether the node may come in by this link: anybody while we are open; otherwise whom we have dialled or invite, and who has an
  /// association with us.
  private func admits(_ far: NodeID, on link: Link) -> Bool {
    associations[far] != nil || admitsStranger(far, on: link)
  }

  /// The same for a node that has no association with us.
  func admitsStranger(_ far: NodeID, on link: Link) -> Bool {
    isOpen || link.isDialler || attempts.contains { $0.node == far }
  }

  mutating func judged(_ id: LinkID, _ judgement: TrustJudgement, _ turn: inout Turn) {
    guard let link = links[id], link.phase == .awaitingTrust else { return }
    if case .refused(let reason, let detail, let told) = judgement {
      end(id, Ending(reason, .peer, detail), told: told, &turn)
      // Of a peer that we have dialled the attempt's own end tells.
      if !link.isDialler, let far = link.node, let untold = refusals.take(at: turn.now) {
        let name = link.hello?.name ?? ""
        turn.deliver(
          .peerRefused(far, name: name, link.opening.traits, Ending(reason, .peer, detail), untold: untold))
      }
      // Whoever is not let in any more has no association either.
      if let far = link.node { end(association: far, Ending(reason, .peer, detail), told: told, &turn) }
      return
    }
    links[id]?.judgement = judgement
    links[id]?.phase = .ready
    ready(id, &turn)
    decode(link, &turn)
  }

  private mutating func closeCame(
    _ reason: Reason, _ detail: String, on id: LinkID, _ turn: inout Turn
  ) {
    let blame: Blame =
      switch reason {
      case .protocolBroken, .limitExceeded, .identity, .selfConnection: .us
      case .duplicateLink: .nobody
      case .timedOut, .linkFailed: .link
      default: .peer
      }
    turn.add(.closeLink(id, flush: false))
    let link = links[id]
    var ending = reason == .noSuchAssociation ? Self.lostThere : Ending(reason, blame, detail)
    if reason == .removed, let far = link?.node ?? link?.searchedFor, let association = associations[far] {
      // Who removes for another member has said so before; a goodbye that is said late does not tell.
      ending.by = association.removedBy ?? (association.suspension == nil ? far : nil)
    }
    forget(id, ending, isOnlyLink: Self.endsOnlyLink(reason), &turn)
    // The far side has no association with us any more, or does not want one: no other link will bring it back.
    if let far = link?.node ?? link?.searchedFor, associations[far]?.suspension != nil,
      Self.endsSuspended.contains(reason)
    {
      end(association: far, ending, &turn)
    }
  }

  /// Reasons with which a link is closed that was to carry on an association which is over.
  private static let endsSuspended: Set<Reason> = [.noSuchAssociation, .identity, .left, .removed, .shuttingDown]

  /// Reasons with which one side closes a link that is dead, or that it does not use; with any other the association ends, too.
  static func endsOnlyLink(_ reason: Reason) -> Bool {
    reason == .timedOut || reason == .linkFailed || reason == .duplicateLink
  }

  mutating func closed(_ id: LinkID, _ end: LinkEnd, _ turn: inout Turn) {
    guard links[id] != nil else { return }
    let ending =
      switch end {
      case .ended: Ending(.linkFailed, .peer, "the other side closed the connection")
      case .failed(let failure): Ending(.linkFailed, .link, "\(failure)")
      case .insecure(let failure): Ending(.linkFailed, .link, "TLS: \(failure)")
      }
    forget(id, ending, isOnlyLink: true, &turn)
  }

  /// We end the link in good order and tell the far side why; nobody broke a rule.
  mutating func refuse(
    _ id: LinkID, _ reason: Reason, _ detail: String, _ turn: inout Turn
  ) {
    let blame: Blame = reason == .selfConnection ? .us : reason == .duplicateLink ? .nobody : .peer
    end(id, Ending(reason, blame, detail), &turn)
  }

  /// The far side broke a rule: the link ends, and its association with it.
  mutating func breach(
    _ id: LinkID, _ reason: Reason, _ detail: String, _ turn: inout Turn
  ) {
    end(id, Ending(reason, .peer, detail), &turn)
  }

  /// Tells the far side the reason, closes the link and forgets it.
  /// - Parameters:
  ///   - told: what the far side is told instead of the ending's own words.
  ///   - isOnlyLink: an association on it goes on without it.
  mutating func end(
    _ id: LinkID, _ ending: Ending, told: String? = nil, isOnlyLink: Bool = false, _ turn: inout Turn
  ) {
    guard links[id] != nil else { return }
    links[id]?.queue(.close(ending.reason, detail: told ?? ending.detail))
    handOver(id, &turn)
    turn.add(.closeLink(id, flush: true))
    forget(id, ending, isOnlyLink: isOnlyLink, &turn)
  }

  /// Forgets the link and ends what lived by it.
  /// - Parameter isOnlyLink: an association on it goes on without it, if it can.
  mutating func forget(
    _ id: LinkID, _ ending: Ending, isOnlyLink: Bool = false, _ turn: inout Turn
  ) {
    guard let link = links.removeValue(forKey: id) else { return }
    link.isForgotten = true
    link.association = nil
    turn.forget(id)
    if let far = link.node, let association = associations[far], association.link == id {
      if isOnlyLink, outlives(association, ending) {
        suspend(association, on: link, ending, &turn)
      } else {
        endAssociation(far, ending, &turn)
      }
    }
    searchLinkEnded(link, &turn)
    pingsLostLink(link, ending, &turn)
    linkEnded(id, node: link.node, ending, &turn)
  }

  /// Hands all queued control frames of a link to the driver, whatever the window: the link is about to close.
  private mutating func handOver(_ id: LinkID, _ turn: inout Turn) {
    guard let bytes = links[id]?.control, !bytes.isEmpty else { return }
    links[id]?.control = []
    links[id]?.outstanding += bytes.count
    links[id]?.lastSent = turn.now
    turn.add(.transmit(id, bytes[...]))
  }

  mutating func transmitted(_ count: Int, on id: LinkID, _ turn: inout Turn) {
    guard let link = links[id] else { return }
    link.outstanding = max(0, link.outstanding - count)
    link.association?.counts.sent.bytes &+= UInt64(truncatingIfNeeded: count)
    if link.waitsForRoom { turn.flush(id) }
  }
}
