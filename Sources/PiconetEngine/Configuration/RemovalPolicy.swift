/// The members whose requests to remove a member from the whole session this node follows.
///
/// It concerns requests of other members only. A member that this node itself removes is always left.
@nonexhaustive
public enum RemovalPolicy: String, Sendable, Hashable, CaseIterable {
  /// Requests of a member about nodes that it has introduced to this node: the member that let a node in may take that
  /// back. In a session of `pairs` without introductions no request counts.
  case introducers
  /// Requests of every member, as in GKSession.
  case members
  /// No requests.
  case nobody
}

extension RemovalPolicy {
  /// Returns whether a member's request to remove a node counts.
  /// - Parameter isIntroducer: whether that member has introduced the node to us.
  func counts(ofIntroducer isIntroducer: Bool) -> Bool {
    switch self {
    case .introducers: isIntroducer
    case .members: true
    case .nobody: false
    }
  }
}
