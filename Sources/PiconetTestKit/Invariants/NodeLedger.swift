import PiconetEngine
import PiconetWire

/// What a node has said and been told during one of its lives, for the invariants.
struct NodeLedger {
  /// Commands that have no reply yet.
  var pending: [CommandID: Command] = [:]
  /// Links that the engine knows about and has neither closed nor seen closed.
  var links: Set<LinkID> = []
  /// Bytes that an effect has transmitted and no fact has confirmed yet.
  var outstanding: [LinkID: Int] = [:]
  var dials: Set<DialID> = []
  /// Whether strangers may connect, as the engine was told.
  var isOpen = true
  /// Nodes that members have introduced and that wait for the application's answer; those that the application has
  /// accepted; those that it has just refused.
  var introduced: Set<NodeID> = []
  var wanted: Set<NodeID> = []
  /// The first introducer of each of them, and the time.
  var introducers: [NodeID: (by: NodeID, since: UInt64)] = [:]
  /// Those of them whose first introducer was a hostile member.
  var introducedByHostile: Set<NodeID> = []
  /// Dials to a hostile node over a relay, or over a hostile relay.
  var dialsByHostile: Set<DialID> = []
  var declinedIntroductions: Set<NodeID> = []
  /// Pairs that it has introduced to one another.
  var introductions: Set<Set<NodeID>> = []
  /// Pairs of members that it has reported as unable to reach one another.
  var unreached: Set<Set<NodeID>> = []
  /// Pairs that were reported apart to it, and the time of the last report.
  var apart: [Set<NodeID>: UInt64] = [:]
  /// All nodes that have been members.
  var formerMembers: Set<NodeID> = []
  /// The keys that it expects, and until when.
  var expected: [PeerID: Instant] = [:]
  /// Links that other nodes have dialled.
  var accepted: [LinkID: PeerID] = [:]
  /// Members, and the association through which each became one.
  var members: [NodeID: AssociationID] = [:]
  var memberSince: [NodeID: UInt64] = [:]
  var connectedCount = 0
  /// Links to which associations have moved, for planted faults.
  var resumedLinks: Set<LinkID> = []
  /// Members whose link is gone.
  var suspended: Set<NodeID> = []
  /// The last state reported for each peer.
  var conditions: [NodeID: PeerCondition] = [:]
  /// Invitations of other nodes that nothing has ended yet.
  var invitations: Set<NodeID> = []
  /// Peers whose code a person on our side was asked to compare.
  var compared: Set<NodeID> = []
  /// Codes that a person is comparing with members now.
  var comparing: [NodeID: String] = [:]
  /// Codes that a person here has seen on both screens, by the node with the other screen.
  var seenSame: [NodeID: Set<String>] = [:]
  /// Codes that both sides have confirmed since a peer became a member.
  var confirmed: [NodeID: Set<String>] = [:]
  /// The endings of failed invitations of this node.
  var attemptEnds: [CommandID: Ending] = [:]
  /// Invitations of this node that have reached their peers.
  var sentInvitations: Set<CommandID> = []
  /// Outgoing offers, with the number of their content.
  var offered: [TransferID: Int] = [:]
  /// The wire numbers of the offers that have been read from.
  var numbers: [TransferID: UInt64] = [:]
  /// Outgoing offers that the application has paused.
  var resting: Set<TransferID> = []
  /// Transfers that the remote side says it has paused.
  var restingThere: Set<TransferID> = []
  /// Incoming offers without an outcome yet, and their senders.
  var incoming: [TransferID: NodeID] = [:]
  /// Cost of the reliable messages that were delivered and not consumed.
  var unconsumed: [ChannelKey: Int] = [:]
  /// Outgoing streams that nothing has ended yet, with the numbers of their truths.
  var written: [StreamID: Int] = [:]
  /// Incoming streams.
  var read: [StreamID: ReadStream] = [:]
  /// Messages that wait for the next one, for a planted fault.
  var heldBack: [NodeID: [Bytes]] = [:]
  var finishedCount = 0
  var spins = 0
  var lastDeadline: UInt64 = 0

  /// Counts transmitted bytes. Nothing is counted on a link that has been closed meanwhile.
  mutating func transmitted(_ count: Int, on link: LinkID) {
    guard let before = outstanding[link] else { return }
    outstanding[link] = before - count
  }

  /// Counts consumed bytes. The application may have cancelled the stream before the engine was told of them.
  mutating func consumed(_ count: Int, of id: StreamID) {
    guard var stream = read[id] else { return }
    stream.unread -= count
    stream.wasRead = true
    read[id] = stream
  }

  /// Counts consumed messages. The messages of a peer that has left are forgotten with it, read or not.
  mutating func consumed(_ cost: Int, in channel: ChannelKey) {
    guard let before = unconsumed[channel] else { return }
    unconsumed[channel] = before - cost
  }

  struct ReadStream {
    let peer: NodeID
    let number: Int?
    /// Bytes delivered and not consumed.
    var unread = 0
    /// Whether the engine was told that it is read.
    var wasRead = false
    var isEnded = false
    /// Whether it ended without all its bytes.
    var isVoid = false
  }
}
