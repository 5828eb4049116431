import PiconetEngine
import PiconetWire

/// The driver's action for each effect.
extension World {
  func perform(_ effects: [Effect], of node: SimulatedNode) {
    for effect in effects { perform(effect, of: node) }
  }

  private func perform(_ effect: Effect, of node: SimulatedNode) {
    switch effect {
    case .dial(let dial, let kind, let addresses): startDial(dial, kind, addresses, by: node)
    case .cancelDial(let dial):
      if node.relayDials[dial] == nil { cancelDial(dial, by: node) } else { cancelRelayDial(dial, by: node) }
    case .transmit(let link, let bytes):
      if let tunnel = node.tunnelLinks[link] { return transmit(bytes, in: tunnel, link, node) }
      guard let (number, side) = node.links[link] else { return }
      if hoards(link, of: node) { post(.fact(.transmitted(link, byteCount: bytes.count)), to: node) }
      let sent = tampered(bytes, link, of: node)
      if scenario.faults.contains(.acknowledgementsLost), sent.count < bytes.count {
        // The engine does not wait for bytes that are lost.
        post(.fact(.transmitted(link, byteCount: bytes.count - sent.count)), to: node)
        if sent.isEmpty { return }
      }
      transmit(relayTampered(sent, over: number, side, link, of: node), over: connections[number], side)
    case .closeLink(let link, let flush):
      if let tunnel = node.tunnelLinks[link] { return closeLink(link, in: tunnel, flush: flush, node) }
      guard let (number, side) = node.links.removeValue(forKey: link) else { return }
      close(connections[number], side, flush: flush)
    case .judgeTrust(let link, let peer, _, _):
      answer(node, .trustJudged(link, judgement(of: peer.peer, by: node)), within: 3_000_000)
    case .drawNonce(let id):
      let nonce = networkDice.bytes(Invite.nonceCount)
      answer(node, .nonceDrawn(id, CodeNonce(bytes: nonce, commitment: CheapDigest.of(nonce))), within: 1_000)
    case .deriveCode(let id, let link, let inputs):
      let isRevealed = CheapDigest.of(inputs.inviterNonce) == inputs.commitment
      let channel = node.tunnelLinks[link].flatMap { node.tunnels[$0]?.channel }
      let connection = node.links[link]?.0 ?? channel.map { Int($0.key[0]) << 8 | Int($0.key[1]) | 1 << 15 }
      let derived = isRevealed ? connection.map { code(inputs, over: $0) } : nil
      answer(node, .codeDerived(id, derived), within: 1_000)
    case .proveCode(let id, let step): prove(id, step, of: node)
    case .readChunks(let transfer, let number, let offset, let count, let frameCount):
      readChunks(transfer, number, offset, count, frameCount, of: node)
    case .finishSource(let transfer): finishSource(transfer, of: node)
    case .closeSource(let transfer): closeSource(transfer, of: node)
    case .storeChunk(let transfer, let bytes): storeChunk(transfer, bytes, of: node)
    case .commitStore(let transfer, let size, let digest): commitStore(transfer, size, digest, of: node)
    case .discardStore(let transfer): discardStore(transfer, of: node)
    case .keepStore(let transfer): keepStore(transfer, of: node)
    case .messagesTaken(let peer, let count, let channel):
      let key = ChannelKey(peer: peer, channel: channel)
      node.application.queuedCost[key] = max(0, (node.application.queuedCost[key] ?? 0) - count)
      sendWaitingCalls(to: peer, in: channel, node)
    case .streamTaken(let stream, let count): streamTaken(stream, count, node)
    case .tunnelOpened(let id, let route): tunnelOpened(id, route, node)
    case .tunnelOffered(let id, let route): tunnelOffered(id, route, node)
    case .tunnelReceived(let id, let bytes): tunnelReceived(id, bytes, node)
    case .tunnelTaken(let id, let count): tunnelTaken(id, count, node)
    case .tunnelPassedOn(let id, let count): tunnelPassedOn(id, count, node)
    case .tunnelEnded(let id, let failure): tunnelEnded(id, failure, node)
    case .deliver(let event):
      // People of this world remember the peers that they have let in.
      if case .connected(let peer) = event { node.rememberedPeers.insert(peer.node.peer) }
      react(to: event, of: node)
    case .reply(let command, let reply): react(to: reply, command, of: node)
    case .chunkRepeated: break
    case .finished: node.isFinished = true
    }
  }

  /// Gives a fact to the node after a while, or with the next turn.
  func answer(_ node: SimulatedNode, _ fact: Fact, within: UInt64) {
    let delay = networkDice.chance(50) ? 0 : networkDice.word() % max(1, within)
    if delay == 0 {
      post(.fact(fact), to: node)
    } else {
      enter(.fact(node: node.index, life: node.life, fact), in: delay)
    }
  }

  /// Returns the judgement, which is fixed for each pair of nodes, except for peers remembered since.
  private func judgement(of peer: PeerID, by node: SimulatedNode) -> TrustJudgement {
    if let index = indices[peer], scenario.refusals[node.index]?[index] == .distrusts {
      return .refused(.identity, detail: "the policy refuses the peer")
    }
    if node.rememberedPeers.contains(peer) { return .known }
    let persona = scenario.personas[node.index]
    var dice = Dice(seed: seed.word ^ UInt64(node.index * 64 + (indices[peer] ?? 63)))
    if dice.chance(persona.refuseChance) { return .refused(.identity, detail: "the policy refuses the peer") }
    return dice.chance(persona.askChance) ? .ask : .new
  }

  /// Returns the code. It follows from the connection (as from a channel's exported key), both sides and both nonces.
  /// It is longer than six digits, so that no two codes are the same by chance.
  private func code(_ inputs: CodeInputs, over connection: Int) -> String {
    let all =
      [UInt8(connection & 0xFF), UInt8(connection >> 8 & 0xFF)] + inputs.inviter.bytes + inputs.invited.bytes
      + inputs.inviterNonce + inputs.invitedNonce
    return String(CheapDigest.of(all).prefix(7).reduce(0) { $0 << 8 | UInt64($1) })
  }
}
