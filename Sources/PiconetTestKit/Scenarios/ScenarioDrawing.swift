import PiconetEngine
import PiconetWire

extension Scenario {
  static func drawn(_ family: ScenarioFamily, _ dice: inout Dice) -> Scenario {
    var scenario = Scenario()
    scenario.wakeDelay = dice.pick([1_000, 100_000, 2_000_000])
    scenario.performsLate = dice.chance(30)
    scenario.discovery.sources = dice.number(1...2)
    switch family {
    case .pair: scenario.drawPair(&dice)
    case .glare: scenario.drawGlare(&dice)
    case .fickle: scenario.drawFickle(&dice)
    case .transfers: scenario.drawTransfers(&dice)
    case .streams: scenario.drawStreams(&dice)
    case .weather: scenario.drawWeather(&dice)
    case .lossy: scenario.drawLossy(&dice)
    case .restart: scenario.drawRestart(&dice)
    case .mixed: scenario.drawMixed(&dice)
    case .hostile: scenario.drawHostile(&dice)
    case .codes: scenario.drawCodes(&dice)
    case .hidden: scenario.drawHidden(&dice)
    case .introductions: scenario.drawIntroductions(&dice)
    case .groups: scenario.drawGroups(&dice)
    case .relays: scenario.drawRelays(&dice)
    case .calls: scenario.drawCalls(&dice)
    }
    scenario.drawPlaces(&dice)
    scenario.drawChannels(&dice)
    scenario.drawHostileMember(&dice)
    scenario.drawTampering(family, &dice)
    scenario.drawRefusals(&dice)
    if scenario.makesCalls { scenario.drawCallChannels(&dice) }
    return scenario
  }

  /// Draws channels. Half of all seeds use only channel 0.
  private mutating func drawChannels(_ dice: inout Dice) {
    guard dice.chance(50) else { return }
    channels = dice.pick([[0, 1], [0, 1, 2, 63], [0, 7, 8]])
    for index in configurations.indices {
      configurations[index].channelLimit = dice.pick([1, 3, 64, 64])
      configurations[index].channelWindow = dice.pick([1_024, 1_500, 20_000, 128 << 10])
      for channel in channels { configurations[index].channelPriorities[channel] = dice.pick([.high, .normal, .low]) }
    }
    for index in personas.indices where dice.chance(30) { personas[index].unreadChannel = dice.pick(channels) }
  }

  mutating func populate(_ count: Int, _ dice: inout Dice, _ persona: (Int, inout Dice) -> Persona) {
    nodeCount = count
    for index in 0..<count {
      configurations.append(Self.configuration(index, &dice))
      personas.append(persona(index, &dice))
      disks.append(DiskConditions())
    }
  }

  /// Draws a configuration. Small limits are reached more often than large ones.
  static func configuration(_ index: Int, _ dice: inout Dice) -> EngineConfiguration {
    var configuration = EngineConfiguration(sessionID: "simulation", name: "n\(index)")
    configuration.removals = .members
    configuration.frameLimit = dice.pick([1_024, 1_500, 4_096, 16_381])
    configuration.messageLimit = dice.pick([300, 5_000, 20_000, 95 * 1024])
    configuration.messageWindow = max(configuration.messageLimit + 1_024, dice.pick([0, 30_000, 200_000]))
    configuration.transferLimit = dice.pick([1, 3, 64])
    configuration.transferWindow = max(2 * configuration.frameLimit, dice.pick([0, 40_000, 200_000]))
    configuration.streamLimit = dice.pick([1, 3, 64])
    configuration.firstStreamWindow = dice.pick([100, 5_000, 64 << 10])
    configuration.streamWindow = configuration.firstStreamWindow + dice.pick([5_000, 30_000, 200_000])
    configuration.streamMemory = dice.pick([60_000, 4 << 20])
    configuration.readSize = max(configuration.frameLimit, dice.pick([0, 10_000, 60_000]))
    configuration.transmitWindow = max(2 * configuration.frameLimit, dice.pick([0, 30_000, 256 << 10]))
    configuration.disconnectTimeout = .milliseconds(dice.pick([2_000, 4_000]))
    configuration.handshakeTimeout = .milliseconds(dice.pick([1_000, 3_000]))
    configuration.idleTimeout = .milliseconds(dice.pick([800, 2_000]))
    configuration.leaveTimeout = .milliseconds(dice.pick([500, 2_000]))
    configuration.transportHeadStart = .milliseconds(50)
    return configuration
  }

