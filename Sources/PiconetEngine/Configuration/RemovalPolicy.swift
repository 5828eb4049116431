/// Whose wish to remove a member from the whole session counts here.
///
/// It is about the wishes of other members; what this node itself removes it leaves in any case.
public enum RemovalPolicy: String, Sendable, Hashable, CaseIterable {
  /// A member's, about nodes that it has introduced to this node: the member that let a node in may take that back. In
  /// a session of `pairs` without introductions no wish counts.
  case introducers
  /// Every member's, as with GKSession.
  case members
  /// Nobody's.
  case nobody
}

extension RemovalPolicy {
  /// Whether the wish of a member counts that has introduced the node in question, or has not.
  func counts(ofIntroducer isIntroducer: Bool) -> Bool {
    switch self {
    case .introducers: isIntroducer
    case .members: true
    case .nobody: false
    }
  }
}
