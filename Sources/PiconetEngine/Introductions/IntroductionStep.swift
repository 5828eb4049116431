import PiconetWire

/// A step of the engine for nodes that members introduce to us, or want to have removed.
enum IntroductionStep {
  /// The node is invited now, if there is a route to it and its turn has come.
  case tryNow(NodeID)
  /// Begin a try: an invitation by a command of the engine's own.
  case invite(CommandID, InvitationDestination, within: Duration)
  /// The introduction has ended, and its node does not become a member by it. The introducers were told; the
  /// application is told now.
  case ended(Introductions.Entry, Ending)
  /// This node removes a member from the group: leave the member, and then answer the command.
  case leave(NodeID, CommandID?, by: NodeID)
}
