import PiconetEngine

extension Scenario {
  /// Everybody is invited by somebody, so all belong to one group; more invitations make it one in other ways.
  mutating func drawGroups(_ dice: inout Dice) {
    let count = dice.number(2...7)
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
}
