import PiconetWire

/// Whose fault an ending was.
@nonexhaustive
public enum Blame: String, Sendable, Hashable, CaseIterable {
  /// No one's: the ending was wanted.
  case nobody
  /// Ours: our application, our disk, our limit.
  case us
  /// The peer's: it said so, or did something that it may not.
  case peer
  /// The connection's, and so of neither side.
  case link
}

/// How an attempt, an association or a transfer ended.
public struct Ending: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened, as both sides and the wire name it.
  public var reason: Reason
  /// Whose fault it was, seen from here.
  public var blame: Blame
  /// A human-readable detail, from the remote side or from us.
  public var detail: String
  /// For an attempt that did not reach its peer: how each transport failed, in the order in which they did.
  public var failures: [TransportFailure] = []
  /// The node that asked for a removal: a member, or this node; or which of two members that we introduced did not come
  /// to the other. A removed node has only its peer's word for it; nil if it was not told, because there was no link at
  /// the time.
  public var by: NodeID?

  /// An end for this reason.
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
