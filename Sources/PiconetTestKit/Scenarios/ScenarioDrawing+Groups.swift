import PiconetEngine

extension Scenario {
  /// Draws groups. Each node is invited by another, so all belong to one group. More invitations make it one in other
  /// ways.
  mutating func drawGroups(_ dice: inout Dice) {
    let count = dice.pick([2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7, dice.number(8...12)])
    drawTransports(40, &dice)
    populate(count, &dice) { index, dice in
      var persona = Persona()
      var targets = index > 0 ? [dice.number(0...(index - 1))] : []
      if dice.chance(30) { targets.append(dice.number(0...(count - 1))) }
      for target in targets where target != index {
        persona.invitations.append(Self.invitation(target, within: 0...800, &dice))
        persona.invitations[persona.invitations.count - 1].timeout = 20_000_000_000
      }
      persona.bursts = 0...1
      persona.acceptIntroductionChance = 100
      persona.answerDelay = dice.milliseconds(0...50)
      persona.inviteAgainChance = 100
      persona.hides = index > 0 && dice.chance(20)
      return persona
    }
    useTransports(&dice)
    if dice.chance(40) { drawSubsets(&dice) }
    for index in configurations.indices {
      configurations[index].membership = .group
      configurations[index].capacity = 16
    }
    isGroup = true
    activeTime = 3_000_000_000
    lossyCloseChance = dice.pick([0, 50])
    if dice.chance(40) { return }
    dialFailChance = dice.pick([0, 20])
    drawTrouble(dice.number(0...3), &dice)
    if dice.chance(30) {
      weather.append(
        (dice.milliseconds(5...2_500), .crash(node: dice.number(0...(count - 1)), restartAfter: 300_000_000)))
    }
  }

  /// Draws some of four transports for each node, with at least one in common with the node that it invites. In half of
  /// the seeds some pairs have no common transport. No node relays here, so these pairs never meet, and all other pairs
  /// do.
  private mutating func drawSubsets(_ dice: inout Dice) {
    transports = [.tcp, .rfcomm, .l2cap, .le]
    for index in configurations.indices {
      configurations[index].transports = transports.filter { _ in dice.chance(50) }
      if configurations[index].transports.isEmpty { configurations[index].transports = [.tcp] }
    }
    let areAllNear = dice.chance(50)
    for index in configurations.indices {
      let targets = areAllNear ? Array(0..<index) : personas[index].invitations.prefix(1).map(\.target)
      for target in targets { share(with: target, index) }
    }
    for index in personas.indices {
      let near = personas[index].invitations.filter { haveCommonTransport(index, $0.target) }
      personas[index].invitations = near
    }
  }

  /// Gives a node a transport of another node, if they have none in common.
  private mutating func share(with target: Int, _ index: Int) {
    guard !haveCommonTransport(index, target) else { return }
    let added = configurations[target].transports.first ?? .tcp
    configurations[index].transports = transports.filter {
      $0 == added || configurations[index].transports.contains($0)
    }
  }

  /// Makes all nodes reach one another if no node relays and a group may have fewer places than nodes. Otherwise it
  /// could happen that no node sees a race for the last place.
  mutating func bringNear() {
    guard !configurations.contains(where: { $0.transports.contains(.relay) }) else { return }
    for index in configurations.indices {
      for target in 0..<index { share(with: target, index) }
    }
  }
}
