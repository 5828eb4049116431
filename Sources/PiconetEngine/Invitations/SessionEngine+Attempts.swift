import PiconetWire

/// Invitations of ours: dial, link, confirm, invite; one reply.
extension SessionEngine {
  mutating func invite(
    _ id: CommandID, _ target: InvitationTarget, _ context: [UInt8], _ timeout: Duration, _ code: TypedCodeID?,
    _ now: Instant, _ effects: inout [Effect]
  ) {
    var addresses: [TransportAddress] = []
    var far: NodeID?
    var expected: PeerID?
    switch target {
    case .node(let node):
      far = node
      expected = node.peer
      addresses = discovery.summary(of: node)?.addresses ?? []
    case .addresses(let given, let peer):
      expected = peer
      addresses = given
    }
    if let refusal = refusalOfInvitation(to: far, context, hasAddresses: !addresses.isEmpty) {
      reply(id, .failed(refusal), &effects)
      return
    }
    let race = ConnectRace(
      addresses: addresses, preference: configuration.transports, headStart: configuration.transportHeadStart)
    timesChanged = true
    attempts.append(
      InvitationAttempt(
        command: id, node: far, expectedPeer: expected, context: context, code: code,
        deadline: now + timeout, race: race))
    if let far { tell(conditions.attemptBegan(far, name: nil), &effects) }
    if let far, associations[far] != nil {
      proceed(attempts.count - 1, with: far, now, &effects)
    } else {
      dialNext(id, now, &effects)
    }
  }

  private func refusalOfInvitation(to far: NodeID?, _ context: [UInt8], hasAddresses: Bool) -> Ending? {
    if context.count > WireLimits.context {
      return Ending(.limitExceeded, .us, "the context has \(context.count) bytes; the limit is \(WireLimits.context)")
    }
    if attempts.count >= InvitationAttempt.limit {
      return Ending(.limitExceeded, .us, "\(InvitationAttempt.limit) invitations are under way")
    }
    if memberCount >= configuration.capacity {
      return Ending(.full, .us, "the session has \(configuration.capacity) members")
    }
    guard let far else { return hasAddresses ? nil : Ending(.unreachable, .us, "no address was given") }
    if far == node { return Ending(.selfConnection, .us) }
    if attempts.contains(where: { $0.node == far }) { return Ending(.inProgress, .us) }
    if let association = associations[far] {
      if association.isMember { return Ending(.alreadyConnected, .us) }
      return association.leaving == nil ? nil : Ending(.inProgress, .us, "we are leaving this peer")
    }
    return hasAddresses ? nil : Ending(.unreachable, .link, "the peer is not in sight")
  }

  /// Members of the session, ourselves included.
  var memberCount: Int { 1 + associations.values.count { $0.isMember } }

  // MARK: Dialling

  private mutating func dialNext(_ command: CommandID, _ now: Instant, _ effects: inout [Effect]) {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else { return }
    while attempts[index].phase == .dialling, let (kind, addresses) = attempts[index].race.next(at: now) {
      let dial = DialID(rawValue: nextDial)
      nextDial += 1
      dials[dial] = (command, kind)
      effects.append(.dial(dial, kind, addresses))
    }
    guard attempts[index].race.isLost, attempts[index].phase == .dialling else { return }
    let race = attempts[index].race
    if let far = attempts[index].node, links.values.contains(where: { $0.node == far }) {
      // The far side has dialled us meanwhile; its link may do.
      attempts[index].phase = .linking(nil)
      return
    }
    if let wrongKey = attempts[index].wrongKey {
      fail(command, wrongKey, &effects)
      return
    }
    let failure =
      race.failures.isEmpty ? "no transport for the peer's addresses" : ConnectRace.describe(race.failures)
    fail(command, Ending(.unreachable, .link, failure), &effects)
  }

  mutating func dialFailed(_ dial: DialID, _ failure: LinkFailure, _ now: Instant, _ effects: inout [Effect]) {
    guard let (command, kind) = dials.removeValue(forKey: dial),
      let index = attempts.firstIndex(where: { $0.command == command })
    else { return }
    attempts[index].race.failed(kind, failure)
    timesChanged = true
    if failure.code == .busy, attempts[index].phase == .dialling,
      let far = associationDialled(kind, attempts[index].race.addresses)
    {
      if let expected = attempts[index].expectedPeer, expected != far.peer {
        attempts[index].wrongKey = Self.wrongKey(expected, found: far.peer)
        dialNext(command, now, &effects)
        return
      }
      meet(index, far, &effects)
      proceed(index, with: far, now, &effects)
      return
    }
    dialNext(command, now, &effects)
  }

