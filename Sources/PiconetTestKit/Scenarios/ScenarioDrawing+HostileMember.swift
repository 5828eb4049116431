import PiconetEngine

extension Scenario {
  /// Draws one more node, which breaks every rule, in a quarter of the seeds of groups and relays. It is drawn last, so
  /// the honest nodes of a seed are the same with it and without it.
  mutating func drawHostileMember(_ dice: inout Dice) {
    guard isGroup, dice.chance(25) else { return }
    let honest = nodeCount
    // It has the transports of one of the other nodes.
    configurations.append(dice.pick(configurations))
    personas.append(Persona())
    disks.append(DiskConditions())
    nodeCount += 1
    hostileCount = 1
    memberAttackChance = 30
    hostileConnections = 30 + honest * honest
    let removals = dice.pick([RemovalPolicy.members, .introducers, .nobody])
    for index in configurations.indices { configurations[index].removals = removals }
    for index in 0..<honest where dice.chance(40) && haveCommonTransport(index, honest) {
      personas[index].invitations.append(Self.invitation(honest, within: 0...800, &dice))
    }
  }

  func haveCommonTransport(_ one: Int, _ other: Int) -> Bool {
    transports.contains {
      configurations[one].transports.contains($0) && configurations[other].transports.contains($0)
    }
  }
}
