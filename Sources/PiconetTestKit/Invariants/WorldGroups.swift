import PiconetEngine
import PiconetWire

/// Checks on groups: which nodes are members of each other, and which members are told of pairs that are not.
extension World {
  func isOfHostile(_ node: NodeID) -> Bool { indices[node.peer].map { isHostile($0) } ?? true }

  /// Honest nodes by groups: nodes that lead to one another through members. A node alone is a group.
  var groups: [[Int]] {
    var groups: [[Int]] = []
    var seen: Set<Int> = []
    for start in 0..<scenario.engineCount where seen.insert(start).inserted {
      var group = [start]
      var next = 0
      while next < group.count {
        for member in nodes[group[next]].record.members.keys.sorted() {
          guard let index = indices[member.peer], !isHostile(index), seen.insert(index).inserted else { continue }
          group.append(index)
        }
        next += 1
      }
      groups.append(group.sorted())
    }
    return groups
  }

  func describe(_ group: [Int]) -> String { group.map { "n\($0)" }.joined(separator: " ") }

  private func areMembers(_ one: Int, _ other: Int) -> Bool {
    nodes[one].record.members[nodes[other].node] != nil && nodes[other].record.members[nodes[one].node] != nil
  }

  /// Checks that members of a member are members. This holds for all nodes that are still there, can be reached, and
  /// refuse no node. A hostile node may refuse any node, and may separate two others if its wish counts. No node brings
  /// these together again.
  /// - Parameter areTold: whether to check also that members are told of pairs that refuse one another.
  func checkGroups(areTold: Bool = true) {
    for group in groups where group.count > 1 {
      let ways = ways(in: group)
      for one in group {
        for other in group where other > one {
          if scenario.isRefused(one, other) {
            checkApart(one, other, in: group, areTold: areTold)
          } else if !areMembers(one, other), !isKeptApart(one, other), !isTakenByHostile(one, other),
            haveCommonMember(one, other, in: group), ways.lead(from: one, to: other)
          {
            finding("n\(one) and n\(other) are of one group, \(describe(group)), and not members of one another")
          }
        }
      }
    }
  }

  /// Returns whether two nodes have a common member. Only such a member can introduce them: if those between refuse one
  /// another, there may be none.
  private func haveCommonMember(_ one: Int, _ other: Int, in group: [Int]) -> Bool {
    group.contains { areMembers($0, one) && areMembers($0, other) }
  }

  /// Whether all lists agree, and no member is known to one side only.
  var isAgreed: Bool {
    let dropped = findings
    findings = Findings()
    findings.areDropped = true
    // A node that reports a pair apart has to introduce it first, which may take longer than the lists do.
    checkGroups(areTold: false)
    let isAny = findings.isAny
    findings = dropped
    return !isAny
      && nodes.prefix(scenario.engineCount).allSatisfy { node in
        node.record.members.keys.allSatisfy { peer in
          isOfHostile(peer) || indices[peer.peer].map { nodes[$0].record.members[node.node] != nil } ?? true
        }
      }
  }

  /// Checks that lists agree within the disconnect timeout and two seconds after the end of all trouble.
  func checkAgreement() {
    guard scenario.isGroup, !scenario.isCrowded, scenario.hostileCount == 0, scenario.tampering.isEmpty else { return }
    let timeout = scenario.configurations.map(\.disconnectTimeout).max() ?? .zero
    let promised = UInt64((timeout + .seconds(2)).wholeNanoseconds)
    if statistics.agreedAfter > promised {
      finding("lists differ for \(statistics.agreedAfter / 1_000_000) ms, promised are \(promised / 1_000_000) ms")
    }
  }

  /// Returns which nodes of a group can reach each other.
  private func ways(in group: [Int]) -> Ways {
    Ways(
      group, in: scenario, areMembers: areMembers,
      // Over a node that was removed and has come back, only the nodes that have let it in again can be reached.
      relays: { scenario.configurations[$0].relaying != nil && scenario.tampering[$0]?.goesOn != true })
  }

