import PiconetEngine
import PiconetWire

/// Which nodes of a group can reach each other. Two nodes reach each other over a common transport, or over a relay
/// that has both as members. The relay must in turn reach each of them, with three relays at most in all. A chain of
/// members does not count if its nodes refuse one another: each relay in it connects only its own members.
struct Ways {
  private let group: [Int]
  /// The smallest number of relays between two members, by their positions in the group. A number above the limit means
  /// that they can't reach each other.
  private var fewest: [Int]
  private let scenario: Scenario
  private let relays: [Int]
  private static let limit = Int(WireLimits.relays)

  init(_ group: [Int], in scenario: Scenario, areMembers: (Int, Int) -> Bool, relays: (Int) -> Bool) {
    self.group = group
    self.scenario = scenario
    self.relays = group.indices.filter { relays(group[$0]) }
    fewest = Array(repeating: Self.limit + 1, count: group.count * group.count)
    let pairs = group.indices.flatMap { one in
      group.indices.compactMap { one != $0 && areMembers(group[one], group[$0]) ? (one, $0) : nil }
    }
    for (one, other) in pairs where scenario.haveCommonTransport(group[one], group[other]) {
      fewest[place(one, other)] = 0
    }
    for _ in 0..<Self.limit {
      for (one, other) in pairs {
        fewest[place(one, other)] = min(fewest[place(one, other)], overRelays(one, other))
      }
    }
  }

  private func place(_ one: Int, _ other: Int) -> Int { one * group.count + other }

  /// Returns the smallest number of relays between two nodes that can be reached over a relay.
  private func overRelays(_ one: Int, _ other: Int) -> Int {
    guard takesRelays(one), takesRelays(other) else { return Self.limit + 1 }
    return relays.lazy.filter { $0 != one && $0 != other }
      .map { fewest[place(one, $0)] + 1 + fewest[place($0, other)] }.min() ?? Self.limit + 1
  }

  private func takesRelays(_ place: Int) -> Bool {
    scenario.configurations[group[place]].transports.contains(.relay)
  }

  /// Returns whether one node can reach another, members or not.
  func lead(from one: Int, to other: Int) -> Bool {
    if scenario.haveCommonTransport(one, other) { return true }
    guard let first = group.firstIndex(of: one), let second = group.firstIndex(of: other) else { return false }
    return overRelays(first, second) <= Self.limit
  }
}
