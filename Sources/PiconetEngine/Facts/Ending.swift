import PiconetWire

/// The side at fault for an ending.
@nonexhaustive
public enum Blame: String, Sendable, Hashable, CaseIterable {
  /// No side: the ending was wanted.
  case nobody
  /// We: our application, our disk, our limit.
  case us
  /// The peer: it said so, or broke a rule.
  case peer
  /// The connection, and so neither side.
  case link
}

/// How an attempt, an association or a transfer ended.
public struct Ending: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened, as both sides and the wire name it.
  public var reason: Reason
  /// Whose fault it was, as seen from this side.
  public var blame: Blame
  /// A human-readable detail, from the remote side or from us.
  public var detail: String
  /// For an attempt that did not reach its peer: how each transport failed, in the order of the failures.
  public var failures: [TransportFailure] = []
  /// The node behind the ending. For a removal, it is the node that asked for it: a member, or this node. For a failed
  /// introduction, it is the one of the two members that did not come to the other. A removed node has only its peer's
  /// word for it; nil if it was not told, because there was no link at the time.
  public var by: NodeID?

  /// Makes an ending for this reason.
  public init(
    _ reason: Reason, _ blame: Blame, _ detail: String = "", failures: [TransportFailure] = [], by: NodeID? = nil
  ) {
    self.reason = reason
    self.blame = blame
    self.detail = detail
    self.failures = failures
    self.by = by
  }

  public var description: String { detail.isEmpty ? "\(reason)" : "\(reason): \(detail)" }
}
