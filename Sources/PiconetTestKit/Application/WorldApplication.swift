import PiconetEngine
import PiconetWire

/// Actions of applications of their own accord.
extension World {
  func persona(_ node: SimulatedNode) -> Persona { scenario.personas[node.index] }

  @discardableResult
  func command(_ command: Command, of node: SimulatedNode) -> CommandID {
    let id = CommandID(rawValue: node.nextCommand)
    node.nextCommand += 1
    node.record.pending[id] = command
    post(.fact(.commanded(id, command)), to: node)
    return id
  }

  func plan(_ step: ApplicationStep, of node: SimulatedNode, in delay: UInt64) {
    enter(.application(node: node.index, life: node.life, step), in: delay)
  }

  /// Begins the sightings and invitations of a node that has just started.
  func beginApplication(of node: SimulatedNode) {
    if scenario.makesCalls {
      node.application.callInstance = callDice.word()
      if node.life == 0, let remake = scenario.callPersonas[node.index]?.remake {
        plan(.remakeCalls, of: node, in: remake)
      }
    }
    if persona(node).setsCode { plan(.setCode, of: node, in: 0) }
    if persona(node).hides, !isCalm { setHidden(true, node) }
    for expectation in persona(node).expectations {
      plan(.expect(target: expectation.target, length: expectation.length), of: node, in: expectation.at)
    }
    if let removal = persona(node).removal, node.life == 0 {
      plan(.removeNode(target: removal.target), of: node, in: removal.at)
    }
    if let departure = persona(node).departure, node.life == 0 { plan(.depart, of: node, in: departure) }
    for introduction in persona(node).introductions {
      plan(
        .introduce(first: introduction.first, second: introduction.second, timeout: introduction.timeout), of: node,
        in: introduction.at)
    }
    for invitation in persona(node).invitations {
      let at = node.life == 0 ? invitation.at : applicationDice.milliseconds(1...400)
      plan(
        .invite(target: invitation.target, byAddress: invitation.byAddress, timeout: invitation.timeout), of: node,
        in: at)
    }
  }

  func perform(_ step: ApplicationStep, of node: SimulatedNode) {
    if node.application.isShuttingDown { return }
    switch step {
    case .invite(let target, let byAddress, let timeout): invite(target, byAddress, timeout, node)
    case .cancelInvitation(let id): command(.cancelInvitation(id), of: node)
    case .introduce(let first, let second, let timeout): introduce(first, second, timeout, node)
    case .cancelIntroduction(let id): command(.cancelIntroduction(id), of: node)
    case .answerIntroduction(let peer, let accept):
      command(.answerIntroduction(peer, accept: accept, accept ? .left : .declined), of: node)
    case .expect(let target, let length): expect(target, length, node)
    case .stopExpecting(let target): command(.stopExpecting(nodes[target].peer), of: node)
    case .answer(let peer, let accept):
      if !accept { causes.declined += 1 }
      let id = command(.answerInvitation(peer, accept: accept, accept ? .left : .declined), of: node)
      if accept { planCancellation(of: id, node) }
    case .showCode(let peer): node.application.showing[command(.showCode(peer), of: node)] = peer
    case .confirm(let peer, let isConfirmed): command(.confirm(peer, isConfirmed, .codeMismatch), of: node)
    case .setCode: setCode(node)
    case .send(let peer, let count): send(to: peer, count, node)
    case .consume(let peer, let channel): consume(peer, in: channel, node)
    case .offer(let peer): offer(to: peer, node)
    case .acceptOffer(let transfer): acceptOffer(transfer, node)
    case .declineOffer(let transfer): command(.declineOffer(transfer, .notWanted, detail: ""), of: node)
    case .cancelTransfer(let transfer): command(.cancelTransfer(transfer, .cancelled), of: node)
    case .ping(let peer): command(.ping(peer, timeout: .milliseconds(300)), of: node)
    case .compareCodes(let peer): compareCodes(with: peer, node)
    case .cancelComparison(let id): command(.cancelComparison(id), of: node)
    case .answerComparison(let peer, let isSame): sayCode(to: peer, isSame: isSame, node)
    case .pauseTransfer(let transfer, let isPaused): command(.pauseTransfer(transfer, isPaused), of: node)
    case .openStream(let peer): openStream(to: peer, node)
    case .writeStream(let stream): writeStream(stream, node)
    case .readStream(let stream): readStream(stream, node)
    case .cancelStream(let stream): cancelStream(stream, node)
    case .leave(let peer): command(.leave(peer, .left), of: node)
    case .removeNode(let target):
      if let peer = node.application.members.last(where: { indices[$0.peer] == target }) {
        perform(.remove(peer), of: node)
      }
    case .remove(let peer):
      guard node.application.members.contains(peer), !isCalm else { return }
      causes.removals.insert(Causes.Removal(by: node.node, subject: peer))
      statistics.removals += 1
      command(.remove(peer), of: node)
    case .call(let peer): makeCall(to: peer, node)
    case .cancelCall(let peer, let conversation, let number): cancelCall(number, to: peer, conversation, node)
    case .finishCall(let peer, let conversation, let number): finishCall(number, of: peer, conversation, node)
    case .callTimer(let peer, let conversation): callTimerFired(peer, conversation, node)
    case .remakeCalls: if !isCalm { remakeCalls(node) }
    case .depart: depart(node)
    case .comeBack: comeBack(node)
    case .shutDown:
      node.application.isShuttingDown = true
      command(.shutDown, of: node)
    }
  }

