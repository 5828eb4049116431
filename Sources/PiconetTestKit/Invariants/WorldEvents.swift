import PiconetEngine
import PiconetWire

/// Checks on every event for the application.
extension World {
  func observe(_ event: Event, _ node: SimulatedNode) {
    switch event {
    case .connected(let peer):
      let isNew = node.record.members.updateValue(peer.association, forKey: peer.node) == nil
      node.record.memberSince[peer.node] = now
      node.record.formerMembers.insert(peer.node)
      if !isNew { finding("n\(node.index) is connected twice with \(name(peer.node))") }
      node.record.connectedCount += 1
      node.record.invitations.remove(peer.node)
      node.record.unconsumed = node.record.unconsumed.filter { $0.key.peer != peer.node }
      flows.connected(node.node, with: peer.node, in: scenario.channels)
      checkProof(of: peer, node)
      checkIntroduced(peer, node)
      statistics.connected += 1
      if isOfHostile(peer.node) { statistics.hostileMembers += 1 }
      // In a group, the winners of a race for a place are decided a little later.
      if !scenario.isCrowded, node.record.members.count >= scenario.configurations[node.index].capacity {
        finding("n\(node.index) has more members than the session takes")
      }
    case .disconnected(let peer, let ending):
      node.record.unreached = node.record.unreached.filter { !$0.contains(peer) }
      guard let association = node.record.members.removeValue(forKey: peer) else {
        return finding("n\(node.index) is disconnected from \(name(peer)), but was not connected")
      }
      checkClass(ending, of: peer, association, since: node.record.memberSince[peer] ?? 0, at: node)
      node.record.suspended.remove(peer)
      forgetComparisons(with: peer, node)
      flows.disconnected(node.node, from: peer)
      checkHonest(ending, peer, node)
      if ending.reason == .full { causes.partedForPlace(node.node, peer) }
      checkFair(ending, peer, node)
      checkRemoval(ending, of: peer, at: node)
      checkPlace(ending, of: peer, at: node)
    case .suspended(let peer, let ending):
      statistics.suspended += 1
      if node.record.members[peer] == nil || !node.record.suspended.insert(peer).inserted {
        finding("n\(node.index) loses the link to \(name(peer)) twice, or was not connected")
      }
      checkHonest(ending, peer, node)
      checkFair(ending, peer, node)
    case .resumed(let peer, _):
      statistics.resumed += 1
      if node.record.members[peer] == nil { finding("n\(node.index) resumes \(name(peer)), which is no member") }
      if node.record.suspended.remove(peer) == nil { statistics.moved += 1 }
    case .invitationReceived(let peer, _, _, _):
      if node.record.members[peer.node] != nil { finding("an invitation of a member") }
      if !node.record.invitations.insert(peer.node).inserted {
        finding("an invitation beside another of the same peer")
      }
    case .invitationEnded(let peer, let ending):
      if node.record.invitations.remove(peer) == nil {
        finding("the invitation of \(name(peer)) ends, but there was none")
      }
      checkHonest(ending, peer, node)
    case .invitationSent(let command, _):
      if node.record.pending[command] == nil { finding("n\(node.index) has sent an invitation that has its answer") }
      if !node.record.sentInvitations.insert(command).inserted { finding("n\(node.index) sends an invitation twice") }
    case .messagesReceived(let peer, let messages, let mode, let channel):
      observe(messages, mode, from: peer, in: channel, node)
    case .offerReceived(let transfer, let peer, _): observeOffer(transfer, peer, node)
    case .transferEnded(let transfer, let ending): observeEnd(of: transfer, ending, node)
    case .transferProgressed(let transfer, _), .transferAccepted(let transfer, _), .transferCompared(let transfer, _):
      if node.record.offered[transfer] == nil { finding("progress of an unknown transfer") }
    case .stateChanged(let peer, _, let condition): observe(condition, of: peer, node)
    case .transferPaused(let transfer, let isPaused): observePause(of: transfer, isPaused, node)
    case .streamOpened, .streamReceived, .streamEnded, .streamStopped: observeStream(event, node)
    case .codeFailed(_, let code, let left, _):
      // A try of a former code leaves the present code its tries.
      if !(0...(code == node.codes.own ? 2 : 3)).contains(left) { finding("a wrong try leaves \(left)") }
    case .confirmationNeeded(let peer, _): node.record.compared.insert(peer.node)
    case .comparisonNeeded(let peer, let code): observeComparison(with: peer, code, node)
    case .comparisonEnded(let peer, let ending): observeEnd(ofComparisonWith: peer, ending, node)
    case .codesCompared(let peer, let code): observeCompared(peer, code, node)
    case .introductionReceived(let introduced): observe(introduced, node)
    case .membersApart(let one, let other, let ending): observeApart(one, other, ending, node)
    case .membersTogether(let one, let other, let ending): observeTogether(one, other, ending, node)
    case .introductionEnded(let peer, let ending): observeEnd(ofIntroduced: peer, ending, node)
    case .codeShown, .peerFound, .peerChanged, .peerLost, .peerRefused: break
    }
  }

