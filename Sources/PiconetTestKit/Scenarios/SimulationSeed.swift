/// One run: the family of its scenario, and the number from which everything follows. Written `family:number`.
public struct SimulationSeed: Sendable, Hashable, CustomStringConvertible {
  public let family: ScenarioFamily
  public let number: UInt64

  public init(_ family: ScenarioFamily, _ number: UInt64) {
    self.family = family
    self.number = number
  }

  /// Reads `family:number`; anything else gives nil.
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
  /// Two nodes that invite, withdraw, accept and leave all the time, over slow links: everything crosses everything.
  case fickle
  /// Files to and from slow, full and failing disks.
  case transfers
  /// Streams in both directions, many at once, to quick, slow and idle readers.
  case streams
  /// Cuts, stalls, half-open links, partitions, paused processes, refused dials.
  case weather
  /// Links are lost all the time, on two transports: associations outlive them, and move from one to the other.
  case lossy
  /// Nodes crash, silently or not, and come back in a new incarnation.
  case restart
  /// Two to eight nodes and all of it.
  case mixed
  /// Two or three honest nodes and one that breaks every rule.
  case hostile
  /// Nodes invited by codes that people type, rightly or wrongly, all at once; lost links; often somebody who knows no
  /// code.
  case codes
  /// Nodes that hide and expect one another for short times and long ones; losses of links and crashes; often somebody
  /// who dials and is not expected.
  case hidden
  /// Members that introduce members to one another: hidden ones, full ones, ones that want nobody, that leave, are
  /// removed, crash and lose their links; often a hostile one that introduces any nodes it likes.
  case introductions
  /// Two to twelve nodes that form groups, by few invitations, and lose one another: cuts, partitions, crashes, some
  /// that hide; in some seeds a member that breaks every rule, or some that refuse one another.
  case groups
  /// Such groups of nodes that don't all have a transport in common: some reach others only over members that relay; in
  /// some seeds with a member that breaks every rule, or one that tampers with what it passes on.
  case relays
  /// Members call one another: links are lost, parts of the session part, callees are started anew or never answer;
  /// in some seeds with a member that breaks every rule of calls.
  case calls
}
