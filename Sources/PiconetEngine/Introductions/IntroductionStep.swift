import PiconetWire

/// What the engine does for nodes that members introduce to us, or want to have removed.
enum IntroductionStep {
  /// The node is invited now, if there is a way to it and its turn has come.
  case tryNow(NodeID)
  /// Begin a try: an invitation by a command of the engine's own.
  case invite(CommandID, InvitationDestination, within: Duration)
  /// This introduction has ended, and its node does not become a member by it. The introducers were told; the
  /// application is told now.
  case ended(Introductions.Entry, Ending)
  /// Leave a member that is removed from the group by this node, and then answer the command.
  case leave(NodeID, CommandID?, by: NodeID)
}
