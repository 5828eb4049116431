/// Whose requests to remove a member from the whole session this node follows.
///
/// It concerns requests of other members. What this node itself removes, it leaves in any case.
@nonexhaustive
public enum RemovalPolicy: String, Sendable, Hashable, CaseIterable {
  /// A member's, about nodes that it has introduced to this node: the member that let a node in may take that back. In
  /// a session of `pairs` without introductions no request counts.
  case introducers
  /// Every member's, as with GKSession.
  case members
  /// No member's.
  case nobody
}

extension RemovalPolicy {
  /// Whether a member's request to remove a node counts.
  /// - Parameter isIntroducer: whether that member has introduced the node to us.
  func counts(ofIntroducer isIntroducer: Bool) -> Bool {
    switch self {
    case .introducers: isIntroducer
    case .members: true
    case .nobody: false
    }
  }
}
