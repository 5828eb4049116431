import PiconetEngine
import PiconetWire

/// Checks on peers' states: their order is legal, and they agree with everything else that was reported.
extension World {
  func observe(_ condition: PeerCondition, of peer: NodeID, _ node: SimulatedNode) {
    if scenario.faults.contains(.stateLost), faultDice.chance(20) { return }
    note(condition, of: peer, node)
    if scenario.faults.contains(.stateRepeated), faultDice.chance(20) { note(condition, of: peer, node) }
  }

  private func note(_ condition: PeerCondition, of peer: NodeID, _ node: SimulatedNode) {
    let former = node.record.conditions.updateValue(condition, forKey: peer)
    if !condition.mayFollow(former) {
      let before = former.map { "\($0)" } ?? "nothing"
      return finding("n\(node.index): \(name(peer)) is \(condition) after \(before)")
    }
    let isMember = node.record.members[peer] != nil
    switch condition {
    case .connected, .suspended:
      if !isMember { finding("n\(node.index): \(name(peer)) is \(condition), and no member") }
    case .available, .unavailable, .connecting, .disconnected:
      if isMember { finding("n\(node.index): \(name(peer)) is \(condition), and a member") }
    }
    if case .disconnected(let ending) = condition { checkHonest(ending, peer, node) }
  }

  /// Checks that every state is right when nothing is under way.
  func checkStates(_ node: SimulatedNode) {
    for peer in node.record.conditions.keys.sorted() {
      guard let condition = node.record.conditions[peer] else { continue }
      let isMember = node.record.members[peer] != nil
      let isInSight = node.application.inSight.contains(peer)
      switch condition {
      case .connecting:
        // This holds while the introduction stands, if a hostile node keeps it unanswered or is its only source.
        let isHostileWord = isOfHostile(peer) || node.record.introducedByHostile.contains(peer)
        if !(isHostileWord || isOutOfReach(peer, of: node)) || !node.record.wanted.contains(peer) {
          finding("n\(node.index) is connecting to \(name(peer)) for ever")
        }
      case .connected, .suspended: break
      case .available: if !isInSight { finding("n\(node.index): \(name(peer)) is available, and out of sight") }
      case .unavailable, .disconnected:
        if isInSight { finding("n\(node.index): \(name(peer)) is in sight, and \(condition)") }
      }
      if isMember != (condition == .connected || condition == .suspended) {
        finding("n\(node.index): \(name(peer)) is \(condition)")
      }
    }
    for peer in node.application.inSight where node.record.conditions[peer] == nil {
      finding("n\(node.index) was not told of the state of \(name(peer))")
    }
  }
}
