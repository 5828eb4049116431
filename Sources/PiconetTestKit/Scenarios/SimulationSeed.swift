/// One run: the family of its scenario, and the number from which everything follows. Its text is `family:number`.
public struct SimulationSeed: Sendable, Hashable, CustomStringConvertible {
  public let family: ScenarioFamily
  public let number: UInt64

  public init(_ family: ScenarioFamily, _ number: UInt64) {
    self.family = family
    self.number = number
  }

  /// Reads `family:number`; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let family = ScenarioFamily(rawValue: String(parts[0])), let number = UInt64(parts[1])
    else { return nil }
    self.init(family, number)
  }

  public var description: String { "\(family.rawValue):\(number)" }

  /// A 64-bit word that differs between families for the same number.
  var word: UInt64 {
    var word = number &* 0x9E37_79B9_7F4A_7C15
    for byte in family.rawValue.utf8 { word = (word ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return word
  }
}

/// Kinds of scenario, each with its own mixture of application, network, disk and trouble.
public enum ScenarioFamily: String, Sendable, CaseIterable {
  /// Two nodes, one invites: messages, files, leaving. Fair weather.
  case pair
  /// Two nodes invite each other at about the same time. Fair weather.
  case glare
  /// Two nodes that invite, withdraw, accept and leave all the time, over slow links, so that everything crosses.
  case fickle
  /// Files to and from slow, full and failing disks.
  case transfers
  /// Streams in both directions, many at once, to quick, slow and idle readers.
  case streams
  /// Cuts, stalls, half-open links, partitions, paused processes, refused dials.
  case weather
  /// Links are lost all the time, on two transports. Associations outlive them, and move from one to the other.
  case lossy
  /// Nodes crash, silently or not, and come back in a new incarnation.
  case restart
  /// Two to eight nodes with all of these.
  case mixed
  /// Two or three honest nodes and one that breaks every rule.
  case hostile
  /// Nodes invited by codes that people type, rightly or wrongly, all at once. Links are lost. Often one node does not
  /// know any code.
  case codes
  /// Nodes that hide and expect one another for short and long times. There are losses of links and crashes. Often an
  /// unexpected node dials.
  case hidden
  /// Members that introduce members to one another. Some are hidden or full, refuse all nodes, leave, are removed,
  /// crash or lose their links. Often a hostile one introduces any nodes.
  case introductions
  /// Two to twelve nodes that form groups, by few invitations, and lose one another: cuts, partitions, crashes, and
  /// nodes that hide. Some seeds have a member that breaks every rule, or nodes that refuse one another.
  case groups
  /// Such groups of nodes without a transport common to all. Some nodes reach others only over members that relay. Some
  /// seeds have a member that breaks every rule, or one that tampers with the bytes that it passes on.
  case relays
  /// Members that call one another. Links are lost, partitions occur, callees restart or never answer. Some seeds have
  /// a member that breaks every rule of calls.
  case calls
}
