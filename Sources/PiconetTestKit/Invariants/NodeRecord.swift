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
  /// Members, and the short code under which each came.
  var members: [NodeID: String] = [:]
  var connectedCount = 0
  /// Invitations of others that nothing has ended yet.
  var invitations: Set<NodeID> = []
  /// Invitations of ours that have reached their peers.
  var sentInvitations: Set<CommandID> = []
  /// Our offers: the number of their content.
  var offered: [TransferID: Int] = [:]
  /// Incoming offers that have no outcome yet, and who made them.
  var incoming: [TransferID: NodeID] = [:]
  /// Reliable messages delivered and not consumed, by cost.
  var unconsumed: [NodeID: Int] = [:]
  var finishedCount = 0
  var spins = 0
  var lastDeadline: UInt64 = 0
}