  static func invitation(_ target: Int, within: ClosedRange<Int>, _ dice: inout Dice)
    -> Persona.PlannedInvitation
  {
    Persona.PlannedInvitation(
      at: dice.milliseconds(within), target: target, byAddress: dice.chance(30),
      timeout: dice.milliseconds(200...4_000))
  }

  private mutating func drawPair(_ dice: inout Dice) {
    populate(2, &dice) { index, dice in
      var persona = Persona()
      if index == 0 {
        persona.invitations = [Self.invitation(1, within: 0...50, &dice)]
        persona.invitations[0].timeout = 10_000_000_000
      }
      persona.bursts = 1...dice.number(1...3)
      persona.burstLength = 1...dice.pick([3, 12])
      persona.consumption = dice.chance(70) ? .atOnce : .delayed(dice.milliseconds(1...200))
      persona.offers = 0...dice.number(0...2)
      persona.streams = 0...dice.number(0...2)
      persona.leaveChance = dice.pick([0, 40])
      return persona
    }
    fairLinks = dice.chance(40)
  }

  private mutating func drawGlare(_ dice: inout Dice) {
    let window = dice.pick([0, 1, 5, 50])
    populate(2, &dice) { index, dice in
      var persona = Persona()
      persona.invitations = [Self.invitation(1 - index, within: 10...(10 + window), &dice)]
      persona.invitations[0].timeout = 10_000_000_000
      persona.answerDelay = dice.milliseconds(0...100)
      persona.bursts = 0...1
      return persona
    }
    activeTime = 1_000_000_000
  }

  private mutating func drawFickle(_ dice: inout Dice) {
    populate(2, &dice) { index, dice in
      var persona = Persona()
      for _ in 0..<dice.number(1...6) {
        persona.invitations.append(Self.invitation(1 - index, within: 0...600, &dice))
        if dice.chance(30) { persona.invitations[persona.invitations.count - 1].timeout = dice.milliseconds(1...150) }
      }
      persona.acceptChance = dice.pick([100, 70])
      persona.answerDelay = dice.milliseconds(0...60)
      persona.askChance = dice.pick([0, 0, 50])
      persona.cancelInvitationChance = dice.pick([30, 80])
      persona.leaveChance = dice.pick([30, 80])
      persona.inviteAgainChance = dice.pick([50, 90])
      persona.bursts = 0...2
      persona.burstLength = 1...3
      persona.offers = 0...1
      persona.largestFile = 3_000
      persona.cancelTransferChance = 30
      persona.pauseChance = 30
      persona.streams = 0...2
      persona.largestStream = 3_000
      persona.cancelStreamChance = 30
      return persona
    }
    activeTime = 1_200_000_000
    lossyCloseChance = dice.pick([0, 50])
  }

  private mutating func drawTransfers(_ dice: inout Dice) {
    populate(dice.number(2...3), &dice) { index, dice in
      var persona = Persona()
      if index > 0 { persona.invitations = [Self.invitation(0, within: 0...50, &dice)] }
      persona.bursts = 0...1
      persona.offers = 1...dice.number(1...4)
      persona.largestFile = dice.pick([3_000, 100_000, 400_000])
      persona.acceptOfferChance = dice.pick([100, 80])
      persona.cancelTransferChance = dice.pick([0, 25])
      persona.pauseChance = dice.pick([0, 50])
      return persona
    }
    for index in disks.indices { disks[index] = Self.disk(&dice) }
    fairLinks = dice.chance(30)
  }

  private mutating func drawStreams(_ dice: inout Dice) {
    populate(dice.number(2...3), &dice) { index, dice in
      var persona = Persona()
      if index > 0 { persona.invitations = [Self.invitation(0, within: 0...50, &dice)] }
      persona.bursts = 0...1
      persona.offers = 0...1
      persona.streams = 1...dice.number(1...8)
      persona.largestStream = dice.pick([1_000, 100_000, 400_000])
      persona.cancelStreamChance = dice.pick([0, 25])
      persona.leaveChance = dice.pick([0, 20])
      persona.consumption = dice.pick([.atOnce, .delayed(dice.milliseconds(1...100)), .late])
      return persona
    }
    fairLinks = dice.chance(30)
  }

  private static func disk(_ dice: inout Dice) -> DiskConditions {
    DiskConditions(
      readDelay: dice.chance(50) ? 0 : dice.milliseconds(0...40),
      writeDelay: dice.chance(50) ? 0 : dice.milliseconds(0...40),
      capacity: dice.chance(70) ? .max : dice.number(0...200_000),
      commitFailChance: dice.pick([0, 0, 20]), sourceTroubleChance: dice.pick([0, 0, 25]))
  }

