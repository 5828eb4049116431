import PiconetEngine
import PiconetWire

/// Two members of a group that are not members of one another, because one of them does not want that.
/// One for which the group has no place is not reported here: it is told by the end of its invitation or membership.
public struct Separation: Sendable, Hashable {
  /// The two.
  public let members: Set<NodeID>
  /// Why; its `peer` is the one that said so.
  public let error: PiconetError

  public static func == (left: Separation, right: Separation) -> Bool {
    left.members == right.members && left.error.code == right.error.code && left.error.peer == right.error.peer
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

extension Session {
  /// In a group (`NodeConfiguration.membership`): members of ours that stay apart. Those that just have not found a way
  /// to each other yet are introduced again and again, and not reported here. At most 256 wait for a reader; beyond
  /// that the oldest go.
  public var separations: EventSequence<Separation> { EventSequence(source: core.separations) }
}

extension NodeCore {
  func membersApart(_ one: NodeID, _ other: NodeID, _ ending: Ending) {
    var error = PiconetError(ending, peer: ending.by)
    error.removedBy = nil
    separations.push(Separation(members: [one, other], error: error))
  }
}
