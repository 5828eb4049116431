import PiconetWire

/// Invitations of ours: dial, link, confirm, invite; one reply.
extension SessionEngine {
  mutating func invite(
    _ id: CommandID, _ target: InvitationTarget, _ context: [UInt8], _ timeout: Duration, _ code: TypedCodeID?,
    _ turn: Turn
  ) {
    var addresses: [TransportAddress] = []
    var remote: NodeID?
    var expected: PeerID?
    switch target {
    case .node(let node):
      remote = node
      expected = node.peer
      addresses = discovery.summary(of: node)?.addresses ?? []
    case .addresses(let given, let peer):
      expected = peer
      addresses = given
    }
    if let refusal = refusalOfInvitation(to: remote, context, hasAddresses: !addresses.isEmpty) {
      turn.reply(id, .failed(refusal))
      return
    }
    let race = ConnectRace(
      addresses: addresses, preference: configuration.transports, headStart: configuration.transportHeadStart)
    attempts.append(
      InvitationAttempt(
        command: id, node: remote, expectedPeer: expected, context: context, code: code,
        deadline: turn.now + timeout, race: race))
    if let remote { turn.tell(turn.conditions.attemptBegan(remote, name: nil)) }
    if let remote, associations[remote] != nil {
      proceed(attempts.count - 1, with: remote, turn)
    } else {
      dialNext(id, turn)
    }
  }

  private func refusalOfInvitation(to remote: NodeID?, _ context: [UInt8], hasAddresses: Bool) -> Ending? {
    if context.count > WireLimits.context {
      return Ending(.limitExceeded, .us, "the context has \(context.count) bytes; the limit is \(WireLimits.context)")
    }
    if attempts.count >= InvitationAttempt.limit {
      return Ending(.limitExceeded, .us, "\(InvitationAttempt.limit) invitations are under way")
    }
    if memberCount >= configuration.capacity {
      return Ending(.full, .us, "the session has \(configuration.capacity) members")
    }
    guard let remote else { return hasAddresses ? nil : Ending(.unreachable, .us, "no address was given") }
    if remote == node { return Ending(.selfConnection, .us) }
    if attempts.contains(where: { $0.node == remote }) { return Ending(.inProgress, .us) }
    if let association = associations[remote] {
      if association.isMember { return Ending(.alreadyConnected, .us) }
      return association.leaving == nil ? nil : Ending(.inProgress, .us, "we are leaving this peer")
    }
    return hasAddresses ? nil : Ending(.unreachable, .link, "the peer is not in sight")
  }

  /// Members of the session, ourselves included.
  var memberCount: Int { 1 + associations.values.count { $0.isMember } }

  // MARK: Dialling

  private mutating func dialNext(_ command: CommandID, _ turn: Turn) {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else { return }
    while attempts[index].phase == .dialling, let (kind, addresses) = attempts[index].race.next(at: turn.now) {
      turn.dial(kind, addresses, for: .invitation(command))
    }
    guard attempts[index].race.isLost, attempts[index].phase == .dialling else { return }
    let race = attempts[index].race
    if let remote = attempts[index].node, links.values.contains(where: { $0.node == remote }) {
      // The far side has dialled us meanwhile; its link may do.
      attempts[index].phase = .linking(nil)
      return
    }
    if let wrongKey = attempts[index].wrongKey {
      fail(command, wrongKey, turn)
      return
    }
    let failure =
      race.failures.isEmpty ? "no transport for the peer's addresses" : ConnectRace.describe(race.failures)
    fail(command, Ending(.unreachable, .link, failure), turn)
  }

  mutating func dialFailed(
    of command: CommandID, _ kind: TransportKind, _ failure: LinkFailure, _ turn: Turn
  ) {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else { return }
    attempts[index].race.failed(kind, failure)
    if failure.code == .busy, attempts[index].phase == .dialling,
      let remote = associationDialled(kind, attempts[index].race.addresses)
    {
      if let expected = attempts[index].expectedPeer, expected != remote.peer {
        attempts[index].wrongKey = Self.wrongKey(expected, found: remote.peer)
        dialNext(command, turn)
        return
      }
      meet(index, remote, turn)
      proceed(index, with: remote, turn)
      return
    }
    dialNext(command, turn)
  }