  private func invite(_ target: Int, _ byAddress: Bool, _ timeout: UInt64, _ node: SimulatedNode) {
    if isCalm || node.application.isAway || scenario.refusals[node.index]?[target] != nil { return }
    let seen = node.application.inSight.last { indices[$0.peer] == target }
    let goal: InvitationTarget
    // A person does not type an address of a transport that the node itself lacks. Such nodes meet over a member
    // between them.
    let isNear = scenario.haveCommonTransport(node.index, target)
    if let seen, !byAddress || !isNear {
      goal = .node(seen)
    } else if !isNear {
      return
    } else {
      let expected = applicationDice.chance(30) ? nodes[target].peer : nil
      goal = .addresses(addresses(of: target), expected: expected)
    }
    let code = typedCode(for: target, node)
    let id = command(
      .invite(goal, context: Array("hello".utf8), timeout: .nanoseconds(Int64(timeout)), code: code), of: node)
    planCancellation(of: id, node)
  }

  private func introduce(_ first: Int, _ second: Int, _ timeout: UInt64, _ node: SimulatedNode) {
    let members = [first, second].compactMap { index in node.application.members.last { indices[$0.peer] == index } }
    guard members.count == 2, !isCalm else { return }
    let id = command(
      .introduce(members[0], to: members[1], timeout: .nanoseconds(Int64(timeout))), of: node)
    node.record.introductions.insert(Set(members))
    statistics.introductions += 1
    if applicationDice.chance(persona(node).cancelIntroductionChance) {
      plan(.cancelIntroduction(id), of: node, in: applicationDice.milliseconds(0...300))
    }
  }

  private func expect(_ target: Int, _ length: UInt64, _ node: SimulatedNode) {
    if isCalm { return }
    command(.expect(nodes[target].peer, for: .nanoseconds(Int64(length))), of: node)
    if applicationDice.chance(persona(node).stopExpectingChance) {
      plan(.stopExpecting(target: target), of: node, in: applicationDice.word() % length)
    }
  }

  private func planCancellation(of invitation: CommandID, _ node: SimulatedNode) {
    guard applicationDice.chance(persona(node).cancelInvitationChance) else { return }
    let delay = applicationDice.milliseconds(0...applicationDice.pick([20, 100, 300]))
    plan(.cancelInvitation(invitation), of: node, in: delay)
  }

  private func send(to peer: NodeID, _ count: Int, _ node: SimulatedNode) {
    guard let limit = messageLimit(to: peer, node) else { return }
    let configuration = scenario.configurations[node.index]
    for _ in 0..<count {
      var size = applicationDice.skewed(0...limit)
      let mode: DeliveryMode = applicationDice.chance(persona(node).unreliableChance) ? .unreliable : .reliable
      if mode == .unreliable { size = max(size, MessageContent.headerCount) }
      let channel = mode == .reliable ? channel(to: peer, node) : 0
      let key = ChannelKey(peer: peer, channel: channel)
      let cost = size + WireLimits.messageCost
      guard size <= limit, node.application.queuedCost[key, default: 0] + cost <= configuration.messageWindow else {
        continue
      }
      node.application.queuedCost[key, default: 0] += cost
      post(.message(peer, size: size, mode, in: channel), to: node)
    }
  }

