import PiconetEngine

/// The way in which a node of a group keeps another node away permanently.
enum Refusal: Sendable {
  /// Its person says no each time.
  case declines
  /// Its trust policy does not know the key.
  case distrusts
}

extension Scenario {
  /// Makes people compare codes with members, in every third seed of some families.
  mutating func drawComparisons(_ seed: SimulationSeed) {
    guard [.groups, .relays, .mixed, .introductions].contains(seed.family), seed.number % 3 == 0 else { return }
    for index in configurations.indices { configurations[index].comparesCodes = true }
  }

  /// Draws nodes that refuse each other, in a quarter of the seeds of groups and relays. In some of those, a node is
  /// removed.
  mutating func drawRefusals(_ dice: inout Dice) {
    guard isGroup, !isCrowded, hostileCount == 0, tampering.isEmpty, nodeCount > 2, dice.chance(70) else { return }
    for _ in 0..<dice.number(1...3) {
      let refusing = dice.number(0...(nodeCount - 1))
      let refused = dice.number(0...(nodeCount - 1))
      if refusing != refused { refusals[refusing, default: [:]][refused] = dice.chance(60) ? .declines : .distrusts }
    }
    guard dice.chance(30) else { return }
    let remover = dice.number(0...(nodeCount - 1))
    let removed = dice.number(0...(nodeCount - 1))
    if remover != removed { personas[remover].removal = (dice.milliseconds(800...2_500), removed) }
  }

  /// Returns whether one of two nodes keeps the other away.
  func isRefused(_ one: Int, _ other: Int) -> Bool {
    refusals[one]?[other] != nil || refusals[other]?[one] != nil
  }
}
