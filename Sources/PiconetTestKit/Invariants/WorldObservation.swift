import PiconetEngine
import PiconetWire

/// Checks on every fact and every effect, in the order in which the engine takes or issues them.
extension World {
  func willHandle(_ fact: Fact, _ node: SimulatedNode) {
    switch fact {
    case .linkOpened(let link, let opening):
      node.record.links.insert(link)
      if opening.dial == nil { node.record.accepted[link] = opening.peer }
    case .availabilityChanged(let isOpen): node.record.isOpen = isOpen
    case .linkClosed(let link, _):
      node.record.links.remove(link)
      node.record.accepted[link] = nil
      node.record.outstanding[link] = nil
    case .transmitted(let link, let count): if !hoards(link, of: node) { node.record.transmitted(count, on: link) }
    case .dialFailed(let dial, _, _): node.record.dials.remove(dial)
    case .chunkStored(let transfer, let upTo):
      guard var store = node.stores[transfer] else {
        return finding("n\(node.index): bytes of an unknown store are on the disk")
      }
      store.stored = Int(upTo)
      node.stores[transfer] = store
    case .committed(let transfer, _, _):
      // The store may have been discarded since.
      if var store = node.stores[transfer], store.phase == .committing {
        store.phase = .committed
        node.stores[transfer] = store
      }
      dropPartial(transfer, of: node)
    case .streamConsumed(let stream, let count):
      node.record.consumed(count, of: stream)
    case .messagesConsumed(let peer, let cost, let channel):
      node.record.consumed(cost, in: ChannelKey(peer: peer, channel: channel))
    case .commanded, .messageQueued, .streamWritten, .tunnelWanted, .tunnelWritten, .tunnelConsumed, .tunnelClosed,
      .discoveryReported, .discoveryEnded, .received, .linkPaced, .trustJudged, .forgiven, .nonceDrawn, .codeDerived,
      .codeProven,
      .chunksRead, .sourceFinished, .sourceFailed, .storeRestarted, .storeFailed, .listeningChanged, .deadlineReached:
      break
    }
    if case .linkOpened(_, let opening) = fact, let dial = opening.dial { node.record.dials.remove(dial) }
  }

  func observe(_ effects: ArraySlice<Effect>, _ node: SimulatedNode) {
    for effect in effects {
      note(.effect(node.index, effect))
      observe(effect, node)
      if findings.first != nil { return }
    }
  }

  private func observe(_ effect: Effect, _ node: SimulatedNode) {
    switch effect {
    case .transmit(let link, let bytes): observeTransmit(link, bytes, node)
    case .closeLink(let link, _):
      if node.record.links.remove(link) == nil { finding("n\(node.index) closes link \(link.rawValue), which is gone") }
      node.record.outstanding[link] = nil
      node.record.accepted[link] = nil
    case .judgeTrust(let link, let remote, _, let isDialled):
      checkLink(link, node)
      if !isDialled { checkAdmission(of: remote, node) }
    case .deriveCode(_, let link, _): checkLink(link, node)
    case .dial(let dial, _, let addresses):
      node.record.dials.insert(dial)
      let isOfHostile = addresses.contains { address in
        address.relayed.map { self.isOfHostile($0.0) || self.isOfHostile($0.1) } ?? false
      }
      if isOfHostile { node.record.dialsByHostile.insert(dial) }
    case .cancelDial(let dial):
      if node.record.dials.remove(dial) == nil { finding("n\(node.index) cancels a dial that is over") }
    case .deliver(let event): observe(event, node)
    case .reply(let id, let reply): observe(reply, id, node)
    case .finished:
      node.record.finishedCount += 1
      if node.record.finishedCount > 1 { finding("n\(node.index) has finished twice") }
    case .readChunks(let transfer, let number, _, _, _): node.record.numbers[transfer] = number
    case .drawNonce, .proveCode, .finishSource, .closeSource, .storeChunk, .chunkRepeated, .commitStore,
      .discardStore, .keepStore,
      .messagesTaken, .streamTaken, .tunnelOpened, .tunnelOffered, .tunnelReceived, .tunnelTaken,
      .tunnelPassedOn, .tunnelEnded:
      break
    }
  }

  private func checkLink(_ link: LinkID, _ node: SimulatedNode) {
    if !node.record.links.contains(link) { finding("n\(node.index) asks about link \(link.rawValue), which is gone") }
  }