  /// Returns the limit that both sides announce, or should announce. Engines freed of their limits by a planted fault
  /// don't.
  private func messageLimit(to peer: NodeID, _ node: SimulatedNode) -> Int? {
    guard let limit = node.application.messageLimits[peer] else { return nil }
    guard scenario.freesEngines, let index = indices[peer.peer] else { return limit }
    return [node.index, index].reduce(limit) { min($0, scenario.configurations[$1].messageLimit) }
  }

  /// Returns one of the channels that the peer takes.
  private func channel(to peer: NodeID, _ node: SimulatedNode) -> MessageChannel {
    if scenario.channels.count == 1 { return 0 }
    let channel = applicationDice.pick(scenario.channels)
    return channel.number < node.application.channelLimits[peer, default: 1] ? channel : 0
  }

  private func consume(_ peer: NodeID, in channel: MessageChannel, _ node: SimulatedNode) {
    let key = ChannelKey(peer: peer, channel: channel)
    guard let cost = node.application.unconsumed[key], cost > 0 else { return }
    node.application.unconsumed[key] = 0
    post(.fact(.messagesConsumed(peer, byteCount: cost, in: channel)), to: node)
  }

  private func offer(to peer: NodeID, _ node: SimulatedNode) {
    if isCalm { return }
    let size = applicationDice.chance(10) ? 0 : fileSize(persona(node))
    let content = contents.count
    contents.append(MessageContent.fileBytes(content, size: size))
    let transfer = TransferID(rawValue: node.nextTransfer)
    node.nextTransfer += 1
    var metadata: [UInt8] = []
    for shift in [24, 16, 8, 0] { metadata.append(UInt8(truncatingIfNeeded: content >> shift)) }
    openSource(transfer, content: content, of: node)
    node.record.offered[transfer] = content
    let offer = ResourceOffer(name: Array("file \(content)".utf8), size: UInt64(size), metadata: metadata)
    statistics.offers += 1
    command(.offer(transfer, to: peer, offer), of: node)
    planPauses(of: transfer, node)
    if applicationDice.chance(persona(node).cancelTransferChance) {
      plan(.cancelTransfer(transfer), of: node, in: applicationDice.milliseconds(0...200))
    }
  }

  private func fileSize(_ persona: Persona) -> Int {
    let sizes = 1...persona.largestFile
    return persona.prefersSmallFiles ? applicationDice.skewed(sizes) : applicationDice.number(sizes)
  }

  private func acceptOffer(_ transfer: TransferID, _ node: SimulatedNode) {
    guard let incoming = node.application.incoming[transfer] else { return }
    guard beginPartial(transfer, from: incoming.from.peer, size: incoming.offer.size, of: node) else {
      command(.declineOffer(transfer, .diskFull, detail: "simulated"), of: node)
      return
    }
    let offset = openStore(transfer, incoming, of: node)
    command(.acceptOffer(transfer, offset: offset), of: node)
    planPauses(of: transfer, node)
    if applicationDice.chance(persona(node).cancelTransferChance) {
      plan(.cancelTransfer(transfer), of: node, in: applicationDice.milliseconds(0...200))
    }
  }

  /// Plans pauses. Every pause has an end, whatever happens to the transfer meanwhile.
  private func planPauses(of transfer: TransferID, _ node: SimulatedNode) {
    while applicationDice.chance(persona(node).pauseChance) {
      let start = applicationDice.milliseconds(0...applicationDice.pick([5, 100]))
      plan(.pauseTransfer(transfer, true), of: node, in: start)
      plan(.pauseTransfer(transfer, false), of: node, in: start + applicationDice.milliseconds(0...300))
    }
  }

  /// Makes a slow application catch up, so that everything can end.
  func wakeApplication(of node: SimulatedNode) {
    for peer in node.application.members {
      for channel in scenario.allChannels { plan(.consume(peer, channel), of: node, in: 0) }
    }
  }
}