  /// Returns whether one of two has left the other because a member wanted it to.
  private func isKeptApart(_ one: Int, _ other: Int) -> Bool {
    wasRemoved(one) || wasRemoved(other)
      || causes.partedByHostile.contains([nodes[one].node, nodes[other].node])
  }

  func wasRemoved(_ index: Int) -> Bool { causes.removals.contains { $0.subject == nodes[index].node } }

  /// Checks that two nodes that refuse one another are not members, and that all common members are told so.
  private func checkApart(_ one: Int, _ other: Int, in group: [Int], areTold: Bool) {
    if areMembers(one, other) { finding("n\(one) and n\(other) are members, and one wants the other not") }
    guard areTold else { return }
    // They may never have met, or a relay that has tried may not have reached one of them.
    if wasRemoved(one) || wasRemoved(other) || !scenario.haveCommonTransport(one, other) { return }
    let (first, second) = (nodes[one].node, nodes[other].node)
    for index in group where index != one && index != other && areMembers(index, one) && areMembers(index, other) {
      let record = nodes[index].record
      let since = max(record.memberSince[first] ?? 0, record.memberSince[second] ?? 0)
      guard let told = record.apart[[first, second]], told >= since else {
        finding("n\(index) is not told that n\(one) and n\(other) stay apart")
        continue
      }
    }
  }

  /// Returns whether two nodes have no transport in common, so that they reach each other only over members that relay.
  func isFar(_ one: NodeID, _ other: NodeID) -> Bool {
    guard let first = indices[one.peer], let second = indices[other.peer] else { return false }
    return !scenario.haveCommonTransport(first, second)
  }

  /// Returns whether two nodes without a common transport can't reach each other: one of them refuses the other, or no
  /// chain of members leads from one to the other. A chain does not count if only one of the two accepts the nodes on
  /// it.
  func isOutOfReach(_ peer: NodeID, of node: SimulatedNode) -> Bool {
    guard isFar(node.node, peer), let index = indices[peer.peer] else { return false }
    if scenario.isRefused(node.index, index) { return true }
    let group = groups.first { $0.contains(node.index) } ?? []
    return !ways(in: group).lead(from: node.index, to: index)
  }

  func observeApart(_ one: NodeID, _ other: NodeID, _ ending: Ending, _ node: SimulatedNode) {
    statistics.membersApart += 1
    node.record.apart[[one, other]] = now
    guard !ending.reason.mayPass else {
      if !node.record.unreached.insert([one, other]).inserted {
        finding("n\(node.index) tells twice that \(name(one)) and \(name(other)) find no way: \(ending)")
      }
      return
    }
    node.record.unreached.remove([one, other])
    // A hostile node may leave an introduction unanswered, or say that it failed.
    guard scenario.isGroup, !isOfHostile(one), !isOfHostile(other) else { return }
    let pair = [one, other].compactMap { indices[$0.peer] }
    if scenario.isRefused(pair[0], pair[1]), [.declined, .identity].contains(ending.reason) { return }
    // It may be that no chain leads from one to the other.
    if isFar(one, other), ReasonClass(ending.reason) == .lost { return }
    // All other nodes accept members' introductions, and a node that is left out is not given up this way. Only a node
    // that leaves all others refuses all.
    if [.declined, .left].contains(ending.reason), !causes.departed.isDisjoint(with: pair) { return }
    if ending.reason != .removed { finding("n\(node.index) gives \(name(one)) and \(name(other)) up: \(ending)") }
  }

  func observeTogether(_ one: NodeID, _ other: NodeID, _ ending: Ending, _ node: SimulatedNode) {
    statistics.membersTogether += 1
    if node.record.unreached.remove([one, other]) == nil {
      finding("n\(node.index) tells that \(name(one)) and \(name(other)) are apart no more: \(ending)")
    }
  }
}
