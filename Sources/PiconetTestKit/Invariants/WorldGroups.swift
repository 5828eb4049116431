import PiconetEngine
import PiconetWire

/// What is checked of groups: who is a member of whom, and who is told of those that are not.
extension World {
  func isOfHostile(_ node: NodeID) -> Bool { indices[node.peer].map { isHostile($0) } ?? true }

  /// Honest nodes by groups: those that members lead to from one another. A node alone is a group.
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

  /// Members of a member are members: of everybody who is still there, who can be reached, and who refuses nobody. A
  /// hostile one may refuse whom it likes, and have two others part where its wish counts: nobody brings these together
  /// again.
  /// - Parameter areTold: whether it is also checked that members are told of pairs that refuse one another.
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

  /// Somebody has to introduce them: where those between refuse one another, nobody may have both.
  private func haveCommonMember(_ one: Int, _ other: Int, in group: [Int]) -> Bool {
    group.contains { areMembers($0, one) && areMembers($0, other) }
  }

  /// Whether all lists agree, and no member is known by one side only.
  var isAgreed: Bool {
    let dropped = findings
    findings = Findings()
    findings.areDropped = true
    // Who is told that a pair stays apart has to introduce it first, which may take longer than lists do.
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

  /// Lists agree within the disconnect timeout and two seconds after the end of all trouble.
  func checkAgreement() {
    guard scenario.isGroup, !scenario.isCrowded, scenario.hostileCount == 0, scenario.tampering.isEmpty else { return }
    let timeout = scenario.configurations.map(\.disconnectTimeout).max() ?? .zero
    let promised = UInt64((timeout + .seconds(2)).wholeNanoseconds)
    if statistics.agreedAfter > promised {
      finding("lists differ for \(statistics.agreedAfter / 1_000_000) ms, promised are \(promised / 1_000_000) ms")
    }
  }

  /// Whom the nodes of a group can reach.
  private func ways(in group: [Int]) -> Ways {
    Ways(
      group, in: scenario, areMembers: areMembers,
      // Over one that was removed and has come back lead only the ways of those that have let it in again.
      relays: { scenario.configurations[$0].relaying != nil && scenario.tampering[$0]?.goesOn != true })
  }

  /// Whether one of two has left the other because a member wanted it to.
  private func isKeptApart(_ one: Int, _ other: Int) -> Bool {
    wasRemoved(one) || wasRemoved(other)
      || causes.partedByHostile.contains([nodes[one].node, nodes[other].node])
  }

  func wasRemoved(_ index: Int) -> Bool { causes.removals.contains { $0.subject == nodes[index].node } }

  /// Two that refuse one another are no members, and whoever is a member of both is told so.
  private func checkApart(_ one: Int, _ other: Int, in group: [Int], areTold: Bool) {
    if areMembers(one, other) { finding("n\(one) and n\(other) are members, and one wants the other not") }
    guard areTold else { return }
    // They may never have met, or a relay that has tried it has found no way.
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

  /// Whether two nodes have no transport in common: then only members that relay lead from one to the other.
  func isFar(_ one: NodeID, _ other: NodeID) -> Bool {
    guard let first = indices[one.peer], let second = indices[other.peer] else { return false }
    return !scenario.haveCommonTransport(first, second)
  }

  /// Whether no chain of members leads from a node to another one, or those that are on it may be wanted by one of the
  /// two only.
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
    // A hostile node may keep an introduction unanswered, or say that it failed.
    guard scenario.isGroup, !isOfHostile(one), !isOfHostile(other) else { return }
    let pair = [one, other].compactMap { indices[$0.peer] }
    if scenario.isRefused(pair[0], pair[1]), [.declined, .identity].contains(ending.reason) { return }
    // Nobody may lead from one to the other.
    if isFar(one, other), ReasonClass(ending.reason) == .lost { return }
    // Everybody else takes members' word, and who is left out is not given up so. Only one that leaves everybody wants
    // nobody.
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
