import PiconetEngine

extension Scenario {
  /// Draws two to twelve nodes, each within reach of an earlier node, over one of three to five transports. There are
  /// chains of up to four relays, of which the longest are too long.
  mutating func drawRelays(_ dice: inout Dice) {
    let count = dice.pick([2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 7, dice.number(8...12)])
    transports = [.tcp, .rfcomm, .l2cap] + dice.pick([[], [], [], [.le], [.le], [.le, .simulated]])
    let (reach, bridges) = dice.chance(30) ? drawChain(of: count, &dice) : drawReach(of: count, &dice)
    populate(count, &dice) { index, dice in
      var persona = Persona()
      if index > 0 {
        persona.invitations = [Self.invitation(bridges[index], within: 0...800, &dice)]
        persona.invitations[0].timeout = 20_000_000_000
      }
      let isSmall = count <= 6
      persona.bursts = 0...(isSmall ? 2 : 1)
      persona.burstLength = 1...8
      persona.offers = 0...(isSmall ? dice.number(0...1) : 0)
      persona.streams = 0...(isSmall ? dice.number(0...1) : 0)
      persona.acceptIntroductionChance = 100
      persona.answerDelay = dice.milliseconds(0...50)
      persona.inviteAgainChance = 100
      persona.hides = index > 0 && dice.chance(20)
      return persona
    }
    let allRelay = dice.chance(75)
    for index in configurations.indices {
      configurations[index].transports = transports.filter(reach[index].contains) + [.relay]
      var relaying = RelayQuotas()
      relaying.memberRate = dice.pick([50_000, 1 << 20, 32 << 20])
      configurations[index].relaying = allRelay || dice.chance(60) ? relaying : nil
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

  /// Draws nodes that each share a transport with an earlier one. Nodes with several transports are the bridges.
  private func drawReach(of count: Int, _ dice: inout Dice) -> (reach: [[TransportKind]], bridges: [Int]) {
    var reach: [[TransportKind]] = [[dice.pick(transports)]]
    var bridges: [Int] = [0]
    for index in 1..<count {
      let target = dice.number(0...(index - 1))
      if dice.chance(60), reach[target].count == 1 {
        reach[target].append(dice.pick(transports.filter { $0 != reach[target][0] }))
      }
      let shared = reach[target][reach[target].count - 1]
      let other = dice.pick(transports)
      reach.append(dice.chance(60) && other != shared ? [shared, other] : [shared])
      bridges.append(target)
    }
    return (reach, bridges)
  }

  /// Draws a chain of the first nodes, as long as there are transports for it. The other nodes are anywhere beside it.
  private func drawChain(of count: Int, _ dice: inout Dice) -> (reach: [[TransportKind]], bridges: [Int]) {
    var reach: [[TransportKind]] = []
    var bridges: [Int] = []
    for index in 0..<count {
      guard index <= transports.count else {
        let target = dice.number(0...(index - 1))
        reach.append([dice.pick(reach[target])])
        bridges.append(target)
        continue
      }
      reach.append(transports.indices.filter { $0 == index || $0 == index - 1 }.map { transports[$0] })
      bridges.append(max(0, index - 1))
    }
    return (reach, bridges)
  }

  /// Makes one or two nodes that relay tamper with the bytes of others in some seeds of relays, usually until all other
  /// trouble is over.
  mutating func drawTampering(_ family: ScenarioFamily, _ dice: inout Dice) {
    guard family == .relays, !isCrowded, hostileCount == 0, dice.chance(50) else { return }
    let bridges = (0..<nodeCount).filter { configurations[$0].transports.count > 2 }
    guard !bridges.isEmpty else { return }
    let goesOn = dice.chance(20)
    for _ in 0..<dice.number(1...2) {
      let acts = RelayTampering.Act.allCases
      tampering[dice.pick(bridges)] = RelayTampering(
        acts: dice.chance(50) ? acts : [dice.pick(acts)], chance: dice.pick([1, 5, 30, 100]),
        since: dice.chance(50) ? 0 : dice.milliseconds(500...2_500), goesOn: goesOn)
    }
  }
}
