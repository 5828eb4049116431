import PiconetEngine

extension Scenario {
  /// Everybody is invited by somebody, so all belong to one group; more invitations make it one in other ways.
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

  /// Each node has some of four transports: all that invite have one in common with whom they invite.
  private mutating func drawSubsets(_ dice: inout Dice) {
    transports = [.tcp, .rfcomm, .l2cap, .le]
    for index in configurations.indices {
      configurations[index].transports = transports.filter { _ in dice.chance(50) }
    }
    for index in configurations.indices {
      // Who has none in common with somebody gets one: nobody relays here.
      for other in 0..<index where !haveCommonTransport(index, other) {
        let added = configurations[other].transports.first ?? .tcp
        if configurations[other].transports.isEmpty { configurations[other].transports = [added] }
        configurations[index].transports = transports.filter {
          $0 == added || configurations[index].transports.contains($0)
        }
      }
      if configurations[index].transports.isEmpty { configurations[index].transports = [.tcp] }
    }
  }
}
