import PiconetEngine

/// The way in which a node's program calls its members.
struct CallPersona: Sendable {
  /// The number of calls in each membership.
  var calls: ClosedRange<Int>
  /// The time over which they are spread, in virtual milliseconds.
  var spread: Int
  /// When its actor system stops, and another one is made.
  var remake: UInt64?
}

extension Scenario {
  /// Draws two to four nodes that call one another: in fair weather, over links that are lost all the time, with
  /// partitions, and with callees that restart. Some seeds have a member that breaks every rule of calls.
  mutating func drawCalls(_ dice: inout Dice) {
    let honest = dice.number(2...4)
    let hostile = dice.pick([0, 0, 0, 1])
    drawTransports(50, &dice)
    populate(honest + hostile, &dice) { index, dice in
      var persona = Persona()
      for target in 0..<index { persona.invitations.append(Self.invitation(target, within: 0...100, &dice)) }
      for number in persona.invitations.indices { persona.invitations[number].timeout = 10_000_000_000 }
      persona.bursts = 0...1
      persona.burstLength = 1...4
      persona.consumption = dice.pick([.atOnce, .delayed(dice.milliseconds(1...100))])
      persona.leaveChance = dice.pick([0, 0, 20])
      persona.inviteAgainChance = dice.pick([0, 60])
      return persona
    }
    if hostile > 0 {
      for index in 0..<honest { personas[index].invitations.append(Self.invitation(honest, within: 0...800, &dice)) }
    }
    hostileCount = hostile
    for index in configurations.indices {
      configurations[index].disconnectTimeout = .milliseconds(dice.pick([2_000, 4_000, 8_000]))
    }
    useTransports(&dice)
    activeTime = 5_000_000_000
    makesCalls = true
    for index in 0..<honest {
      callPersonas[index] = CallPersona(
        calls: 1...dice.pick([5, 25]), spread: dice.pick([300, 4_000]),
        remake: dice.chance(20) ? dice.milliseconds(100...4_500) : nil)
    }
    lossyCloseChance = dice.pick([0, 50])
    let isUntroubled = dice.chance(40)
    fairLinks = dice.chance(isUntroubled ? 75 : 40)
    if isUntroubled { return }
    dialFailChance = dice.pick([0, 20])
    for _ in 0..<dice.number(1...6) {
      let length = dice.milliseconds(1...dice.pick([300, 3_000, 9_000]))
      let trouble: Weather = dice.pick([
        .cut, .cut, .cut, .stall(length), .partition(length), .pause(length), .refuseDials(length),
        .outage(dice.pick(transports), isTold: dice.chance(70), length),
      ])
      weather.append((dice.milliseconds(50...4_900), trouble))
    }
    if dice.chance(40) {
      let crash = Weather.crash(
        node: dice.number(0...(honest - 1)), restartAfter: dice.milliseconds(0...dice.pick([1, 100, 1_500])))
      weather.append((dice.milliseconds(100...4_000), crash))
    }
  }

  /// Draws the channels of calls, which are separate from all others.
  mutating func drawCallChannels(_ dice: inout Dice) {
    channels.removeAll(where: SimulatedCalls.channels.contains)
    let isUrgent = dice.chance(50)
    for index in configurations.indices {
      configurations[index].channelLimit = 64
      // Shorter messages would split each call into hundreds of parts, and show nothing else.
      configurations[index].messageLimit = max(configurations[index].messageLimit, 3_000)
      configurations[index].messageWindow = max(
        configurations[index].messageWindow, configurations[index].messageLimit + 1_024)
      if isUrgent { configurations[index].channelPriorities[SimulatedCalls.channel] = .high }
    }
    for index in personas.indices where personas[index].unreadChannel.map(SimulatedCalls.channels.contains) == true {
      personas[index].unreadChannel = nil
    }
  }
}
