import PiconetEngine
import PiconetWire

/// Checks on nodes that members introduce to one another.
extension World {
  func observe(_ introduced: IntroducedNode, _ node: SimulatedNode) {
    if node.record.members[introduced.by] == nil {
      finding("n\(node.index) hears an introduction by \(name(introduced.by)), which is no member")
    }
    if node.record.members[introduced.node] != nil { finding("a member is introduced") }
    if !node.record.introduced.insert(introduced.node).inserted || node.record.wanted.contains(introduced.node) {
      finding("n\(node.index) is asked twice about \(name(introduced.node))")
    }
    node.record.introducers[introduced.node] = (introduced.by, now)
    if isOfHostile(introduced.by) {
      node.record.introducedByHostile.insert(introduced.node)
    } else {
      node.record.introducedByHostile.remove(introduced.node)
    }
    guard let by = indices[introduced.by.peer], !isHostile(by), !scenario.isGroup else { return }
    let isOurs = nodes[by].record.introductions.contains([introduced.node, node.node])
    if !isOurs { finding("\(name(introduced.by)) has introduced \(name(introduced.node)) to nobody") }
  }

  /// Returns whether an introduction may still stand in calm. An accepted one stands for its whole time if its
  /// introducer is gone, because only the introducer would learn that the node is gone as well.
  func mayStand(introductionOf peer: NodeID, to node: SimulatedNode) -> Bool {
    guard let (introducer, since) = node.record.introducers[peer], now < since + 30_000_000_000 else { return false }
    let hasGone = node.record.members[introducer] == nil || node.record.memberSince[introducer, default: 0] > since
    return hasGone && node.record.wanted.contains(peer)
  }

  func observeEnd(ofIntroduced peer: NodeID, _ ending: Ending, _ node: SimulatedNode) {
    let wasAsked = node.record.introduced.remove(peer) != nil
    let wasWanted = node.record.wanted.remove(peer) != nil
    if !wasAsked, !wasWanted, !isDeclined(peer, node) {
      finding("the introduction of \(name(peer)) to n\(node.index) ends, but there was none: \(ending)")
    }
    notePartedByHostile(ending, peer, node)
    checkHonest(ending, nil, node)
  }

  /// Returns whether the introduction has ended with a refusal, whose own reply comes before.
  private func isDeclined(_ peer: NodeID, _ node: SimulatedNode) -> Bool {
    node.record.declinedIntroductions.remove(peer) != nil
  }

  /// Checks a node that has become a member.
  func checkIntroduced(_ peer: ProvenPeer, _ node: SimulatedNode) {
    let wasWanted = node.record.wanted.remove(peer.node) != nil
    node.record.introduced.remove(peer.node)
    guard peer.introducedBy != nil else { return }
    statistics.introduced += 1
    if !wasWanted { finding("n\(node.index) has \(name(peer.node)) by an introduction that it has not accepted") }
  }

  /// Checks a report that two members are members of one another.
  func checkIntroduction(of one: NodeID, and other: NodeID, by node: SimulatedNode) {
    guard let first = indices[one.peer], let second = indices[other.peer], !isHostile(first), !isHostile(second)
    else { return }
    for (index, remote) in [(first, other), (second, one)] where !nodes[index].record.formerMembers.contains(remote) {
      finding("n\(node.index) takes \(name(one)) and \(name(other)) for members of one another, which they never were")
    }
  }

  /// Checks that no pair stays apart if all nodes accept each other and nothing goes wrong.
  func checkIntroduction(_ ending: Ending, by node: SimulatedNode) {
    guard scenario.introducesAll, !isCalm else { return }
    switch ending.reason {
    case .noSuchAssociation, .inProgress: break
    default: finding("n\(node.index) can't bring two members together: \(ending)")
    }
  }
}
