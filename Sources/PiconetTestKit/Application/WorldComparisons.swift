import PiconetEngine
import PiconetWire

/// People who compare short codes with members: whether they do, their answers, and the expected outcome.
extension World {
  // MARK: What applications do

  func planComparisons(with peer: NodeID, _ node: SimulatedNode) {
    guard scenario.configurations[node.index].comparesCodes, !isCalm, comparisonDice.chance(40) else { return }
    plan(.compareCodes(peer), of: node, in: comparisonDice.milliseconds(0...900))
  }

  func compareCodes(with peer: NodeID, _ node: SimulatedNode) {
    if isCalm { return }
    let timeout = comparisonDice.pick([Duration.milliseconds(200), .seconds(2), .seconds(5)])
    let id = command(.compareCodes(peer, timeout: timeout), of: node)
    if comparisonDice.chance(15) { plan(.cancelComparison(id), of: node, in: comparisonDice.milliseconds(0...300)) }
  }

  func answerComparison(with peer: NodeID, _ code: String, _ node: SimulatedNode) {
    guard comparisonDice.chance(90) else { return }
    let isSame = comparisonDice.chance(85)
    plan(.answerComparison(peer, isSame: isSame), of: node, in: comparisonDice.milliseconds(0...300))
  }

  func sayCode(to peer: NodeID, isSame: Bool, _ node: SimulatedNode) {
    guard let code = node.record.comparing[peer] else { return }
    if isSame { node.record.seenSame[peer, default: []].insert(code) }
    command(.answerComparison(peer, isSame, .codeMismatch), of: node)
  }

  // MARK: Checks

  func observeComparison(with peer: NodeID, _ code: String, _ node: SimulatedNode) {
    if node.record.members[peer] == nil { finding("n\(node.index) is to compare a code with one that is no member") }
    if node.record.comparing.updateValue(code, forKey: peer) != nil {
      finding("n\(node.index) is to compare two codes with \(name(peer)) at once")
    }
  }

  func observeEnd(ofComparisonWith peer: NodeID, _ ending: Ending, _ node: SimulatedNode) {
    if node.record.comparing.removeValue(forKey: peer) == nil {
      finding("n\(node.index): a comparison with \(name(peer)) ends, but there was none: \(ending)")
    }
  }

  /// Checks that a member is confirmed only by a code that both users have seen.
  func observeCompared(_ peer: NodeID, _ code: String, _ node: SimulatedNode) {
    node.record.comparing[peer] = nil
    statistics.comparisons += 1
    if node.record.members[peer] == nil { finding("n\(node.index) has compared a code with one that is no member") }
    let isSeen = node.record.seenSame[peer]?.contains(code) == true
    if !isSeen { finding("n\(node.index) confirms \(name(peer)) by a code that nobody there has seen") }
    node.record.confirmed[peer, default: []].insert(code)
    guard let index = indices[peer.peer], !isHostile(index), nodes[index].node == peer else { return }
    if nodes[index].record.seenSame[node.node]?.contains(code) != true {
      finding("n\(node.index) confirms \(name(peer)), whose user has not seen the code")
    }
  }

  func forgetComparisons(with peer: NodeID, _ node: SimulatedNode) {
    if node.record.comparing.removeValue(forKey: peer) != nil {
      finding("n\(node.index) is still to compare a code with \(name(peer)), which is gone")
    }
    node.record.confirmed[peer] = nil
  }

  /// Checks that a code which one side considers confirmed is confirmed on the other side too.
  func checkConfirmed() {
    for node in nodes.prefix(scenario.engineCount) {
      for (peer, codes) in node.record.confirmed.sorted(by: { $0.key < $1.key }) {
        guard let index = indices[peer.peer], !isHostile(index), nodes[index].node == peer else { continue }
        if nodes[index].record.confirmed[node.node] != codes {
          finding("n\(node.index) has confirmed \(name(peer)), but not the other way round")
        }
      }
    }
  }
}
