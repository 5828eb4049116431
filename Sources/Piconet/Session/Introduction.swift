import PiconetEngine
import PiconetRuntime
import PiconetWire

/// The treatment of nodes that members introduce.
@nonexhaustive
public enum IntroductionPolicy: Sendable, Hashable {
  /// `Session.introductions` lists each, to be accepted or declined. An invitation of the node meanwhile waits for that
  /// answer.
  case ask
  /// `Session.introductions` lists each, for information only. A program that wants the node invites it
  /// (`Introduction.asPeer`), and an invitation by the node is a question like any other's. Introductions may be
  /// accepted and declined as well. The trust policy judges a node when it is connected. The list leaves out only nodes
  /// that are blocked, have the name of another known key, or have a name that looks like it.
  case show
  /// Every member's word is taken: a node that is introduced becomes a member, if it wants that as well.
  case takeWord
  /// Every introduction is refused.
  case refuse
}

/// A node that one of our members proposes as a member: to be accepted or declined before it expires.
public struct Introduction: Sendable, Identifiable {
  /// Unique within the node.
  public let id: UInt64
  /// The node that is introduced. Its key is proven before it becomes a member.
  public let peer: NodeID
  /// A known key's name here (`KnownPeer`), or else what the introducer calls the node: a label, and no proof of
  /// anything. Escape it before showing it on a terminal.
  public let name: String
  /// The member that introduces the node; the first one, if several do.
  public let introducer: Member
  let core: NodeCore
  let state: Watched<InvitationOutcome?>

  /// The node as a peer to invite (`Node.invite`), in place of `accept`: with a context, and with the code to compare.
  /// While the introduction stands, the invitation goes to the addresses that the introducer gives; at any time it may
  /// go over members that relay. The introduction ends once the node is a member.
  public var asPeer: Peer { Peer(introduced: peer, name: name) }

  /// Accepts: invites the node and lets it in, and returns once it is a member. The node must accept as well, and a
  /// link between the two must be found. Cancelling the task does not take the acceptance back.
  /// - Throws: why it does not become a member: `timedOut` when the introduction's time is over; what the other side
  ///   answered; `unreachable`; `notConnected` if it was answered before.
  @discardableResult
  public func accept() async throws(PiconetError) -> Member {
    if case .failure(let ending) = await answer(true, .left), state.value == nil {
      throw PiconetError(ending, peer: peer)
    }
    var version: UInt64 = 0
    while let (value, next) = await state.next(after: version, isolation: nil) {
      switch value {
      case .joined(let membership): return Member(membership: membership, core: core)
      case .failed(let error): throw error
      case nil: version = next
      }
    }
    throw PiconetError(Task.isCancelled ? .cancelled : .shuttingDown, peer: peer, blame: .us)
  }

  /// Declines: the introducer is told `declined`. The node may still invite this one, as any other may.
  /// - Parameter isRemembered: whether later introductions of the node, by any member, get the same answer without a
  ///   question here. This holds until the node restarts or becomes a member in another way. It is meant for a person's
  ///   no: in a group every member introduces a newcomer. The last 1,024 are remembered.
  public func decline(remembering isRemembered: Bool = false) async {
    guard case .success = await answer(false, .declined), isRemembered else { return }
    core.withState { $0.introductionHistory.declined(peer, by: introducer.id.peer) }
  }

  private func answer(_ accept: Bool, _ reason: Reason) async -> Result<Void, Ending> {
    await core.answer(
      to: .answer(introductionOf: peer, accept: accept, reason), if: { core.isOpen(self) },
      otherwise: Ending(.noSuchAssociation, .us, "answered already"))
  }

  /// Waits until the introduction ends without the node becoming a member. Nil if the node is a member now, the task is
  /// cancelled or this node stops.
  public func ended() async -> PiconetError? {
    var version: UInt64 = 0
    while let (value, next) = await state.next(after: version, isolation: nil) {
      switch value {
      case .failed(let error): return error
      case .joined: return nil
      case nil: version = next
      }
    }
    return nil
  }
}

