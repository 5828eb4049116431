/// Counts of events in a run, which show that scenarios serve their purpose.
public struct SimulationStatistics: Sendable, Hashable {
  public var occurrences = 0
  public var dials = 0
  public var connections = 0
  /// The number of `connected` events.
  public var connected = 0
  /// Codes that were shown on a screen.
  public var codes = 0
  /// Members whose typed code was proven, and tries of typed codes that were wrong.
  public var provenCodes = 0
  public var wrongCodes = 0
  /// Messages delivered.
  public var messages = 0
  public var offers = 0
  /// Offers that ended as stored.
  public var stored = 0
  /// Incoming streams, their bytes, and the number of those read to their end.
  public var streams = 0
  public var streamBytes = 0
  public var streamsDone = 0
  public var crashes = 0
  /// Members whose link was lost, and members reached over another link, whether after a loss or by moving.
  public var suspended = 0
  public var resumed = 0
  public var moved = 0
  /// Members that applications had removed from the group.
  public var removals = 0
  /// Links of others that a hidden node let in because it expected them, and those that it refused.
  public var expectedLinks = 0
  public var hiddenRefusals = 0
  /// Links of members that such a node let in.
  public var membersBack = 0
  /// Pairs of members that a member has introduced, and resulting members, each counted on its own side.
  public var introductions = 0
  public var introduced = 0
  /// Pairs of a group that were given up.
  public var membersApart = 0
  public var membersTogether = 0
  /// Codes that members have compared, counted on each side.
  public var comparisons = 0
  /// Requested tunnels, links in them, each counted on its own side, and the largest number of relays of one tunnel.
  public var tunnels = 0
  public var relayedLinks = 0
  public var longestRelay = 0
  /// Frames of tunnels with which relaying members have tampered, by the kind of tampering, and channels broken by it.
  public var tampered: [String: Int] = [:]
  public var tamperingSeen = 0
  /// The longest time, in nanoseconds, for which members of a group had different lists after the end of all trouble.
  public var agreedAfter: UInt64 = 0
  /// Attacks of hostile nodes, and their kinds.
  public var attacks = 0
  public var kindsOfAttacks: Set<String> = []
  /// `connected` events about a hostile node.
  public var hostileMembers = 0
  /// Keys that hostile nodes have made for one connection each.
  public var hostileKeys = 0
  /// For nodes that keep partial files: offers without room, files that a transfer has left, and files that made room
  /// for another.
  public var offersWithoutRoom = 0
  public var partialsKept = 0
  public var partialsFreed = 0
  /// Calls that were made, answered with their results, and refused by callees; and the ends of all others, by the
  /// codes of their failures.
  public var calls = 0
  public var callsAnswered = 0
  public var callsRefused = 0
  public var callEndings: [UInt64: Int] = [:]
  /// The largest number of bytes beyond the transmit window that waited for one link.
  public var largestOutstanding = 0

  public init() {}

  public static func += (left: inout SimulationStatistics, right: SimulationStatistics) {
    left.occurrences += right.occurrences
    left.dials += right.dials
    left.connections += right.connections
    left.connected += right.connected
    left.codes += right.codes
    left.provenCodes += right.provenCodes
    left.wrongCodes += right.wrongCodes
    left.messages += right.messages
    left.offers += right.offers
    left.stored += right.stored
    left.streams += right.streams
    left.streamBytes += right.streamBytes
    left.streamsDone += right.streamsDone
    left.crashes += right.crashes
    left.suspended += right.suspended
    left.resumed += right.resumed
    left.moved += right.moved
    left.removals += right.removals
    left.expectedLinks += right.expectedLinks
    left.hiddenRefusals += right.hiddenRefusals
    left.membersBack += right.membersBack
    left.introductions += right.introductions
    left.introduced += right.introduced
    left.membersApart += right.membersApart
    left.membersTogether += right.membersTogether
    left.comparisons += right.comparisons
    left.tunnels += right.tunnels
    left.relayedLinks += right.relayedLinks
    left.longestRelay = max(left.longestRelay, right.longestRelay)
    left.tampered.merge(right.tampered, uniquingKeysWith: +)
    left.tamperingSeen += right.tamperingSeen
    left.agreedAfter = max(left.agreedAfter, right.agreedAfter)
    left.attacks += right.attacks
    left.kindsOfAttacks.formUnion(right.kindsOfAttacks)
    left.hostileMembers += right.hostileMembers
    left.hostileKeys += right.hostileKeys
    left.offersWithoutRoom += right.offersWithoutRoom
    left.partialsKept += right.partialsKept
    left.partialsFreed += right.partialsFreed
    left.calls += right.calls
    left.callsAnswered += right.callsAnswered
    left.callsRefused += right.callsRefused
    left.callEndings.merge(right.callEndings, uniquingKeysWith: +)
    left.largestOutstanding = max(left.largestOutstanding, right.largestOutstanding)
  }
}
