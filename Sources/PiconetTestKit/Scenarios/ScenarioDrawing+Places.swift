import PiconetEngine

extension Scenario {
  /// Draws more nodes than places in half of the seeds of groups and relays. Several nodes want the last place, often
  /// at the same moment and from different members, and groups meet. In some seeds sessions differ in size, or nodes
  /// leave all members and come back.
  mutating func drawPlaces(_ dice: inout Dice) {
    guard isGroup, dice.chance(50) else { return }
    isCrowded = true
    bringNear()
    let capacity = dice.number(3...5)
    let window = dice.pick([20, 200, 1_500])
    let count = dice.number(max(nodeCount, capacity + 1)...max(nodeCount, dice.pick([8, 8, 8, 8, 12])))
    while nodeCount < count { drawNewcomer(within: window, &dice) }
    let areEqual = dice.chance(70)
    for index in configurations.indices {
      configurations[index].capacity = areEqual ? capacity : dice.number(2...5)
    }
    if dice.chance(40) { drawMeetings(within: window, &dice) }
    if dice.chance(30) { drawDepartures(&dice) }
    if dice.chance(30) { weather.append((dice.milliseconds(5...1_500), .partition(dice.milliseconds(100...3_000)))) }
  }

  /// Draws one more node that invites an earlier one.
  private mutating func drawNewcomer(within window: Int, _ dice: inout Dice) {
    let target = dice.number(0...(nodeCount - 1))
    var configuration = Self.configuration(nodeCount, &dice)
    let model = configurations[target]
    configuration.transports = model.transports
    configuration.movesBetweenTransports = model.movesBetweenTransports
    configuration.relaying = model.relaying
    configuration.membership = .group
    configurations.append(configuration)
    var persona = Persona()
    persona.invitations = [Self.invitation(target, within: 0...window, &dice)]
    persona.invitations[0].timeout = 20_000_000_000
    persona.bursts = 0...1
    persona.acceptIntroductionChance = 100
    persona.answerDelay = dice.milliseconds(0...50)
    persona.inviteAgainChance = 100
    personas.append(persona)
    disks.append(DiskConditions())
    nodeCount += 1
  }

  /// Draws later invitations, through which groups meet.
  private mutating func drawMeetings(within window: Int, _ dice: inout Dice) {
    for index in personas.indices where dice.chance(50) {
      let target = dice.number(0...(nodeCount - 1))
      guard target != index, haveCommonTransport(index, target) else { continue }
      var invitation = Self.invitation(target, within: window...(window + 800), &dice)
      invitation.timeout = 10_000_000_000
      personas[index].invitations.append(invitation)
    }
  }

  private mutating func drawDepartures(_ dice: inout Dice) {
    for index in personas.indices where dice.chance(30) {
      personas[index].departure = dice.milliseconds(300...2_200)
    }
  }
}