  private static func sociable(_ index: Int, of count: Int, _ dice: inout Dice) -> Persona {
    var persona = Persona()
    for target in 0..<count where target != index && dice.chance(count == 2 ? 70 : 45) {
      persona.invitations.append(invitation(target, within: 0...800, &dice))
    }
    persona.acceptChance = dice.pick([100, 85, 60])
    persona.answerDelay = dice.milliseconds(0...150)
    persona.confirmChance = dice.pick([100, 50])
    persona.askChance = dice.pick([0, 0, 30])
    persona.refuseChance = dice.pick([0, 0, 0, 20])
    persona.cancelInvitationChance = dice.pick([0, 20])
    persona.leaveChance = dice.pick([0, 30])
    persona.inviteAgainChance = dice.pick([0, 60])
    persona.burstLength = 1...5
    persona.consumption = dice.pick([.atOnce, .atOnce, .delayed(dice.milliseconds(1...300)), .late])
    persona.offers = 0...dice.number(0...2)
    persona.largestFile = dice.pick([5_000, 60_000])
    persona.acceptOfferChance = dice.pick([100, 60])
    persona.cancelTransferChance = dice.pick([0, 20])
    persona.pauseChance = dice.pick([0, 30])
    persona.streams = 0...dice.number(0...2)
    persona.cancelStreamChance = dice.pick([0, 20])
    persona.removeChance = count > 2 ? dice.pick([0, 0, 15]) : 0
    return persona
  }

  private mutating func drawWeather(_ dice: inout Dice) {
    let count = dice.number(2...3)
    populate(count, &dice) { Self.sociable($0, of: count, &$1) }
    dialFailChance = dice.pick([0, 20])
    dialHangChance = dice.pick([0, 10])
    lossyCloseChance = dice.pick([0, 50])
    discovery.flapChance = dice.pick([0, 30])
    discovery.wrongHintChance = dice.pick([0, 0, 20])
    drawTransports(40, &dice)
    useTransports(&dice)
    drawTrouble(dice.number(1...5), &dice)
  }

  mutating func drawTrouble(_ count: Int, _ dice: inout Dice) {
    let last = Int(activeTime / 1_000_000) - 50
    for _ in 0..<count {
      let length = dice.milliseconds(1...dice.pick([100, 1_000, 5_000]))
      let trouble: Weather = dice.pick([
        .cut, .cut, .stall(length), .stall(length), .partition(length), .pause(length), .refuseDials(length),
        .hide(length), .outage(dice.pick(transports), isTold: dice.chance(70), length),
      ])
      weather.append((dice.milliseconds(1...last), trouble))
    }
  }

  /// Draws one or two transports. The second has links that hold little.
  mutating func drawTransports(_ chance: Int, _ dice: inout Dice) {
    transports = dice.chance(chance) ? [.tcp, dice.pick([.rfcomm, .l2cap])] : [.tcp]
  }

  mutating func useTransports(_ dice: inout Dice) {
    for index in configurations.indices {
      configurations[index].transports = transports
      configurations[index].movesBetweenTransports = dice.chance(80)
    }
  }

  /// Draws members that stay and send one another a lot, over links that are lost.
  private mutating func drawLossy(_ dice: inout Dice) {
    let count = dice.pick([2, 2, 2, 3, 3, dice.number(4...8)])
    drawTransports(70, &dice)
    populate(count, &dice) { index, dice in
      var persona = Persona()
      for target in 0..<index { persona.invitations.append(Self.invitation(target, within: 0...100, &dice)) }
      for number in persona.invitations.indices { persona.invitations[number].timeout = 10_000_000_000 }
      persona.bursts = 1...(count > 3 ? 2 : 6)
      persona.burstLength = 1...dice.pick([4, 20])
      persona.spread = 6_000
      persona.consumption = dice.pick([.atOnce, .delayed(dice.milliseconds(1...300))])
      persona.offers = 0...dice.number(0...2)
      persona.largestFile = dice.pick([5_000, 300_000])
      persona.prefersSmallFiles = false
      persona.pauseChance = dice.pick([0, 40])
      persona.streams = 0...dice.number(0...3)
      persona.largestStream = dice.pick([5_000, 300_000])
      persona.cancelStreamChance = dice.pick([0, 20])
      persona.leaveChance = dice.pick([0, 0, 20])
      persona.cancelTransferChance = dice.pick([0, 20])
      persona.inviteAgainChance = dice.pick([0, 50])
      return persona
    }
    for index in configurations.indices {
      configurations[index].disconnectTimeout = .milliseconds(dice.pick([4_000, 8_000, 20_000]))
      if dice.chance(30) { disks[index] = Self.disk(&dice) }
    }
    useTransports(&dice)
    activeTime = 8_000_000_000
    lossyCloseChance = dice.pick([0, 50])
    dialFailChance = dice.pick([0, 20])
    dialHangChance = dice.pick([0, 5])
    discovery.flapChance = dice.pick([0, 20])
    var at = 0
    while true {
      at += dice.number(50...dice.pick([1_000, 3_000]))
      if at >= 7_900 { break }
      let length = dice.milliseconds(1...dice.pick([300, 3_000, 9_000]))
      var trouble: [Weather] = [
        .cut, .cut, .cut, .stall(length), .partition(length), .refuseDials(length), .hide(length),
      ]
      if transports.count > 1 {
        trouble.append(.outage(dice.pick(transports), isTold: dice.chance(70), length))
        trouble.append(.outage(.tcp, isTold: dice.chance(70), length))
      }
      weather.append((UInt64(at) * 1_000_000, dice.pick(trouble)))
    }
  }

