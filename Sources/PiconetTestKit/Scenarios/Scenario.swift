import PiconetEngine

/// All that a run is made of, drawn from its seed before the run begins.
struct Scenario {
  var nodeCount = 2
  /// Nodes at the end of the table that are hostile, not engines.
  var hostileCount = 0
  /// Out of a hundred attacks, those on codes that are typed beside what else is drawn.
  var typedCodeAttackChance = 0
  /// Hostile nodes dial until there were so many connections.
  var hostileConnections = 25
  /// They rest for so many virtual milliseconds at most between two acts.
  var hostilePause = 100
  /// How long applications and trouble are at work.
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
  /// A side that closes throws away what it has not read, and with it what it had sent (RFC 2525, section 2.17).
  var lossyCloseChance = 0
  var faults: Set<PlantedFault> = []

  /// By which every node can be reached, best first.
  var transports: [TransportKind] = [.tcp]

  var engineCount: Int { nodeCount - hostileCount }

  /// Nothing is in the way of honest nodes.
  var isFair: Bool { weather.isEmpty && dialFailChance == 0 && dialHangChance == 0 }

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
    return 2 * longest + 4_000_000_000
  }
}
