import PiconetEngine
import PiconetWire

/// The links of hostile nodes: how they get in.
extension World {
  func hostile(_ index: Int) -> HostileNode { hostiles[index - scenario.engineCount] }

  func beginHostile(_ index: Int) {
    for _ in 0..<hostileDice.number(1...4) { enter(.hostile(node: index), in: hostileDice.milliseconds(0...1_200)) }
  }

  /// Dials a node, or continues the attacks on the existing links.
  func hostileActs(_ index: Int) {
    let node = hostile(index)
    var isBusy = false
    for number in node.sessions.indices where !node.sessions[number].isOver { isBusy = attack(node, number) || isBusy }
    if isCalm { return }
    if !isBusy || node.dice.chance(20) {
      let target = node.dice.number(0...(scenario.engineCount - 1))
      if nodes[target].isAlive, connections.count < scenario.hostileConnections,
        let kind = commonTransport(index, target)
      {
        let connection = connect(index, target, over: kind)
        open(connection, 0, dial: nil)
        enterAccepted(connection)
      }
    }
    enter(.hostile(node: index), in: node.dice.milliseconds(1...scenario.hostilePause))
  }

  func hostileOpened(_ connection: Connection, _ side: Int) {
    let node = hostile(connection.ends[side].node)
    var session = HostileNode.Session(
      connection: connection.number, side: side,
      attack: drawAttack(node),
      nonce: node.dice.bytes(Invite.nonceCount))
    if let former = node.resuming, former.connection != connection.number, side == 0 {
      session.attack = former.attack
      session.association = former.association
      session.isResuming = true
      node.resuming = nil
    } else if session.attack == .stolenAssociation, !knownAssociations.isEmpty {
      session.association = node.dice.pick(knownAssociations)
      session.isResuming = true
    }
    if HostileNode.Attack.ofOffers.contains(session.attack), side == 0, !session.isResuming {
      session.key = makeKey(of: node, on: connection, side)
    }
    node.sessions.append(session)
    note(.world("hostile: \(session.attack) on connection \(connection.number)"))
    statistics.attacks += 1
    statistics.kindsOfAttacks.insert("\(session.attack)")
    let number = node.sessions.count - 1
    switch session.attack {
    case .silence: return
    case .garbage: hostileSend(node.dice.bytes(node.dice.number(1...3_000)), node, number)
    case .wrongOrder: for _ in 0..<3 { send(monkeyFrame(node), node, number) }
    default: break
    }
    if side == 0 { sendHello(node, number) }
  }

  private func drawAttack(_ node: HostileNode) -> HostileNode.Attack {
    if scenario.faults.contains(.endlessMessage) { return .messageAboveLimit }
    if seed.family == .hostile, node.offerDice.chance(15) { return node.offerDice.pick(HostileNode.Attack.ofOffers) }
    if scenario.makesCalls, node.dice.chance(80) { return .callFrames }
    if node.dice.chance(scenario.typedCodeAttackChance) { return node.dice.pick(HostileNode.Attack.onTypedCodes) }
    if scenario.memberAttackChance > 0, node.dice.chance(scenario.memberAttackChance) {
      return node.dice.pick(HostileNode.Attack.ofMembers)
    }
    return node.dice.pick(HostileNode.Attack.drawn)
  }

  private func commonTransport(_ one: Int, _ other: Int) -> TransportKind? {
    transports(of: one).first(where: transports(of: other).contains)
  }

  func hostileLost(_ connection: Connection, _ side: Int) {
    let node = hostile(connection.ends[side].node)
    for number in node.sessions.indices where node.sessions[number].connection == connection.number {
      node.sessions[number].isOver = true
    }
  }

  func hostileReceived(_ bytes: Bytes, _ connection: Connection, _ side: Int) {
    let node = hostile(connection.ends[side].node)
    guard let number = node.sessions.firstIndex(where: { $0.connection == connection.number }) else { return }
    node.sessions[number].decoder.push(bytes)
    while let frame = try? node.sessions[number].decoder.next() { hostileTook(frame, node, number) }
  }

  private func hostileTook(_ frame: Frame, _ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    guard session.attack != .silence else { return }
    switch frame {
    case .hello(let hello): hostileTook(hello, node, number)
    case .associate(let association, _):
      node.sessions[number].association = association
      send(.associated(received: session.isResuming ? claim(session.attack, node) : 0, begun: 1), node, number)
      associated(node, number)
    case .associated: associated(node, number)
    case .invite(let invite): answer(invite, node, number)
    case .codeNonce: answerNonce(node, number)
    case .inviteByCode(let invite): answer(invite, node, number)
    case .codeAnswer(let answer): answerCode(answer, node, number)
    case .accept:
      // Usually it follows the rules.
      if node.dice.chance(80) { send(.admit, node, number) }
      node.sessions[number].isMember = true
    case .admit: node.sessions[number].isMember = true
    case .ping(let token): send(.pong(token), node, number)
    case .offer(let transfer, let offer): node.sessions[number].offers.append((transfer, offer.size))
    case .openStream(let stream, _): node.sessions[number].streams.append(stream)
    case .acceptOffer(let transfer, _, let limit): node.sessions[number].accepted.append((transfer, limit))
    default: break
    }
  }

