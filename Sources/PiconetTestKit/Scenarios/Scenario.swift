import PiconetEngine
import PiconetWire

/// Everything that makes up a run, drawn from its seed before the run begins.
struct Scenario {
  var nodeCount = 2
  /// The number of nodes at the end of the table that are hostile and have no engine.
  var hostileCount = 0
  /// The number of attacks on typed codes out of a hundred, besides the others that are drawn.
  var typedCodeAttackChance = 0
  /// The same for attacks with frames that only members may send.
  var memberAttackChance = 0
  /// The number of connections after which hostile nodes stop dialling.
  var hostileConnections = 25
  /// The maximum pause between two acts of a hostile node, in virtual milliseconds.
  var hostilePause = 100
  /// The time during which applications are active and trouble occurs.
  var activeTime: UInt64 = 2_000_000_000
  var configurations: [EngineConfiguration] = []
  var personas: [Persona] = []
  var disks: [DiskConditions] = []
  var discovery = DiscoveryConditions()
  var weather: [(at: UInt64, Weather)] = []
  /// How long a driver sleeps before it takes the facts in its mailbox.
  var wakeDelay: UInt64 = 100_000
  /// Whether effects are performed after a whole batch of facts, not after each fact.
  var performsLate = false
  var fairLinks = false
  var dialFailChance = 0
  var dialHangChance = 0
  /// The chance that a side that closes discards unread bytes, and with them the bytes that it had sent (RFC 2525,
  /// section 2.17).
  var lossyCloseChance = 0
  var faults: Set<PlantedFault> = []
  /// Whether all nodes accept introductions, stay, and can be reached. Then all introduced nodes become members of one
  /// another.
  var introducesAll = false
  /// Whether members of members become members. All nodes want that, and there is room.
  var isGroup = false
  /// Whether such a group has, or may have, fewer places than there are nodes that want one.
  var isCrowded = false
  /// The nodes that each node of a group keeps away, by their indices.
  var refusals: [Int: [Int: Refusal]] = [:]
  /// Members that relay and tamper with the bytes that they pass on, by their indices.
  var tampering: [Int: RelayTampering] = [:]
  /// The channels in which applications send. Channel 0 is always included.
  var channels: [MessageChannel] = [0]

  /// Whether nodes call one another, each in its own way.
  var makesCalls = false
  var callPersonas: [Int: CallPersona] = [:]

  /// The channels of applications and of calls.
  var allChannels: [MessageChannel] { makesCalls ? channels + SimulatedCalls.channels : channels }

  /// The transports over which every node can be reached, best first.
  var transports: [TransportKind] = [.tcp]

  var engineCount: Int { nodeCount - hostileCount }

  /// Whether engines ignore limits on messages and on kept data. The world still checks them against the drawn limits.
  var freesEngines: Bool { !faults.isDisjoint(with: [.acknowledgementsLost, .endlessMessage]) }

  /// Returns the configuration for the engine of a node.
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
    // The fault needs more traffic than any node may keep.
    for index in personas.indices {
      personas[index].bursts = 0...0
      personas[index].streams = 8...8
      personas[index].largestStream = 8 << 20
      personas[index].cancelStreamChance = 0
      personas[index].leaveChance = 0
    }
  }

  /// Whether nothing hinders honest nodes.
  var isFair: Bool { weather.isEmpty && dialFailChance == 0 && dialHangChance == 0 && tampering.isEmpty }

  /// The longest time after which everything that was started before is decided.
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