  private mutating func drawCodes(_ dice: inout Dice) {
    let honest = dice.number(2...3)
    // Many nodes guess, and for longer than the pauses after three wrong tries.
    let isSearched = dice.chance(5)
    let hostile = isSearched ? 5 : dice.pick([0, 1, 1])
    populate(honest + hostile, &dice) { index, dice in
      var persona = Persona()
      for _ in 0..<dice.number(1...4) {
        let others = (0..<honest).filter { $0 != index }
        persona.invitations.append(Self.invitation(dice.pick(others), within: 0...1_500, &dice))
      }
      if hostile > 0, dice.chance(50) {
        persona.invitations.append(Self.invitation(honest, within: 0...1_000, &dice))
      }
      persona.setsCode = isSearched || dice.chance(70)
      persona.keepsOverCode = isSearched
      persona.typesCodeChance = dice.pick([50, 90])
      persona.askChance = dice.pick([0, 30])
      persona.cancelInvitationChance = dice.pick([0, 30])
      persona.leaveChance = dice.pick([0, 50])
      persona.inviteAgainChance = dice.pick([0, 60])
      persona.bursts = 0...1
      persona.burstLength = 1...3
      return persona
    }
    hostileCount = hostile
    typedCodeAttackChance = isSearched ? 100 : 70
    if isSearched { (activeTime, hostileConnections, hostilePause) = (9_000_000_000, 200, 500) }
    lossyCloseChance = dice.pick([0, 50])
    for _ in 0..<dice.pick([0, 0, 3]) { weather.append((dice.milliseconds(1...1_800), .cut)) }
  }

  private mutating func drawHidden(_ dice: inout Dice) {
    let honest = dice.number(2...4)
    let hostile = dice.pick([0, 1])
    populate(honest + hostile, &dice) { index, dice in
      var persona = Self.sociable(index, of: honest, &dice)
      persona.hides = dice.chance(80)
      persona.refuseChance = 0
      let others = (0..<(honest + hostile)).filter { $0 != index }
      for _ in 0..<dice.number(1...4) {
        persona.invitations.append(Self.invitation(dice.pick(others), within: 0...1_800, &dice))
        persona.expectations.append(
          Persona.PlannedExpectation(
            at: dice.milliseconds(0...1_500), target: dice.pick(others),
            length: dice.milliseconds(1...dice.pick([5, 100, 2_000]))))
      }
      persona.stopExpectingChance = dice.pick([0, 30])
      return persona
    }
    hostileCount = hostile
    lossyCloseChance = dice.pick([0, 50])
    dialFailChance = dice.pick([0, 20])
    for _ in 0..<dice.pick([0, 0, 4]) { weather.append((dice.milliseconds(1...1_800), .cut)) }
    if dice.chance(30) {
      let crash = Weather.crash(node: dice.number(0...(honest - 1)), restartAfter: dice.milliseconds(0...300))
      weather.append((dice.milliseconds(5...1_500), crash))
    }
  }

