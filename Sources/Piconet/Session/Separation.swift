import PiconetEngine
import PiconetWire

/// Two members of a group that are not members of one another: one of them does not want that, or they find no link to
/// each other. A node for which the group has no place is not reported here; the end of its invitation or membership
/// tells it.
public struct Separation: Sendable, Hashable {
  /// The relation of the two.
  @nonexhaustive
  public enum Standing: Sendable, Hashable {
    /// One of the two does not want the other, or may not have it. No member tries to bring them together again.
    case refused
    /// Two introductions in a row have found no link from one to the other. They are introduced again and again.
    case unreached
    /// They have become members of one another.
    case over
  }

  /// The two; one of them may be this node.
  public let members: Set<NodeID>
  /// Whether they may still come together, or have.
  public let standing: Standing
  /// Why they are, or were, apart; its `peer` is the one that said so.
  public let error: PiconetError
  /// The member whose introduction has led to it, if this node is one of the two.
  var introducer: PeerID?

  init(_ one: NodeID, _ other: NodeID, _ ending: Ending, isOver: Bool = false) {
    members = [one, other]
    standing = isOver ? .over : ending.reason.mayPass ? .unreached : .refused
    var error = PiconetError(ending, peer: ending.by)
    error.removedBy = nil
    self.error = error
  }

  public static func == (left: Separation, right: Separation) -> Bool {
    left.members == right.members && left.standing == right.standing && left.error.code == right.error.code
      && left.error.peer == right.error.peer
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

extension Session {
  /// Members of a group (`NodeConfiguration.membership`) that stay apart, and when that is over. They are members of
  /// this node, or nodes that it took on a member's word (`IntroductionPolicy.takeWord`) and that do not become its
  /// members. Each separation is reported once as long as it lasts. At most 256 wait for a reader, and 32 of those that
  /// one member has introduced to this node; beyond that the oldest are dropped.
  public var separations: EventSequence<Separation> { EventSequence(source: core.separations) }
}

extension NodeCore {
  /// A limit for each introducer: a member that introduces nodes which do not exist pushes out no other member's.
  private static let separationsOfIntroducer = 32

  func membersApart(_ one: NodeID, _ other: NodeID, _ ending: Ending) {
    separations.push(Separation(one, other, ending))
  }

  func membersTogether(_ one: NodeID, _ other: NodeID, _ ending: Ending) {
    separations.push(Separation(one, other, ending, isOver: true))
  }

  /// Reports that a node that was introduced to this one is apart from it, or no longer is.
  func tell(_ news: IntroductionOutcomes.News?, of node: NodeID) {
    switch news {
    case .apart(let ending):
      var separation = Separation(id, node, ending)
      separation.introducer = withState { $0.introductionHistory.introducer(of: node) }
      let introducer = separation.introducer
      separations.push(separation, atMost: Self.separationsOfIntroducer) { $0.introducer == introducer }
    case .together(let ending): membersTogether(id, node, ending)
    case nil: break
    }
  }
}
