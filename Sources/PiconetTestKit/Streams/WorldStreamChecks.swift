import PiconetEngine
import PiconetWire

/// The invariants of streams, checked with every event about them.
extension World {
  func observeStream(_ event: Event, _ node: SimulatedNode) {
    switch event {
    case .streamOpened(let id, let peer, let name): observeOpened(id, peer, name, node)
    case .streamReceived(let id, let bytes):
      guard var stream = node.record.read[id], !stream.isEnded else {
        return finding("n\(node.index) gets bytes of a stream that is not open")
      }
      stream.unread += bytes.count
      node.record.read[id] = stream
      let limit = scenario.configurations[node.index].streamWindow
      if stream.unread > limit {
        finding("n\(node.index) holds \(stream.unread) bytes of a stream, the window is \(limit)")
      }
      let isRepeated = scenario.faults.contains(.streamBytesRepeated) && faultDice.chance(20)
      for _ in 0..<(isRepeated ? 2 : 1) {
        guard let number = stream.number else { return }
        statistics.streamBytes += bytes.count
        if let wrong = streams.came(bytes, of: number) { finding(wrong) }
      }
    case .streamEnded(let id, let end): observeEnded(id, end, node)
    case .streamStopped(let id, let ending):
      guard let number = node.record.written.removeValue(forKey: id) else {
        return finding("n\(node.index): stream \(id.rawValue) is stopped twice, or is not open")
      }
      checkHonest(ending, streams.truths[number].to, node)
    case .peerFound, .peerChanged, .peerLost, .invitationReceived, .invitationEnded, .confirmationNeeded, .codeShown,
      .comparisonNeeded, .comparisonEnded, .codesCompared,
      .codeFailed, .invitationSent, .introductionReceived, .membersApart, .membersTogether, .introductionEnded,
      .peerRefused, .connected, .disconnected, .suspended, .resumed, .messagesReceived, .stateChanged, .offerReceived,
      .transferProgressed, .transferAccepted, .transferCompared, .transferPaused, .transferEnded:
      break
    }
  }

  private func observeOpened(_ id: StreamID, _ peer: NodeID, _ name: String, _ node: SimulatedNode) {
    if node.record.members[peer] == nil { finding("a stream of a peer that is not connected") }
    var number: Int?
    if let index = indices[peer.peer], !isHostile(index) {
      number = streams.number(of: name, from: peer, to: node.node)
      guard let number else { return finding("n\(node.index) gets a stream that was not opened: \(name)") }
      if let wrong = streams.opened(number, as: id) { finding(wrong) }
    }
    statistics.streams += 1
    node.record.read[id] = NodeLedger.ReadStream(peer: peer, number: number)
    let open = node.record.read.values.count { $0.peer == peer && !$0.isEnded }
    if open > scenario.configurations[node.index].streamLimit { finding("more open streams than the limit") }
  }

  private func observeEnded(_ id: StreamID, _ end: StreamEnd, _ node: SimulatedNode) {
    if scenario.faults.contains(.streamEndLost), faultDice.chance(30) { return }
    guard var stream = node.record.read[id] else { return finding("n\(node.index): an unknown stream ends") }
    var isTaken = false
    if case .cancelled = end { isTaken = stream.isEnded && !stream.isVoid && (stream.unread > 0 || !stream.wasRead) }
    if stream.isEnded, !isTaken { return finding("n\(node.index): a stream ends twice") }
    stream.isEnded = true
    if end != .finished { stream.isVoid = true }
    node.record.read[id] = stream
    switch end {
    case .finished:
      if let number = stream.number, let wrong = streams.ended(number) { finding(wrong) }
    case .cancelled(let ending), .lost(let ending): checkHonest(ending, stream.peer, node)
    }
  }

  /// Checks a report to the writer that everything was read.
  func checkDone(_ id: StreamID, _ node: SimulatedNode) {
    guard let number = node.record.written.removeValue(forKey: id) else {
      return finding("n\(node.index): an unknown stream is done")
    }
    statistics.streamsDone += 1
    let index = indices[streams.truths[number].to.peer] ?? 0
    if !isHostile(index), let wrong = streams.done(number) { finding(wrong) }
  }

  func checkNoStreamLeft(_ node: SimulatedNode) {
    if let id = node.record.read.keys.sorted().first(where: { node.record.read[$0]?.isEnded == false }) {
      finding("stream \(id.rawValue) to n\(node.index) never ends")
    }
    if let id = node.record.written.keys.min() { finding("stream \(id.rawValue) of n\(node.index) never ends") }
  }
}
