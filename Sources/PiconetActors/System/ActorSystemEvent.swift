import Piconet

/// An event of an actor system.
@nonexhaustive
public enum ActorSystemEvent: Sendable {
  /// The member has objects, or may have: its program runs an actor system, too. Reported again when that is another
  /// system.
  /// - Parameter about: that program's description of itself; not to be trusted.
  case found(Member, about: [String: String])
  /// Calls to and from the member have ended, for this reason.
  case lost(Member, RemoteCallError)
  /// A call of a member was not served, for this reason, which its caller is told as well. Or it was served, and its
  /// caller is told this in place of the result, which is above a limit.
  case refused(IncomingCall, RemoteCallError)
  /// The member's policy does not let this node own the name. Members that allow it name this node as the owner.
  case nameRefused(String, by: Member)
  /// A name has another owner; nil: no owner.
  case ownerChanged(name: String, from: NodeID?, to: NodeID?)
  /// The node has stopped, and with it the session. `stopping` follows.
  case disconnected
  /// The system stops: `lost` follows for each member that it had, and then the end of the events.
  case stopping
}
