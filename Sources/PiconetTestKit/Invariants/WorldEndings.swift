import PiconetEngine
import PiconetWire

/// Checks on how attempts and memberships end. The reason must be one that such an end can have, and that a node gave.
struct Causes {
  /// The members that were removed, and the nodes that removed them.
  var removals: Set<Removal> = []
  /// The number of invitations that honest applications have declined, and of those whose inviters were told so.
  var declined = 0
  var toldDeclined = 0

  /// Members of one side that ended before the other side's did, by the association that both share.
  var endings: [AssociationID: MemberEnding] = [:]
  /// The time until which a frame of one node, or of any node, may have been lost.
  private var troubles: [Int: UInt64] = [:]
  private var troublesOfPairs: [Set<Int>: UInt64] = [:]
  private var troubleOfAll: UInt64?

  struct MemberEnding {
    let node: NodeID
    let ending: Ending
    let since: UInt64
  }

  mutating func trouble(of node: Int?, until time: UInt64) {
    if let node {
      troubles[node] = max(troubles[node] ?? 0, time)
    } else {
      troubleOfAll = max(troubleOfAll ?? 0, time)
    }
  }

  /// Notes that frames between two nodes may have been lost.
  mutating func trouble(between first: Int, _ second: Int, until time: UInt64) {
    troublesOfPairs[[first, second]] = max(troublesOfPairs[[first, second]] ?? 0, time)
  }

  /// Returns whether a frame of one of two nodes to the other may have been lost since this time.
  func isSilenced(_ first: Int, _ second: Int, since: UInt64) -> Bool {
    [troubles[first], troubles[second], troublesOfPairs[[first, second]], troubleOfAll].contains {
      $0.map { $0 >= since } ?? false
    }
  }

  /// The members that have relayed links between two nodes, and whether one of them is unknown. Of three relays, each
  /// end knows only its own side.
  private var relays: [Set<Int>: (known: Set<Int>, isUnknown: Bool)] = [:]

  mutating func relayed(_ pair: Set<Int>, by known: Set<Int>, count: Int) {
    let others = relays[pair] ?? ([], false)
    relays[pair] = (others.known.union(known), others.isUnknown || count > known.count)
  }

  func isRelayed(_ pair: Set<Int>) -> Bool { relays[pair] != nil }

  /// Returns whether this node may have relayed a link of the pair.
  func mayRelay(_ node: Int, _ pair: Set<Int>) -> Bool {
    guard let relays = relays[pair], !pair.contains(node) else { return false }
    return relays.isUnknown || relays.known.contains(node)
  }

  /// When relaying members last tampered with the bytes that they pass on.
  private(set) var tamperedAt: [Int: UInt64] = [:]

  mutating func tampered(by relay: Int, at time: UInt64) { tamperedAt[relay] = time }

  /// Pairs of honest nodes of which one has left the other at the wish of a hostile member, as its policy requires.
  private(set) var partedByHostile: Set<Set<NodeID>> = []

  mutating func partedByHostile(_ one: NodeID, _ other: NodeID) { partedByHostile.insert([one, other]) }

  /// Nodes that have left all members, to come back.
  var departed: Set<Int> = []
  /// Pairs of which one has left the other because the group had more members than places.
  private(set) var partedForPlaces: Set<Set<NodeID>> = []

  mutating func partedForPlace(_ one: NodeID, _ other: NodeID) { partedForPlaces.insert([one, other]) }

  /// Pairs with more than one link, of which one side has given one up. Its frames may be lost with the link.
  private(set) var givenUpLinks: Set<Set<NodeID>> = []

  mutating func gaveLinkUp(_ one: NodeID, _ other: NodeID) { givenUpLinks.insert([one, other]) }

  struct Removal: Hashable {
    var by: NodeID
    var subject: NodeID
  }
}

extension World {
  /// Every reason with which an invitation can end.
  private static let attemptReasons: Set<Reason> = [
    .declined, .cancelled, .timedOut, .unreachable, .full, .identity, .codeMismatch, .alreadyConnected, .inProgress,
    .shuttingDown, .linkFailed, .left, .selfConnection, .idle, .removed, .restarted, .wrongSession, .limitExceeded,
    .notAvailable, .codeNeeded, .wrongCode,
  ]

  /// Checks that both sides of a membership end for reasons of one class, unless the goodbye of one did not reach the
  /// other.
  func checkClass(
    _ ending: Ending, of peer: NodeID, _ association: AssociationID, since: UInt64, at node: SimulatedNode
  ) {
    guard let index = indices[peer.peer], !isHostile(index) else { return }
    var ending = ending
    if scenario.faults.contains(.reasonChanged), faultDice.chance(30) { ending.reason = .protocolBroken }
    guard let other = causes.endings[association], other.node == peer else {
      causes.endings[association] = Causes.MemberEnding(node: node.node, ending: ending, since: since)
      return
    }
    causes.endings[association] = nil
    // A node that leaves its relays at the same moment cuts off the route of its goodbye.
    let pair: Set = [index, node.index]
    let isCutOff = causes.isRelayed(pair) && !causes.departed.isDisjoint(with: pair)
    let both = min(since, other.since)
    let isSilenced =
      isCutOff || causes.isSilenced(index, node.index, since: both) || isTampered(index, node.index, since: both)
    if !ReasonClass(ending.reason).agrees(with: ReasonClass(other.ending.reason), isSilenced: isSilenced) {
      finding(
        "n\(node.index) loses \(name(peer)): \(ending), blame \(ending.blame); the other side: \(other.ending), blame \(other.ending.blame)"
      )
    }
  }

  func checkAttempt(_ ending: Ending, _ node: SimulatedNode) {
    if scenario.hostileCount == 0, !Self.attemptReasons.contains(ending.reason) {
      finding("an invitation of n\(node.index) ends with \(ending)")
    }
    if ending.reason == .unreachable, ending.blame == .link, ending.failures.isEmpty,
      ending.detail != "the peer is not in sight"
    {
      finding("n\(node.index) reaches nobody, and no transport says why: \(ending)")
    }
    if ending.reason == .declined, ending.blame == .peer, scenario.hostileCount == 0 {
      causes.toldDeclined += 1
      if causes.toldDeclined > causes.declined { finding("n\(node.index) is told of a refusal that nobody gave") }
    }
  }

  /// Notes a pair separated by a hostile member, whose wish counts like any other's.
  func notePartedByHostile(_ ending: Ending, _ peer: NodeID, _ node: SimulatedNode) {
    guard ending.reason == .removed, let by = ending.by, isOfHostile(by) else { return }
    causes.partedByHostile(node.node, peer)
  }

  /// Checks that a member has requested the removal, and that the named node is the one that did.
  func checkRemoval(_ ending: Ending, of peer: NodeID, at node: SimulatedNode) {
    guard ending.reason == .removed else { return }
    notePartedByHostile(ending, peer, node)
    guard let by = ending.by else {
      let isKnown = ending.blame == .peer && causes.removals.contains { $0.subject == node.node }
      if !isKnown, scenario.hostileCount == 0 {
        finding("n\(node.index): nobody has removed \(name(peer)): \(ending)")
      }
      return
    }
    // A hostile member may have said anything.
    if let index = indices[peer.peer], isHostile(index) { return }
    if let index = indices[by.peer], isHostile(index) { return }
    let subject = ending.blame == .peer ? node.node : peer
    if subject == by { finding("\(name(by)) has removed itself") }
    if !causes.removals.contains(Causes.Removal(by: by, subject: subject)), scenario.hostileCount == 0 {
      finding("\(name(by)) has not removed \(name(subject)), as n\(node.index) is told")
    }
  }
}