  private func observeTransmit(_ link: LinkID, _ bytes: Bytes, _ node: SimulatedNode) {
    guard node.record.links.contains(link) else {
      return finding("n\(node.index) transmits on link \(link.rawValue), which is gone")
    }
    if !node.record.resting.isEmpty { checkResting(bytes, on: link, node) }
    if bytes.isEmpty { finding("n\(node.index) transmits nothing") }
    if scenario.isGroup || scenario.lossyCloseChance > 0 { heed(wordsIn: bytes, on: link, node) }
    if !node.record.isOpen { checkRefusal(bytes, on: link, node) }
    if scenario.hostileCount > 0, bytes.count < 400 { overhear(bytes, on: link, node) }
    let outstanding = node.record.outstanding[link, default: 0] + bytes.count
    node.record.outstanding[link] = outstanding
    let configuration = scenario.configurations[node.index]
    let limit = configuration.transmitWindow + WireLimits.largestFrameOverhead + controlSlack
    statistics.largestOutstanding = max(statistics.largestOutstanding, outstanding - configuration.transmitWindow)
    if outstanding > limit {
      finding("n\(node.index) has \(outstanding) bytes waiting for a link, the limit is \(limit)")
    }
  }

  /// Records the names of honest nodes' associations, which hostile nodes know.
  private func overhear(_ bytes: Bytes, on link: LinkID, _ node: SimulatedNode) {
    guard let (number, side) = node.links[link], !isHostile(connections[number].ends[1 - side].node) else { return }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    while let frame = try? decoder.next() {
      if case .associate(let association, _) = frame { knownAssociations.append(association) }
      overhearCodes(frame)
    }
  }

  private func observe(_ reply: Reply, _ id: CommandID, _ node: SimulatedNode) {
    if scenario.faults.contains(.replyLost), faultDice.chance(30) { return }
    if scenario.faults.contains(.replyRepeated), faultDice.chance(30) { settle(reply, id, node) }
    settle(reply, id, node)
  }

  private func settle(_ reply: Reply, _ id: CommandID, _ node: SimulatedNode) {
    guard let command = node.record.pending.removeValue(forKey: id) else {
      return finding("n\(node.index) answers command \(id.rawValue) twice, or nobody gave it")
    }
    if case .offer(let transfer, _, _) = command { node.record.resting.remove(transfer) }
    switch (command, reply) {
    case (.invite, .connected(let peer)):
      if node.record.members[peer] == nil { finding("an invitation ends with a peer that is not connected") }
    case (.offer(let transfer, let peer, _), .stored): checkStored(transfer, at: peer, node)
    case (.finishStream(let stream), .done): checkDone(stream, node)
    case (.openStream(let stream, _, _), .failed): node.record.written[stream] = nil
    case (.answerInvitation(let peer, _, _), .done):
      if node.record.invitations.remove(peer) == nil, node.record.members[peer] == nil {
        finding("n\(node.index) answers an invitation that had ended")
      }
    case (.answerInvitation(let peer, _, _), .failed(let ending)):
      if ending.reason == .full { node.record.invitations.remove(peer) }
    case (.showCode, .code): statistics.codes += 1
    case (.introduce(let one, let other, _), .done): checkIntroduction(of: one, and: other, by: node)
    case (.introduce, .failed(let ending)): checkIntroduction(ending, by: node)
    case (.answerIntroduction(let peer, let accept, _), .done):
      node.record.introduced.remove(peer)
      if accept { node.record.wanted.insert(peer) } else { node.record.declinedIntroductions.insert(peer) }
    case (.expect(let peer, let duration), .done): node.record.expected[peer] = instant + duration
    case (.stopExpecting(let peer), .done): node.record.expected[peer] = nil
    case (.invite, .failed(let ending)):
      checkHonest(ending, nil, node)
      checkAttempt(ending, node)
      node.record.attemptEnds[id] = ending
    case (.offer, .failed(let ending)): checkHonest(ending, nil, node)
    case (.ping(_, let timeout), .roundTrip(let duration)):
      // A paused process finds out late. But in the order of its facts, an answer never comes after the time limit.
      if duration < .zero || duration > timeout + timerDelay + longestPause {
        finding("n\(node.index): a ping of at most \(timeout) took \(duration)")
      }
    case (.ping, .done): finding("n\(node.index): a ping ends without a round trip")
    case (_, .failed), (_, .done): break
    case (_, .connected), (_, .stored), (_, .code), (_, .roundTrip):
      finding("n\(node.index) answers \(command) with \(reply)")
    }
  }