  /// Draws one node that knows all others and introduces them to one another.
  private mutating func drawIntroductions(_ dice: inout Dice) {
    let honest = dice.number(3...7)
    let isCalmWorld = dice.chance(35)
    let hostile = isCalmWorld ? 0 : dice.pick([0, 0, 1])
    drawTransports(40, &dice)
    populate(honest + hostile, &dice) { index, dice in
      var persona = isCalmWorld ? Persona() : Self.sociable(index, of: honest, &dice)
      persona.invitations = []
      if index == 0 {
        for target in 1..<(honest + hostile) {
          persona.invitations.append(Self.invitation(target, within: 0...300, &dice))
          persona.invitations[target - 1].timeout = 5_000_000_000
          persona.invitations[target - 1].byAddress = true
        }
      }
      if index == 0 || dice.chance(40) {
        for _ in 0..<dice.number(2...10) {
          persona.introductions.append(
            Persona.PlannedIntroduction(
              at: dice.milliseconds(400...1_900), first: dice.number(0...(honest - 1)),
              second: dice.number(0...(honest + hostile - 1)), timeout: dice.milliseconds(500...8_000)))
        }
      }
      persona.hides = index > 0 && dice.chance(40)
      persona.refuseChance = 0
      persona.acceptIntroductionChance = isCalmWorld ? 100 : dice.pick([100, 60])
      persona.cancelIntroductionChance = isCalmWorld ? 0 : dice.pick([0, 0, 30])
      if isCalmWorld { persona.answerDelay = dice.milliseconds(0...100) }
      return persona
    }
    useTransports(&dice)
    hostileCount = hostile
    if isCalmWorld {
      for index in personas.indices {
        for number in personas[index].introductions.indices {
          personas[index].introductions[number].timeout = 20_000_000_000
        }
      }
      introducesAll = true
      activeTime = 4_000_000_000
      return
    }
    if dice.chance(40) {
      let capacity = dice.number(2...(honest + hostile))
      for index in configurations.indices where dice.chance(60) { configurations[index].capacity = capacity }
    }
    if dice.chance(20) { personas[dice.number(1...(honest - 1))].askChance = 50 }
    lossyCloseChance = dice.pick([0, 50])
    dialFailChance = dice.pick([0, 20])
    for _ in 0..<dice.pick([0, 0, 4]) { weather.append((dice.milliseconds(1...1_800), .cut)) }
    if dice.chance(30) {
      let crash = Weather.crash(node: dice.number(0...(honest - 1)), restartAfter: dice.milliseconds(0...300))
      weather.append((dice.milliseconds(5...1_500), crash))
    }
  }

  private mutating func drawRestart(_ dice: inout Dice) {
    let count = dice.number(2...3)
    populate(count, &dice) { Self.sociable($0, of: count, &$1) }
    lossyCloseChance = dice.pick([0, 50])
    discovery.lossDelay = dice.milliseconds(1...3_000)
    for _ in 0..<dice.number(1...3) {
      let pause = dice.milliseconds(0...dice.pick([1, 100, 1_500]))
      weather.append(
        (dice.milliseconds(5...1_500), .crash(node: dice.number(0...(count - 1)), restartAfter: pause)))
    }
  }

  private mutating func drawMixed(_ dice: inout Dice) {
    let count = dice.number(2...8)
    populate(count, &dice) { Self.sociable($0, of: count, &$1) }
    for index in disks.indices where dice.chance(30) { disks[index] = Self.disk(&dice) }
    if dice.chance(40) {
      let capacity = dice.number(2...count)
      for index in configurations.indices { configurations[index].capacity = capacity }
    }
    if dice.chance(30) { configurations[dice.number(0...(count - 1))].removals = .nobody }
    lossyCloseChance = dice.pick([0, 50])
    discovery.flapChance = dice.pick([0, 20])
    discovery.wrongHintChance = dice.pick([0, 10])
    drawTransports(40, &dice)
    useTransports(&dice)
    drawTrouble(dice.number(0...3), &dice)
    if dice.chance(50) {
      weather.append(
        (dice.milliseconds(5...1_500), .crash(node: dice.number(0...(count - 1)), restartAfter: 1_000_000)))
    }
  }

  private mutating func drawHostile(_ dice: inout Dice) {
    let honest = dice.number(2...3)
    populate(honest + 1, &dice) { index, dice in
      var persona = Self.sociable(index, of: honest, &dice)
      persona.refuseChance = 0
      if dice.chance(50) { persona.invitations.append(Self.invitation(honest, within: 0...300, &dice)) }
      return persona
    }
    hostileCount = 1
    activeTime = 1_200_000_000
    if dice.chance(40) {
      // Associations without a link can be stolen.
      for index in configurations.indices { configurations[index].disconnectTimeout = .milliseconds(4_000) }
      for _ in 0..<dice.number(2...8) { weather.append((dice.milliseconds(50...1_150), .cut)) }
    }
    for index in configurations.indices {
      configurations[index].messageWindow = min(
        configurations[index].messageWindow, 40_000 + configurations[index].messageLimit)
      configurations[index].handshakeLimit = dice.pick([3, 128])
    }
  }
}