  private func hostileTook(_ hello: Hello, _ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    let peer = nodes[connections[session.connection].ends[1 - session.side].node].peer
    node.sessions[number].remote = NodeID(peer: peer, incarnation: hello.incarnation)
    if session.attack == .beforeHello, session.side == 0 {
      for _ in 0..<3 { send(monkeyFrame(node), node, number) }
    }
    if session.side == 1 { sendHello(node, number) }
    beginAssociation(node, number)
  }

  private func sendHello(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    let resumes = [
      .stolenAssociation, .resumeAhead, .resumeBehind, .resumeTwice, .deafResume, .invitationChurn, .offerChurn,
      .streamChurn,
    ].contains(session.attack)
    var hello = Hello(
      incarnation: node.node.incarnation, name: "hostile", sessionID: node.dice.chance(95) ? "simulation" : "elsewhere",
      capabilities: [
        .typedCodes, node.dice.chance(80) ? .streams : [], node.dice.chance(resumes ? 100 : 50) ? .resume : [],
        node.dice.chance(80) ? [.removal, .introductions, .group, .relay, .tunnels] : [],
      ],
      limits: PeerLimits(
        message: node.dice.pick([0, 1, 1_000_000, VariableInteger.max]),
        frame: node.dice.pick([1_024, 16_381, VariableInteger.max]),
        messageWindow: node.dice.pick([0, 10_000, VariableInteger.max]),
        transfers: node.dice.pick([0, 1, VariableInteger.max]),
        silence: node.dice.pick([0, 20_000, VariableInteger.max]),
        streams: node.dice.pick([0, 1, VariableInteger.max]),
        streamWindow: node.dice.pick([0, 1_000, VariableInteger.max]), channels: node.dice.pick([1, 2, 64]),
        channelWindow: node.dice.pick([1_024, VariableInteger.max])),
      associationsBegun: node.dice.pick([0, 0, 1, VariableInteger.max]),
      held: node.dice.chance(15)
        ? HeldAssociation(id: AssociationID(high: node.dice.word(), low: 1), received: node.dice.word() >> 3) : nil)
    if session.isResuming, let association = session.association {
      hello.held = HeldAssociation(id: association, received: claim(session.attack, node))
    }
    // Files that it has stored are left behind as soon as its link is lost.
    if HostileNode.Attack.ofOffers.contains(session.attack) { hello.capabilities.subtract(.resume) }
    send(.hello(hello), node, number)
    if node.sessions[number].attack == .helloTwice { send(.hello(hello), node, number) }
  }

  private func beginAssociation(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    guard let remote = session.remote, node.name(in: session) < remote else { return }
    if session.attack == .beforeAssociate { for _ in 0..<3 { send(monkeyFrame(node), node, number) } }
    if session.isResuming, let association = session.association {
      send(.associate(association, received: claim(session.attack, node)), node, number)
    } else {
      let association = AssociationID(high: node.dice.word(), low: node.dice.word())
      node.sessions[number].association = association
      send(.associate(association, received: 0), node, number)
    }
    associated(node, number)
  }

  /// Returns how many frames of an association it claims to have: far too many, fewer than before, or any number.
  private func claim(_ attack: HostileNode.Attack, _ node: HostileNode) -> UInt64 {
    switch attack {
    case .resumeAhead: node.dice.pick([50, 1_000, 1 << 40, VariableInteger.max])
    case .resumeBehind, .deafResume: 0
    case .resumeTwice: UInt64(node.dice.number(0...4))
    default: node.dice.pick([0, 1, 5, node.dice.word() >> 3])
    }
  }

  /// Drops its link and comes back for its own association, or for another node's.
  func comeBack(_ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    guard !isCalm, !session.isResuming, session.association != nil, node.resuming == nil else { return }
    let target = connections[session.connection].ends[1 - session.side].node
    guard !isHostile(target), nodes[target].isAlive, connections.count < scenario.hostileConnections + 5 else {
      return
    }
    node.resuming = session
    if session.attack != .resumeTwice {
      node.sessions[number].isOver = true
      close(connections[session.connection], session.side, flush: false)
    }
    let connection = connect(node.index, target, over: connections[session.connection].kind)
    open(connection, 0, dial: nil)
    enterAccepted(connection)
  }

  private func associated(_ node: HostileNode, _ number: Int) {
    guard !node.sessions[number].isAssociated else { return }
    node.sessions[number].isAssociated = true
    switch node.sessions[number].attack {
    // A node that churns invitations has no open one.
    case .beforeMember, .invitationChurn: return
    case let attack where HostileNode.Attack.onTypedCodes.contains(attack): hostileInvitesByCode(node, number)
    default: if node.dice.chance(80) { hostileInvites(node, number) }
    }
  }

  func send(_ frame: Frame, _ node: HostileNode, _ number: Int) {
    hostileSend(FrameEncoder.encode(frame), node, number)
  }

  func hostileSend(_ bytes: [UInt8], _ node: HostileNode, _ number: Int) {
    let session = node.sessions[number]
    transmit(bytes[...], over: connections[session.connection], session.side)
  }
}