  /// Checks that a peer whose code was compared has a place from then on.
  private func checkPlace(_ ending: Ending, of peer: NodeID, at node: SimulatedNode) {
    guard ending.reason == .full, !scenario.isCrowded, let index = indices[peer.peer], !isHostile(index) else { return }
    if nodes[index].node == peer, nodes[index].record.compared.contains(node.node) {
      finding("n\(node.index) was a member of \(name(peer)) for a moment, which has no place")
    }
  }

  func name(_ node: NodeID) -> String { names[node] ?? "\(node)" }

  private func observe(
    _ messages: [Bytes], _ mode: DeliveryMode, from peer: NodeID, in channel: MessageChannel, _ node: SimulatedNode
  ) {
    let configuration = scenario.configurations[node.index]
    guard node.record.members[peer] != nil else {
      return finding("n\(node.index) gets a message of \(name(peer)), which is not connected")
    }
    let isReliable = mode == .reliable
    if isReliable {
      let cost = messages.reduce(0) { $0 + $1.count + WireLimits.messageCost }
      node.record.unconsumed[ChannelKey(peer: peer, channel: channel), default: 0] += cost
      let window =
        channel == 0
        ? configuration.messageWindow
        : configuration.channelWindow + configuration.messageLimit + WireLimits.messageCost
      if node.record.unconsumed[ChannelKey(peer: peer, channel: channel), default: 0] > window {
        finding("n\(node.index) holds more messages of \(name(peer)) than the window")
      }
    }
    for message in messages where message.count > configuration.messageLimit {
      finding("a message of \(message.count) bytes, above the limit")
    }
    guard let from = indices[peer.peer], !isHostile(from) else { return }
    if scenario.makesCalls, SimulatedCalls.channels.contains(channel) { return }
    let key = Flows.Key(from: peer, to: node.node, channel: channel)
    var messages = messages
    if scenario.faults.contains(.unreliableSwapped), !isReliable {
      // Each message waits for the next one, and is delivered after it.
      guard let held = node.record.heldBack.removeValue(forKey: peer) else {
        node.record.heldBack[peer] = messages
        return
      }
      messages += held
    }
    for _ in 0..<(scenario.faults.contains(.deliveryRepeated) && faultDice.chance(20) ? 2 : 1) {
      for message in messages {
        statistics.messages += 1
        if let wrong = flows.came(message, key, from: from, to: node.index, isReliable: isReliable) {
          finding("from \(name(peer)) to \(name(node.node)): \(wrong)")
        }
      }
    }
  }

  func makeMessage(
    from node: SimulatedNode, to peer: NodeID, size: Int, _ mode: DeliveryMode, in channel: MessageChannel
  ) -> Bytes {
    let key = Flows.Key(from: node.node, to: peer, channel: channel)
    // Messages queued for a peer that is gone must reach no node: no receiver has this epoch.
    let (epoch, number) = flows.take(key, size: size, isReliable: mode == .reliable) ?? (9_999, 0)
    return MessageContent.bytes(
      MessageContent.Header(
        from: node.index, to: indices[peer.peer] ?? 0, channel: channel, epoch: epoch, isReliable: mode == .reliable,
        number: number, size: size))[...]
  }

  private func observeOffer(_ transfer: TransferID, _ peer: NodeID, _ node: SimulatedNode) {
    if node.record.members[peer] == nil { finding("an offer of a peer that is not connected") }
    if node.record.incoming.updateValue(peer, forKey: transfer) != nil { finding("an offer comes twice") }
    let fromPeer = node.record.incoming.values.count { $0 == peer }
    if fromPeer > scenario.configurations[node.index].transferLimit { finding("more open transfers than the limit") }
  }

  private func observeEnd(of transfer: TransferID, _ ending: Ending?, _ node: SimulatedNode) {
    guard let peer = node.record.incoming.removeValue(forKey: transfer) else {
      return finding("a transfer ends twice, or was never offered")
    }
    if let ending { return checkHonest(ending, peer, node) }
    guard let store = node.stores[transfer], store.phase == .committed else {
      return finding("a transfer ends as stored, and is not")
    }
    guard let content = store.content else { return }
    guard ByteComparison.areEqual(store.bytes[...], contents[content][...]) else {
      return finding("a stored file differs from what was offered")
    }
    storedContents.insert(content)
  }
}