  /// The node with which we hold an association over a link that we dialled at one of these addresses. Where a device takes but one
  /// connection to a number, as with RFCOMM, that link is what keeps the address busy.
  private func associationDialled(_ kind: TransportKind, _ addresses: [TransportAddress]) -> NodeID? {
    for association in associations.values.sorted(by: { $0.node < $1.node }) {
      guard let opening = links[association.link]?.opening, opening.dial != nil, opening.traits.kind == kind
      else { continue }
      if addresses.contains(where: { $0.kind == kind && $0.leads(to: opening.traits.remoteAddress) }) {
        return association.node
      }
    }
    return nil
  }

  private static func wrongKey(_ expected: PeerID, found: PeerID) -> Ending {
    Ending(.identity, .peer, "expected \(expected.shortDescription), but \(found.shortDescription) answers there")
  }

  private mutating func cancelDials(of command: CommandID, _ effects: inout [Effect]) {
    for dial in dials.keys.sorted() where dials[dial]?.command == command {
      dials[dial] = nil
      effects.append(.cancelDial(dial))
    }
  }

  /// A link that we dialled is open.
  /// - Returns: false if nobody waits for it any more, or it leads to somebody else; it is closed then.
  mutating func claim(
    _ dial: DialID, link: LinkID, _ opening: LinkOpening, _ now: Instant, _ effects: inout [Effect]
  ) -> Bool {
    guard let (command, kind) = dials.removeValue(forKey: dial),
      let index = attempts.firstIndex(where: { $0.command == command })
    else {
      effects.append(.closeLink(link, flush: false))
      return false
    }
    if let expected = attempts[index].expectedPeer, expected != opening.peer {
      effects.append(.closeLink(link, flush: false))
      let wrongKey = Self.wrongKey(expected, found: opening.peer)
      attempts[index].wrongKey = wrongKey
      let address = opening.traits.remoteAddress
      attempts[index].race.answeredByStranger(
        kind, at: address, LinkFailure(.authentication, "\(address): \(wrongKey.detail)"))
      timesChanged = true
      dialNext(command, now, &effects)
      return false
    }
    cancelDials(of: command, &effects)
    if attempts[index].phase == .dialling { attempts[index].phase = .linking(link) }
    return true
  }

  // MARK: Linking

  /// An association has begun: whoever waits for its node goes on with it.
  mutating func associationBegan(_ far: NodeID, _ now: Instant, _ effects: inout [Effect]) {
    guard let link = associations[far]?.link else { return }
    for index in attempts.indices {
      if attempts[index].phase == .linking(link) { meet(index, far, &effects) }
    }
    guard
      let index = attempts.firstIndex(where: { attempt in
        guard attempt.node == far else { return false }
        switch attempt.phase {
        case .dialling, .linking: return true
        case .drawing, .sharing, .invited, .proving, .proven, .answering: return false
        }
      })
    else { return }
    let first = attempts[index].command
    proceed(index, with: far, now, &effects)
    // Two attempts by address may meet at one node: the later one is answered.
    for other in attempts where other.node == far && other.command != first && !other.isWithPeer {
      fail(other.command, Ending(.inProgress, .us), &effects)
    }
  }

  private mutating func proceed(
    _ index: Int, with far: NodeID, _ now: Instant, _ effects: inout [Effect]
  ) {
    cancelDials(of: attempts[index].command, &effects)
    guard let association = associations[far] else { return }
    let isTaken = attempts.contains { attempt in
      attempt.node == far && attempt.command != attempts[index].command && attempt.isWithPeer
    }
    if association.isMember || association.leaving != nil || isTaken {
      let reason: Reason = association.isMember ? .alreadyConnected : .inProgress
      fail(attempts[index].command, Ending(reason, .us), &effects)
      return
    }
    if association.judgement != .known,
      let blocked = tries.blocked(far.peer, at: association.peer.traits.remoteHost, now)
    {
      fail(attempts[index].command, Ending(.limitExceeded, .us, blocked.words), &effects)
      return
    }
    if let code = attempts[index].code {
      proceedByCode(index, code, association, now, &effects)
    } else if association.invitation != nil {
      answer(byAttempt: index, association, now, &effects)
    } else {
      drawNonce(forAttempt: index, &effects)
    }
  }

  mutating func sendInvite(_ index: Int, to far: NodeID, _ now: Instant, _ effects: inout [Effect]) {
    let attempt = attempts[index]
    guard let association = associations[far], let nonce = attempt.nonce else { return }
    guard memberCount < configuration.capacity else {
      // Others became members while we dialled.
      fail(
        attempt.command, Ending(.full, .us, "the session has \(configuration.capacity) members"), &effects)
      idleFrom(now, far)
      return
    }
    guard association.unanswered.count < WireLimits.unansweredInvitations else {
      let detail =
        "\(association.unanswered.count) invitations to this peer have no answer; the limit is \(WireLimits.unansweredInvitations)"
      fail(attempt.command, Ending(.limitExceeded, .us, detail), &effects)
      return
    }
    let terms: InvitationTerms = association.judgement == .ask ? .comparesCodes : []
    attempts[index].phase = .invited
    association.unanswered.append(SentInvitation(command: attempt.command, terms: terms))
    let left = max(0, (attempt.deadline - now).wholeNanoseconds / 1_000_000)
    send(
      .invite(
        Invite(timeout: UInt64(left), terms: terms, commitment: nonce.commitment, context: attempt.context[...])),
      to: far)
    deliver(.invitationSent(attempt.command, association.peer), &effects)
  }

