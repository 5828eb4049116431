import PiconetEngine
import PiconetWire

/// Everything that makes up a run, drawn from its seed before the run begins.
struct Scenario {
  var nodeCount = 2
  /// How many nodes at the end of the table are hostile and have no engine.
  var hostileCount = 0
  /// Out of a hundred attacks, those on codes that are typed beside what else is drawn.
  var typedCodeAttackChance = 0
  /// Likewise for attacks with frames that only members may send.
  var memberAttackChance = 0
  /// Hostile nodes dial until there have been this many connections.
  var hostileConnections = 25
  /// The most virtual milliseconds for which they pause between two acts.
  var hostilePause = 100
  /// How long applications are active and trouble occurs.
  var activeTime: UInt64 = 2_000_000_000
  var configurations: [EngineConfiguration] = []
  var personas: [Persona] = []
  var disks: [DiskConditions] = []
  var discovery = DiscoveryConditions()
  var weather: [(at: UInt64, Weather)] = []
  /// How long a driver sleeps on before it takes what is in its mailbox.
  var wakeDelay: UInt64 = 100_000
  /// Effects are performed after a whole batch of facts, not after each.
  var performsLate = false
  var fairLinks = false
  var dialFailChance = 0
  var dialHangChance = 0
  /// A side that closes discards what it has not read, and with it what it had sent (RFC 2525, section 2.17).
  var lossyCloseChance = 0
  var faults: Set<PlantedFault> = []
  /// Everybody takes members' word, stays, and is reached: all that are introduced become members of one another.
  var introducesAll = false
  /// Members of members become members: nobody wants anything else, and there is room.
  var isGroup = false
  /// Such a group has, or may have, fewer places than there are nodes that want one.
  var isCrowded = false
  /// Whom nodes of a group keep away, by their indices.
  var refusals: [Int: [Int: Refusal]] = [:]
  /// Members that relay and tamper with what they pass on, by their indices.
  var tampering: [Int: RelayTampering] = [:]
  /// The channels in which applications send; always including channel 0.
  var channels: [MessageChannel] = [0]

  /// Nodes call one another, each in its way.
  var makesCalls = false
  var callPersonas: [Int: CallPersona] = [:]

  /// Those of calls as well.
  var allChannels: [MessageChannel] { makesCalls ? channels + SimulatedCalls.channels : channels }

  /// The transports over which every node can be reached, best first.
  var transports: [TransportKind] = [.tcp]

  var engineCount: Int { nodeCount - hostileCount }

  /// Engines keep to no limits on messages and on what they keep. The world holds them to those that were drawn.
  var freesEngines: Bool { !faults.isDisjoint(with: [.acknowledgementsLost, .endlessMessage]) }

  /// What the engine of a node is given.
  func engineConfiguration(of index: Int) -> EngineConfiguration {
    var configuration = configurations[index]
    if freesEngines {
      configuration.messageLimit = 64 << 20
      configuration.messageWindow = 1 << 29
    }
    return configuration
  }

  mutating func plant(_ faults: Set<PlantedFault>) {
    self.faults = faults
    guard faults.contains(.acknowledgementsLost) else { return }
    // More is sent than any node may keep.
    for index in personas.indices {
      personas[index].bursts = 0...0
      personas[index].streams = 8...8
      personas[index].largestStream = 8 << 20
      personas[index].cancelStreamChance = 0
      personas[index].leaveChance = 0
    }
  }

  /// Nothing hinders honest nodes.
  var isFair: Bool { weather.isEmpty && dialFailChance == 0 && dialHangChance == 0 && tampering.isEmpty }

  /// The longest time after which nothing started before may still be undecided.
  var settleTime: UInt64 {
    var longest: UInt64 = 0
    for configuration in configurations {
      let patience = [
        configuration.disconnectTimeout, configuration.handshakeTimeout, configuration.idleTimeout,
        configuration.leaveTimeout,
      ].map { UInt64($0.wholeNanoseconds) }.reduce(0, +)
      longest = max(longest, patience)
    }
    // An introduction whose introducer has left stands for its whole time.
    return max(2 * longest + 4_000_000_000, isCrowded ? 36_000_000_000 : 0)
  }
}
