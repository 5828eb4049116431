import PiconetEngine
import PiconetWire

/// Reactions of applications to events and replies.
extension World {
  func react(to event: Event, of node: SimulatedNode) {
    switch event {
    case .peerFound(let peer): node.application.inSight.append(peer.node)
    case .peerChanged: break
    case .peerLost(let peer): node.application.inSight.removeAll { $0 == peer }
    case .invitationReceived(let peer, _, _, let compares):
      answerInvitation(of: peer.node, comparesCodes: compares, node)
    case .invitationEnded, .invitationSent, .codeShown, .introductionEnded, .membersApart, .membersTogether: break
    case .introductionReceived(let introduced): answerIntroduction(of: introduced.node, node)
    case .codeFailed(_, let code, let left, _): codeFailed(code, left: left, node)
    case .confirmationNeeded(let peer, _):
      if applicationDice.chance(90) {
        let isConfirmed = applicationDice.chance(persona(node).confirmChance)
        plan(.confirm(peer.node, isConfirmed), of: node, in: applicationDice.milliseconds(0...300))
      }
    case .comparisonNeeded(let peer, let code): answerComparison(with: peer, code, node)
    case .comparisonEnded, .codesCompared: break
    case .connected(let peer): becameMember(peer, node)
    case .disconnected(let peer, _): memberWent(peer, node)
    case .suspended, .resumed, .peerRefused: break
    case .messagesReceived(let peer, let messages, let mode, let channel):
      took(messages, mode, from: peer, in: channel, node)
    case .offerReceived(let transfer, let from, let offer): answerOffer(transfer, from, offer, node)
    case .transferProgressed, .transferCompared, .transferAccepted, .transferPaused, .stateChanged: break
    case .streamOpened(let stream, let from, let name): streamOpened(stream, name, from: from, node)
    case .streamReceived(let stream, let bytes): streamReceived(stream, bytes, node)
    case .streamEnded(let stream, let end): streamEnded(stream, end, node)
    case .streamStopped(let stream, _): node.application.written[stream] = nil
    case .transferEnded(let transfer, _): node.application.incoming[transfer] = nil
    }
  }

  private func answerInvitation(of peer: NodeID, comparesCodes: Bool, _ node: SimulatedNode) {
    let persona = persona(node)
    let delay = applicationDice.word() % max(1, persona.answerDelay)
    if node.application.isAway || refusal(of: peer, by: node) == .declines {
      plan(.answer(peer, accept: false), of: node, in: delay)
    } else if applicationDice.chance(persona.acceptChance) {
      // From time to time an application forgets to show the code when it must.
      let shows = applicationDice.chance(comparesCodes ? 95 : 40)
      plan(shows ? .showCode(peer) : .answer(peer, accept: true), of: node, in: delay)
    } else if applicationDice.chance(persona.declineChance) {
      plan(.answer(peer, accept: false), of: node, in: delay)
    }
  }

  private func answerIntroduction(of peer: NodeID, _ node: SimulatedNode) {
    let persona = persona(node)
    let delay = applicationDice.word() % max(1, persona.answerDelay)
    if node.application.isAway || refusal(of: peer, by: node) == .declines {
      plan(.answerIntroduction(peer, accept: false), of: node, in: delay)
    } else if applicationDice.chance(persona.acceptIntroductionChance) {
      plan(.answerIntroduction(peer, accept: true), of: node, in: delay)
    } else if applicationDice.chance(persona.declineIntroductionChance) {
      plan(.answerIntroduction(peer, accept: false), of: node, in: delay)
    }
  }

  private func refusal(of peer: NodeID, by node: SimulatedNode) -> Refusal? {
    indices[peer.peer].flatMap { scenario.refusals[node.index]?[$0] }
  }

  private func becameMember(_ peer: ProvenPeer, _ node: SimulatedNode) {
    node.application.members.append(peer.node)
    node.application.messageLimits[peer.node] = peer.messageLimit
    node.application.channelLimits[peer.node] = peer.channelLimit
    node.application.forgetMessages(of: peer.node)
    beginCalls(with: peer, node)
    if node.application.isAway { return plan(.leave(peer.node), of: node, in: 0) }
    if isCalm || isHostile(indices[peer.node.peer] ?? 0) { return sendToHostile(peer, node) }
    let persona = persona(node)
    for _ in 0..<applicationDice.number(persona.bursts) {
      let count = applicationDice.number(persona.burstLength)
      plan(.send(peer.node, count: count), of: node, in: soon(persona))
    }
    for _ in 0..<applicationDice.number(persona.offers) {
      plan(.offer(peer.node), of: node, in: soon(persona))
    }
    for delay: UInt64 in [0, 5, 200] { plan(.ping(peer.node), of: node, in: delay * 1_000_000) }
    for _ in 0..<applicationDice.number(persona.streams) {
      plan(.openStream(peer.node), of: node, in: soon(persona))
    }
    if applicationDice.chance(persona.leaveChance) {
      plan(.leave(peer.node), of: node, in: applicationDice.milliseconds(0...900))
    }
    planComparisons(with: peer.node, node)
    if persona.removeChance > 0, applicationDice.chance(persona.removeChance) {
      plan(.remove(peer.node), of: node, in: applicationDice.milliseconds(0...900))
    }
  }

