/// What the engine does for a node that members have introduced to us.
enum IntroductionStep {
  /// Begin a try: an invitation by a command of the engine's own.
  case invite(CommandID, InvitationDestination, within: Duration)
  /// End the introduction of this node, which does not become a member by it. The application is told the first ending,
  /// and the introducers are told `told`.
  case end(NodeID, Ending, told: Ending)
}
