import Piconet

/// What happens to an actor system.
@nonexhaustive
public enum ActorSystemEvent: Sendable {
  /// The member has objects, or may have: its program runs an actor system, too. Reported again when that is another
  /// one.
  /// - Parameter about: what that program says of itself; not to be trusted.
  case found(Member, about: [String: String])
  /// There are no more calls to the member, or from it, for this reason.
  case lost(Member, RemoteCallError)
  /// A call of a member was not served, for this reason, which its caller is told as well; or it was, and its caller is
  /// told this in place of the result, which is above a limit.
  case refused(IncomingCall, RemoteCallError)
  /// The member does not let this node have the name: its policy is against it. Members that do name this node.
  case nameRefused(String, by: Member)
  /// A name has another owner; nil: none.
  case ownerChanged(name: String, from: NodeID?, to: NodeID?)
  /// The node has stopped, and with it the session. `stopping` follows.
  case disconnected
  /// The system stops: `lost` follows for each member that it had, and then the end of the events.
  case stopping
}