  /// The node with which we hold an association over a link that we dialled at one of these addresses. Where a device
  /// takes but one connection to a number, as with RFCOMM, that link is what keeps the address busy.
  private func associationDialled(_ kind: TransportKind, _ addresses: [TransportAddress]) -> NodeID? {
    for association in associations.values.sorted(by: { $0.node < $1.node }) {
      guard let opening = association.link?.opening, opening.dial != nil, opening.traits.kind == kind
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

  /// A link that we dialled is open.
  /// - Returns: false if nobody waits for it any more, or it leads to somebody else; it is closed then.
  mutating func claim(
    _ link: Link, for command: CommandID, _ kind: TransportKind, _ turn: Turn
  ) -> Bool {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else {
      turn.add(.closeLink(link.id, flush: false))
      return false
    }
    if let expected = attempts[index].expectedPeer, expected != link.opening.peer {
      turn.add(.closeLink(link.id, flush: false))
      let wrongKey = Self.wrongKey(expected, found: link.opening.peer)
      attempts[index].wrongKey = wrongKey
      let address = link.opening.traits.remoteAddress
      attempts[index].race.answeredByStranger(
        kind, at: address, LinkFailure(.authentication, "\(address): \(wrongKey.detail)"))
      dialNext(command, turn)
      return false
    }
    turn.cancelDials(for: .invitation(command))
    if attempts[index].phase == .dialling { attempts[index].phase = .linking(link.id) }
    return true
  }

  // MARK: Linking

  /// An association has begun: whoever waits for its node goes on with it.
  mutating func associationBegan(_ association: Association, _ turn: Turn) {
    guard let link = association.link?.id else { return }
    let remote = association.node
    for index in attempts.indices {
      if attempts[index].phase == .linking(link) { meet(index, remote, turn) }
    }
    guard
      let index = attempts.firstIndex(where: { attempt in
        guard attempt.node == remote else { return false }
        switch attempt.phase {
        case .dialling, .linking: return true
        case .drawing, .sharing, .invited, .proving, .proven, .answering: return false
        }
      })
    else { return }
    let first = attempts[index].command
    proceed(index, with: remote, turn)
    // Two attempts by address may meet at one node: the later one is answered.
    for other in attempts where other.node == remote && other.command != first && !other.isWithPeer {
      fail(other.command, Ending(.inProgress, .us), turn)
    }
  }

  private mutating func proceed(
    _ index: Int, with remote: NodeID, _ turn: Turn
  ) {
    turn.cancelDials(for: .invitation(attempts[index].command))
    guard let association = associations[remote] else { return }
    let isTaken = attempts.contains { attempt in
      attempt.node == remote && attempt.command != attempts[index].command && attempt.isWithPeer
    }
    if association.isMember || association.leaving != nil || isTaken {
      let reason: Reason = association.isMember ? .alreadyConnected : .inProgress
      fail(attempts[index].command, Ending(reason, .us), turn)
      return
    }
    if association.judgement != .known,
      let blocked = tries.blocked(remote.peer, at: association.peer.traits.remoteHost, turn.now)
    {
      fail(attempts[index].command, Ending(.limitExceeded, .us, blocked.words), turn)
      return
    }
    if let code = attempts[index].code {
      proceedByCode(index, code, association, turn)
    } else if let invitation = association.invitation {
      guard invitation.acceptance == nil else {
        // We have accepted, and only the inviter's person compares yet.
        return fail(attempts[index].command, Ending(.inProgress, .us), turn)
      }
      answer(byAttempt: index, association, turn)
    } else {
      drawNonce(forAttempt: index, turn)
    }
  }

  mutating func sendInvite(_ index: Int, to remote: NodeID, _ turn: Turn) {
    let attempt = attempts[index]
    guard let association = associations[remote], let nonce = attempt.nonce else { return }
    guard memberCount < configuration.capacity else {
      // Others became members while we dialled.
      fail(
        attempt.command, Ending(.full, .us, "the session has \(configuration.capacity) members"), turn)
      idleFrom(remote, turn)
      return
    }
    guard association.unanswered.count < WireLimits.unansweredInvitations else {
      let detail =
        "\(association.unanswered.count) invitations to this peer have no answer; the limit is \(WireLimits.unansweredInvitations)"
      fail(attempt.command, Ending(.limitExceeded, .us, detail), turn)
      return
    }
    let terms: InvitationTerms = association.judgement == .ask ? .comparesCodes : []
    attempts[index].phase = .invited
    association.unanswered.append(SentInvitation(command: attempt.command, terms: terms))
    let left = max(0, (attempt.deadline - turn.now).wholeNanoseconds / 1_000_000)
    association.send(
      .invite(
        Invite(timeout: UInt64(left), terms: terms, commitment: nonce.commitment, context: attempt.context[...])), turn
    )
    turn.deliver(.invitationSent(attempt.command, association.peer))
  }

  /// A link is gone. An attempt that waited for it goes on if something else may still bring the node.
  mutating func linkEnded(
    _ link: Link, _ ending: Ending, _ turn: Turn
  ) {
    let (id, remote) = (link.id, link.node)
    // An association that one side holds is over on the other: lost, whichever of the two has said so.
    let ending = ending.reason == .noSuchAssociation ? Self.lostThere : ending
    for attempt in attempts where attempt.phase == .linking(id) {
      guard let index = attempts.firstIndex(where: { $0.command == attempt.command }) else { continue }
      let target = remote ?? attempt.node
      let hasOther = target.map { target in
        associations[target] != nil || links.values.contains { $0.node == target && $0.id != id }
      }
      if let target, associations[target] != nil {
        meet(index, target, turn)
        proceed(index, with: target, turn)
      } else if ending.reason == .duplicateLink || hasOther == true {
        if let target { meet(index, target, turn) }
        attempts[index].phase = .linking(nil)
      } else {
        fail(attempt.command, ending, turn)
      }
    }
    // Attempts that wait for any link of the node fail with the last one.
    for attempt in attempts where attempt.phase == .linking(nil) {
      guard let target = attempt.node, target == remote, ending.reason != .duplicateLink,
        associations[target] == nil, !links.values.contains(where: { $0.node == target })
      else { continue }
      fail(attempt.command, ending, turn)
    }
  }

  mutating func attemptsLostAssociation(_ remote: NodeID, _ ending: Ending, _ turn: Turn) {
    for attempt in attempts where attempt.node == remote && attempt.isWithPeer { fail(attempt.command, ending, turn) }
  }

  /// The node that an attempt by address leads to is known.
  private mutating func meet(_ index: Int, _ remote: NodeID, _ turn: Turn) {
    let former = attempts[index].node
    attempts[index].node = remote
    guard former != remote else { return }
    if let former { turn.tell(turn.conditions.attemptEnded(former, Ending(.restarted, .peer))) }
    turn.tell(turn.conditions.attemptBegan(remote, name: associations[remote]?.peer.name))
  }

  // MARK: The end of an attempt

  /// Ends an attempt before its answer: by the caller, or by time.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    guard let attempt = attempts.first(where: { $0.command == command }) else { return }
    var ending = ending
    if ending.reason == .timedOut, attempt.isWithPeer,
      attempt.node.flatMap({ associations[$0]?.exchange })?.isTry == true
    {
      ending = Self.brokenOff(ending)
    }
    if attempt.isWithPeer, let remote = attempt.node, let association = associations[remote] {
      if let index = association.unanswered.firstIndex(where: { $0.command == command }) {
        association.unanswered[index].command = nil
        association.send(.withdraw(ending.reason), turn)
      } else if attempt.phase == .invited, attempt.code == nil {
        // Accepted, and not compared yet.
        association.send(.withdraw(ending.reason), turn)
      }
      if attempt.phase == .answering {
        breakOff(association, ending, turn)
      } else {
        endExchange(of: association, ending, turn)
      }
      idleFrom(remote, turn)
    } else if case .linking(let link?) = attempt.phase {
      fail(command, ending, turn)
      if let link = links[link], link.phase != .active { end(link, ending, turn) }
      return
    }
    fail(command, ending, turn)
  }

  mutating func fail(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    guard let index = attempts.firstIndex(where: { $0.command == command }) else { return }
    let attempt = attempts.remove(at: index)
    turn.cancelDials(for: .invitation(command))
    if let proof = attempt.proof { turn.add(.proveCode(proof, .end)) }
    var ending = ending
    if ending.failures.isEmpty { ending.failures = attempt.race.failures }
    turn.reply(command, .failed(ending))
    if let remote = attempt.node { turn.tell(turn.conditions.attemptEnded(remote, ending)) }
  }

  mutating func attemptDeadlines(_ turn: Turn) {
    for attempt in attempts {
      if attempt.deadline <= turn.now {
        let failures = attempt.phase == .dialling ? attempt.race.failuresInTime : attempt.race.failures
        withdraw(
          attempt.command, Ending(.timedOut, .peer, ConnectRace.describe(failures), failures: failures), turn)
      } else if attempt.phase == .dialling {
        dialNext(attempt.command, turn)
      }
    }
  }
}
