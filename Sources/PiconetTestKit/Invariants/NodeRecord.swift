import PiconetEngine
import PiconetWire

/// What one life of a node has said and been told, for the invariants.
struct NodeRecord {
  /// Commands that have no reply yet.
  var pending: [CommandID: Command] = [:]
  /// Links that the engine was told of and has not closed or seen closed.
  var links: Set<LinkID> = []
  /// Bytes transmitted by effect and not by fact.
  var outstanding: [LinkID: Int] = [:]
  var dials: Set<DialID> = []
  /// Members, and the association that each came by.
  var members: [NodeID: AssociationID] = [:]
  var memberSince: [NodeID: UInt64] = [:]
  var connectedCount = 0
  /// Links that associations have taken over, for planted faults.
  var resumedLinks: Set<LinkID> = []
  /// Members whose link is gone.
  var suspended: Set<NodeID> = []
  /// The last state that was told of each peer.
  var conditions: [NodeID: PeerCondition] = [:]
  /// Invitations of others that nothing has ended yet.
  var invitations: Set<NodeID> = []
  /// Peers whose code a person of ours was to compare.
  var compared: Set<NodeID> = []
  /// Invitations of ours that have reached their peers.
  var sentInvitations: Set<CommandID> = []
  /// Our offers: the number of their content.
  var offered: [TransferID: Int] = [:]
  /// The numbers on the wire of those that were read from.
  var numbers: [TransferID: UInt64] = [:]
  /// Our offers that the application lets rest.
  var resting: Set<TransferID> = []
  /// Transfers that the remote side lets rest, as it says.
  var restingThere: Set<TransferID> = []
  /// Incoming offers that have no outcome yet, and who made them.
  var incoming: [TransferID: NodeID] = [:]
  /// Reliable messages delivered and not consumed, by cost.
  var unconsumed: [NodeID: Int] = [:]
  /// Streams of ours that nothing has ended yet: the numbers of their truths.
  var written: [StreamID: Int] = [:]
  /// Streams of others.
  var read: [StreamID: ReadStream] = [:]
  /// Of a planted fault: messages that wait for the next one.
  var heldBack: [NodeID: [Bytes]] = [:]
  var finishedCount = 0
  var spins = 0
  var lastDeadline: UInt64 = 0

  struct ReadStream {
    let peer: NodeID
    let number: Int?
    /// Delivered and not consumed.
    var unread = 0
    /// The engine was told that somebody reads it.
    var wasRead = false
    var isEnded = false
    /// Ended otherwise than with all its bytes.
    var isVoid = false
  }
}