  /// A link is gone. An attempt that waited for it goes on if something else may still bring the node.
  mutating func linkEnded(
    _ id: LinkID, node far: NodeID?, _ ending: Ending, _ now: Instant, _ effects: inout [Effect]
  ) {
    for attempt in attempts where attempt.phase == .linking(id) {
      guard let index = attempts.firstIndex(where: { $0.command == attempt.command }) else { continue }
      let target = far ?? attempt.node
      let hasOther = target.map { target in
        associations[target] != nil || links.values.contains { $0.node == target && $0.id != id }
      }
      if let target, associations[target] != nil {
        meet(index, target, &effects)
        proceed(index, with: target, now, &effects)
      } else if ending.reason == .duplicateLink || hasOther == true {
        if let target { meet(index, target, &effects) }
        attempts[index].phase = .linking(nil)
      } else {
        fail(attempt.command, ending, &effects)
      }
    }
    // Attempts that wait for any link of the node fail with the last one.
    for attempt in attempts where attempt.phase == .linking(nil) {
      guard let target = attempt.node, target == far, ending.reason != .duplicateLink,
        associations[target] == nil, !links.values.contains(where: { $0.node == target })
      else { continue }
      fail(attempt.command, ending, &effects)
    }
  }

  mutating func attemptsLostAssociation(_ far: NodeID, _ ending: Ending, _ effects: inout [Effect]) {
    for attempt in attempts where attempt.node == far && attempt.isWithPeer { fail(attempt.command, ending, &effects) }
  }

  /// The node that an attempt by address leads to is known.
  private mutating func meet(_ index: Int, _ far: NodeID, _ effects: inout [Effect]) {
    let former = attempts[index].node
    attempts[index].node = far
    guard former != far else { return }
    if let former { tell(conditions.attemptEnded(former, Ending(.restarted, .peer)), &effects) }
    tell(conditions.attemptBegan(far, name: associations[far]?.peer.name), &effects)
  }

  // MARK: The end of an attempt

  /// Ends an attempt before its answer: by the caller, or by time.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ now: Instant, _ effects: inout [Effect]) {
    guard let attempt = attempts.first(where: { $0.command == command }) else { return }
    var ending = ending
    if ending.reason == .timedOut, attempt.isWithPeer,
      attempt.node.flatMap({ associations[$0]?.exchange })?.isTry == true
    {
      ending = Self.brokenOff(ending)
    }
    if attempt.isWithPeer, let far = attempt.node, let association = associations[far] {
      if let index = association.unanswered.firstIndex(where: { $0.command == command }) {
        association.unanswered[index].command = nil
        send(.withdraw(ending.reason), to: far)
      } else if attempt.phase == .invited, attempt.code == nil {
        // Accepted, and not compared yet.
        send(.withdraw(ending.reason), to: far)
      }
      if attempt.phase == .answering {
        breakOff(association, ending, now, &effects)
      } else {
        endExchange(of: association, ending, now, &effects)
      }
      idleFrom(now, far)
    } else if case .linking(let link?) = attempt.phase {
      fail(command, ending, &effects)
      if links[link]?.phase != .active { end(link, ending, now, &effects) }
      return
    }
    fail(command, ending, &effects)
  }

  mutating func fail(_ command: CommandID, _ ending: Ending, _ effects: inout [Effect]) {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else { return }
    let attempt = attempts.remove(at: index)
    timesChanged = true
    cancelDials(of: command, &effects)
    if let proof = attempt.proof { effects.append(.proveCode(proof, .end)) }
    var ending = ending
    if ending.failures.isEmpty { ending.failures = attempt.race.failures }
    reply(command, .failed(ending), &effects)
    if let far = attempt.node { tell(conditions.attemptEnded(far, ending), &effects) }
  }

  mutating func attemptDeadlines(_ now: Instant, _ effects: inout [Effect]) {
    for attempt in attempts {
      if attempt.deadline <= now {
        let failures = attempt.phase == .dialling ? attempt.race.failuresInTime : attempt.race.failures
        withdraw(
          attempt.command, Ending(.timedOut, .peer, ConnectRace.describe(failures), failures: failures), now, &effects)
      } else if attempt.phase == .dialling {
        dialNext(attempt.command, now, &effects)
      }
    }
  }
}
