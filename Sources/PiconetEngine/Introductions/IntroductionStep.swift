/// What the engine does for a node that members have introduced to us.
enum IntroductionStep {
  /// A try begins: an invitation by a command of the engine's own.
  case invite(CommandID, InvitationDestination, within: Duration)
  /// It does not become a member by the word of others, which are told the one, and the application the other.
  case end(NodeID, Ending, told: Ending)
}
