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
  /// The engine was told that strangers may come in.
  var isOpen = true
  /// Nodes that members have introduced, and that wait for the application's answer; those that it wants; those that it
  /// has just refused.
  var introduced: Set<NodeID> = []
  var wanted: Set<NodeID> = []
  /// Who was the first to introduce each of them, and when.
  var introducers: [NodeID: (by: NodeID, since: UInt64)] = [:]
  /// Those of them that a hostile member was the first to introduce.
  var introducedByHostile: Set<NodeID> = []
  /// Dials to a hostile node over a relay, or over one that is hostile.
  var dialsByHostile: Set<DialID> = []
  var declinedIntroductions: Set<NodeID> = []
  /// Pairs that it has introduced to one another.
  var introductions: Set<Set<NodeID>> = []
  /// Pairs of members of which it has told that they find no way to one another.
  var unreached: Set<Set<NodeID>> = []
  /// Pairs of which it was told that they stay apart, and when last.
  var apart: [Set<NodeID>: UInt64] = [:]
  /// All that have been members.
  var formerMembers: Set<NodeID> = []
  /// Whom it expects, and until when.
  var expected: [PeerID: Instant] = [:]
  /// Links that others have dialled.
  var accepted: [LinkID: PeerID] = [:]
  /// Members, and the association that each came by.
  var members: [NodeID: AssociationID] = [:]
  var memberSince: [NodeID: UInt64] = [:]
  var connectedCount = 0
  /// Links that associations have taken over, for planted faults.
  var resumedLinks: Set<LinkID> = []
  /// Members whose link is gone.
  var suspended: Set<NodeID> = []
  /// The last state reported for each peer.
  var conditions: [NodeID: PeerCondition] = [:]
  /// Invitations of others that nothing has ended yet.
  var invitations: Set<NodeID> = []
  /// Peers whose code a person on our side was asked to compare.
  var compared: Set<NodeID> = []
  /// Codes that a person is to compare with members now.
  var comparing: [NodeID: String] = [:]
  /// Codes that a person here has seen on both screens, by who has the other.
  var seenSame: [NodeID: Set<String>] = [:]
  /// Codes that were confirmed by both since a peer became a member.
  var confirmed: [NodeID: Set<String>] = [:]
  /// How invitations of ours have failed.
  var attemptEnds: [CommandID: Ending] = [:]
  /// Invitations of ours that have reached their peers.
  var sentInvitations: Set<CommandID> = []
  /// Our offers: the number of their content.
  var offered: [TransferID: Int] = [:]
  /// The wire numbers of those that have been read from.
  var numbers: [TransferID: UInt64] = [:]
  /// Our offers that the application has paused.
  var resting: Set<TransferID> = []
  /// Transfers that the remote side says it has paused.
  var restingThere: Set<TransferID> = []
  /// Incoming offers that have no outcome yet, and who made them.
  var incoming: [TransferID: NodeID] = [:]
  /// Reliable messages delivered and not consumed, by cost.
  var unconsumed: [ChannelKey: Int] = [:]
  /// Streams of ours that nothing has ended yet: the numbers of their truths.
  var written: [StreamID: Int] = [:]
  /// Streams of others.
  var read: [StreamID: ReadStream] = [:]
  /// For a planted fault: messages that wait for the next one.
  var heldBack: [NodeID: [Bytes]] = [:]
  var finishedCount = 0
  var spins = 0
  var lastDeadline: UInt64 = 0

  /// Nothing is counted on a link that has been closed meanwhile.
  mutating func transmitted(_ count: Int, on link: LinkID) {
    guard let before = outstanding[link] else { return }
    outstanding[link] = before - count
  }

  /// The application may have cancelled the stream before it was told of it.
  mutating func consumed(_ count: Int, of id: StreamID) {
    guard var stream = read[id] else { return }
    stream.unread -= count
    stream.wasRead = true
    read[id] = stream
  }

  /// A peer that has left takes its messages with it, read or not.
  mutating func consumed(_ cost: Int, in channel: ChannelKey) {
    guard let before = unconsumed[channel] else { return }
    unconsumed[channel] = before - cost
  }

  struct ReadStream {
    let peer: NodeID
    let number: Int?
    /// Delivered and not consumed.
    var unread = 0
    /// The engine was told that it is read.
    var wasRead = false
    var isEnded = false
    /// Ended without all its bytes.
    var isVoid = false
  }
}
