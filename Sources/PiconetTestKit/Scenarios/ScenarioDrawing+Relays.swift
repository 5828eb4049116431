import PiconetEngine

extension Scenario {
  /// Three to five nodes, each within reach of some node before it, over one of three transports: the longest chain has
  /// three relays.
  mutating func drawRelays(_ dice: inout Dice) {
    let count = dice.number(3...5)
    transports = [.tcp, .rfcomm, .l2cap]
    var reach: [[TransportKind]] = [[dice.pick(transports)]]
    var bridges: [Int] = [0]
    for index in 1..<count {
      let target = dice.number(0...(index - 1))
      // Nodes that have several are the bridges.
      if dice.chance(60), reach[target].count == 1 {
        reach[target].append(dice.pick(transports.filter { $0 != reach[target][0] }))
      }
      let shared = reach[target][reach[target].count - 1]
      let other = dice.pick(transports)
      reach.append(dice.chance(60) && other != shared ? [shared, other] : [shared])
      bridges.append(target)
    }
    populate(count, &dice) { index, dice in
      var persona = Persona()
      if index > 0 {
        persona.invitations = [Self.invitation(bridges[index], within: 0...800, &dice)]
        persona.invitations[0].timeout = 20_000_000_000
      }
      persona.bursts = 0...2
      persona.burstLength = 1...8
      persona.offers = 0...dice.number(0...1)
      persona.streams = 0...dice.number(0...1)
      persona.acceptIntroductionChance = 100
      persona.answerDelay = dice.milliseconds(0...50)
      persona.inviteAgainChance = 100
      persona.hides = index > 0 && dice.chance(20)
      return persona
    }
    for index in configurations.indices {
      configurations[index].transports = transports.filter(reach[index].contains) + [.relay]
      var relaying = RelayQuotas()
      relaying.memberRate = dice.pick([50_000, 1 << 20, 32 << 20])
      configurations[index].relaying = relaying
      configurations[index].membership = .group
      configurations[index].capacity = 16
    }
    isGroup = true
    activeTime = 3_000_000_000
    lossyCloseChance = dice.pick([0, 50])
    if dice.chance(50) { return }
    dialFailChance = dice.pick([0, 20])
    drawTrouble(dice.number(0...3), &dice)
    if dice.chance(30) {
      weather.append(
        (dice.milliseconds(5...2_500), .crash(node: dice.number(0...(count - 1)), restartAfter: 300_000_000)))
    }
  }
}