  /// Returns a short delay. It is zero as often as not, since much goes wrong only close to a beginning.
  private func soon(_ persona: Persona) -> UInt64 {
    applicationDice.chance(40) ? 0 : applicationDice.milliseconds(0...persona.spread)
  }

  /// Sends to a hostile member, so that it has something to break as well.
  private func sendToHostile(_ peer: ProvenPeer, _ node: SimulatedNode) {
    if isCalm { return }
    plan(.send(peer.node, count: 3), of: node, in: applicationDice.milliseconds(0...50))
    plan(.offer(peer.node), of: node, in: applicationDice.milliseconds(0...50))
    plan(.openStream(peer.node), of: node, in: applicationDice.milliseconds(0...50))
  }

  private func memberWent(_ peer: NodeID, _ node: SimulatedNode) {
    endCalls(with: peer, node)
    node.application.members.removeAll { $0 == peer }
    node.application.messageLimits[peer] = nil
    node.application.channelLimits[peer] = nil
    node.application.forgetMessages(of: peer)
    node.application.read = node.application.read.filter { $0.value.peer != peer }
    guard !isCalm, let target = indices[peer.peer], applicationDice.chance(persona(node).inviteAgainChance) else {
      return
    }
    plan(
      .invite(target: target, byAddress: applicationDice.chance(50), timeout: 2_000_000_000), of: node,
      in: applicationDice.milliseconds(1...500))
  }

  private func took(
    _ messages: [Bytes], _ mode: DeliveryMode, from peer: NodeID, in channel: MessageChannel, _ node: SimulatedNode
  ) {
    guard mode == .reliable, node.application.messageLimits[peer] != nil else { return }
    node.application.unconsumed[ChannelKey(peer: peer, channel: channel), default: 0] += messages.reduce(0) {
      $0 + $1.count + WireLimits.messageCost
    }
    callsReceived(messages, from: peer, in: channel, node)
    let persona = persona(node)
    if persona.unreadChannel == channel, !isCalm { return }
    let consume = ApplicationStep.consume(peer, channel)
    switch persona.consumption {
    case .atOnce: plan(consume, of: node, in: 0)
    case .delayed(let most): plan(consume, of: node, in: isCalm ? 0 : applicationDice.word() % max(1, most))
    case .late: if isCalm { plan(consume, of: node, in: 0) }
    }
  }

  private func answerOffer(_ transfer: TransferID, _ from: NodeID, _ offer: ResourceOffer, _ node: SimulatedNode) {
    node.application.incoming[transfer] = SeenOffer(from: from, offer: offer, content: content(of: offer, from))
    let persona = persona(node)
    let delay = applicationDice.milliseconds(0...20)
    // In the other runs its partial files decide whether there is room.
    if offer.size > 50_000_000, node.partials == nil {
      plan(.declineOffer(transfer), of: node, in: delay)
    } else if applicationDice.chance(persona.acceptOfferChance) {
      plan(.acceptOffer(transfer), of: node, in: delay)
    } else if applicationDice.chance(persona.declineOfferChance) {
      plan(.declineOffer(transfer), of: node, in: delay)
    } else {
      node.application.ignoredOffers.insert(transfer)
    }
  }

  /// Returns the number of an honest node's offer. The offer must have arrived as it was made.
  private func content(of offer: ResourceOffer, _ from: NodeID) -> Int? {
    guard let index = indices[from.peer], !isHostile(index) else { return nil }
    let number = offer.metadata.reduce(0) { $0 << 8 | Int($1) }
    guard offer.metadata.count == 4, number < contents.count, offer.size == UInt64(contents[number].count),
      offer.name == Array("file \(number)".utf8)
    else {
      finding("an offer of \(name(from)) that was not made: \(offer)")
      return nil
    }
    return number
  }

  func react(to reply: Reply, _ id: CommandID, of node: SimulatedNode) {
    if case .stored = reply { statistics.stored += 1 }
    guard let peer = node.application.showing.removeValue(forKey: id), case .code = reply else { return }
    let persona = persona(node)
    let isSame = applicationDice.chance(persona.confirmChance)
    plan(.answer(peer, accept: isSame), of: node, in: applicationDice.word() % max(1, persona.answerDelay))
  }
}