extension Session {
  /// Nodes that members introduce, where `NodeConfiguration.introductions` says `ask`. An introduction that ends before
  /// a reader has come to it is removed.
  public var introductions: EventSequence<Introduction> { EventSequence(source: core.introductions) }

  /// Introduces two members to each other. Each is told the other's id, name and addresses. A member that wants the
  /// other becomes a member of it without a question from there. Returns once each is a member of the other; that may
  /// already be so. Cancelling the task takes the introduction back.
  ///
  /// Their `NodeConfiguration.introductions` decide what becomes of it. They have this node's word for one another's
  /// keys, and nothing more: neither remembers the other because of it.
  /// - Parameters:
  ///   - one: a member of this session.
  ///   - other: another member of this session.
  ///   - timeout: how long the introduction stands, for people to answer and for a link to be found; more than 0 and at
  ///     most 300 s.
  /// - Throws: `notConnected` if one of them is not a member; `notSupported` if its program takes no introductions;
  ///   `inProgress`; `limitExceeded` for another time, or where 64 introductions to one member have no answer; what one
  ///   of them answered, such as `declined`, `full` or `timedOut`, with that one as `peer`; `cancelled`.
  public func introduce(
    _ one: Member, to other: Member, timeout: Duration = .seconds(30)
  ) async throws(PiconetError) {
    let areMembers: @Sendable () -> Bool = { !one.membership.isOver && !other.membership.isOver }
    let request = Request.introduce(one.id, to: other.id, timeout: timeout)
    if case .failure(let ending) = await core.answer(to: request, if: areMembers, otherwise: NodeCore.hasLeft) {
      var error = PiconetError(ending, peer: ending.by)
      error.removedBy = nil
      throw error
    }
  }
}

extension NodeCore {
  /// Whether the introduction waits for its answer, or for its result.
  func isOpen(_ introduction: Introduction) -> Bool {
    withState { $0.introductions[introduction.peer] === introduction.state }
  }

  // MARK: What the loop tells

  func introduced(_ introduced: IntroducedNode) {
    guard let introducer = member(introduced.by) else { return }
    let isDeclined = withState { $0.introductionHistory.isDeclined(introduced.node) }
    if configuration.introductions == .refuse || isDeclined || isRefused(introduced) {
      return tell(.answerIntroduction(introduced.node, accept: false, .declined))
    }
    if configuration.introductions == .takeWord {
      withState { $0.introductionHistory.wanted(introduced.node, by: introduced.by.peer) }
      return tell(.answerIntroduction(introduced.node, accept: true, .left))
    }
    let introduction = Introduction(
      id: makeNumber(), peer: introduced.node,
      name: judge.standing(of: introduced.node.peer).known?.name ?? introduced.name, introducer: introducer, core: self,
      state: Watched(nil))
    withState { $0.introductions[introduced.node] = introduction.state }
    introductions.push(introduction)
  }

  /// Whether the policy refuses the node, or its name belongs to another key here or looks like such a name. The only
  /// proof of the name is the word of the member that gives it. Its link is judged again, by the name that the node
  /// gives itself.
  private func isRefused(_ introduced: IntroducedNode) -> Bool {
    if !judge.mayBeShown(introduced.node, name: introduced.name) { return true }
    if configuration.introductions == .show { return false }
    if case .refused = judge.judge(introduced.node, name: introduced.name, isDialled: true) { return true }
    return false
  }

  func introductionEnded(_ node: NodeID, _ ending: Ending) {
    if configuration.introductions == .takeWord {
      tell(withState { $0.introductionHistory.failed(node, ending) }, of: node)
    }
    end(introductionOf: node, with: .failed(PiconetError(ending, peer: node)))
  }

  /// - Parameter outcome: the result, unless nothing waits for it.
  func end(introductionOf node: NodeID, with outcome: InvitationOutcome) {
    guard let state = withState({ $0.introductions.removeValue(forKey: node) }) else { return }
    state.update { $0 = outcome }
    state.finish()
    introductions.remove { $0.state === state }
  }
}