  /// How late the timer of an awake node may be.
  private var timerDelay: Duration { .nanoseconds(Int64(scenario.wakeDelay + Self.timerSlack)) }

  /// How late the timer of a paused node may be.
  private var longestPause: Duration { scenario.weather.isEmpty ? .zero : .seconds(60) }

  private func checkStored(_ transfer: TransferID, at peer: NodeID, _ node: SimulatedNode) {
    guard let index = indices[peer.peer], !isHostile(index), let content = node.record.offered[transfer] else { return }
    if !storedContents.contains(content) { finding("n\(node.index) takes a file for stored that is not") }
  }

  /// Checks that, without trouble, an association ends only because a node wants it to.
  ///
  /// The actions of a hostile node do not count as trouble: honest nodes don't lose one another because of them.
  func checkFair(_ ending: Ending, _ peer: NodeID, _ node: SimulatedNode) {
    guard scenario.isFair, let index = indices[peer.peer], !isHostile(index) else { return }
    // Leaving has a time limit, which a slow link may not meet.
    let mayLeave = [index, node.index].contains { place in
      let persona = scenario.personas[place]
      return persona.leaveChance > 0 || persona.removeChance > 0 || nodes[place].application.isShuttingDown
        || causes.departed.contains(place) || wasRemoved(place)
    }
    // The links over a relay end when it leaves.
    let mayTakeAway = nodes.contains {
      causes.mayRelay($0.index, [index, node.index])
        && ($0.application.isShuttingDown || causes.departed.contains($0.index) || isPartedByHostile($0)
          || wasRemoved($0.index))
    }
    // A hostile member may make one node leave the other, and the link may break before the other's answer is read.
    let isParted = causes.partedByHostile.contains([node.node, peer])
    switch ReasonClass(ending.reason) {
    case .broken: break
    // A link is given up for another one that is already there.
    case .lost:
      // The announcement may be lost with the link; the peer stays a member.
      let isMember = node.record.members[peer] != nil
      if isMember, scenario.lossyCloseChance > 0, causes.givenUpLinks.contains([node.node, peer]) { return }
      if mayLeave || mayTakeAway || isParted || ending.reason == .duplicateLink || isPartedForPlace(node.node, peer) {
        return
      }
    // A node asked for it. Any member may ask for the removal of others.
    case .left, .removed, .refused: return
    }
    finding("n\(node.index) loses a peer in fair weather: \(ending)")
  }

  private func isPartedByHostile(_ node: SimulatedNode) -> Bool {
    causes.partedByHostile.contains { $0.contains(node.node) }
  }

  /// Checks that no honest node breaks the protocol's rules or exceeds a limit.
  func checkHonest(_ ending: Ending, _ peer: NodeID?, _ node: SimulatedNode) {
    if let peer, let index = indices[peer.peer], isHostile(index) { return }
    if peer == nil && (scenario.hostileCount > 0 || !scenario.tampering.isEmpty) { return }
    if let peer, let index = indices[peer.peer], isFoundOut(index, node.index, ending) {
      return causes.partedByHostile(node.node, peer)
    }
    if [.protocolBroken, .internalError, .digestMismatch, .sizeMismatch].contains(ending.reason)
      || (ending.reason == .limitExceeded && ending.blame == .peer && !Self.isOfManyQuestions(ending))
    {
      finding("n\(node.index) takes an honest peer for a broken one: \(ending)")
    }
  }

  /// Returns whether the ending exposes a tampering relay. Such a relay may send more than its credit, more than it
  /// knows of, or in a tunnel that is over. A node that has introduced it to others then withdraws the introduction
  /// with the same reason.
  private func isFoundOut(_ index: Int, _ other: Int, _ ending: Ending) -> Bool {
    [.protocolBroken, .limitExceeded].contains(ending.reason)
      && (isTampering(index) || isTampering(other)
        || !scenario.tampering.isEmpty && ending.detail == "the introducer took it back")
  }

  /// Returns whether a node was refused for asking too often. Even an honest node is then ignored for a while.
  private static func isOfManyQuestions(_ ending: Ending) -> Bool {
    ["asked again too soon", "too many codes", "too many wait"].contains { ending.detail.hasPrefix($0) }
      || ending.detail.contains(" were wrong or broke off: ")
  }
}

extension WireLimits {
  /// The maximum excess over the window: a frame is begun whenever there is any room at all.
  static let largestFrameOverhead = 16_384 + 8
}
