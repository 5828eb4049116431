import Piconet
import PiconetCalls

/// A call from a member.
public struct IncomingCall: Sendable, Hashable {
  private let address: CallAddress
  private let number: UInt64
  private let conversation: Conversation

  init(_ call: CallFrame.Call, in conversation: Conversation) {
    address = call.address
    number = call.number
    self.conversation = conversation
  }

  /// The caller.
  public var caller: Member { conversation.member }
  /// The object's path.
  public var path: String { address.path }
  /// The interface's name.
  public var interface: String { address.interface }
  /// The method's name.
  public var method: String { address.method }

  /// Why the result is no longer wanted, and the task that serves the call was cancelled. `cancelled`: the caller has
  /// cancelled it. `timedOut`: its time is over. `left`, `restarted`, `shuttingDown` or `protocolBroken`: there are no
  /// more calls of that member. Nil: its caller waits, or it has ended.
  public var ending: RemoteCallError? { conversation.ending(of: number) }

  /// The call that the present task serves, for a method that wants to know its caller; nil in any other task.
  @TaskLocal public static var current: IncomingCall?

  /// Calls of the same caller to the same method are equal.
  public static func == (left: IncomingCall, right: IncomingCall) -> Bool {
    left.caller == right.caller && left.address == right.address
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(caller)
    hasher.combine(address)
  }
}

/// An access other than a call that a member wants to this node.
public struct MemberAccess: Sendable, Hashable {
  /// What the member wants to do.
  @nonexhaustive
  public enum Purpose: Sendable, Hashable {
    /// To observe a signal of this node: when it is emitted, or its value, if it is kept, now and whenever it changes.
    case observing(path: String, interface: String, name: String)
    /// To tell this node a signal, or the value of one that is kept.
    case telling(path: String, interface: String, name: String)
    /// To own a name.
    case claiming(name: String)
  }

  /// The member that wants access.
  public let member: Member
  /// What the member wants to do.
  public let purpose: Purpose
}

/// The rule for what members may do: call, observe signals, tell them, own names.
///
/// The system asks it before it reads the arguments of a call, before each signal that a member is to be told or has
/// told, and before each claim to a name.
/// has told, and each claim to a name.
public struct CallPolicy: Sendable {
  private enum Rule {
    case letInHere, everyMember
    case asking(@Sendable (IncomingCall) async -> Bool, access: (@Sendable (MemberAccess) -> Bool)?)
  }

  private let rule: Rule

  /// The default: members that a person or the program has let in may do everything. Those that another member has
  /// introduced (`ProvenMember.introducedBy`) may do nothing, until `PiconetActorSystem.allow` names them. Their calls
  /// are refused, their signals are ignored, their claims to names have no effect here, and they are told no signals.
  public static let letInHere = CallPolicy(rule: .letInHere)

  /// Every member may do everything.
  public static let everyMember = CallPolicy(rule: .everyMember)

  /// Lets the program decide about calls. A call waits meanwhile, and counts as one without an answer. For everything
  /// else the default holds.
  public static func asking(_ allows: @escaping @Sendable (IncomingCall) async -> Bool) -> CallPolicy {
    CallPolicy(rule: .asking(allows, access: nil))
  }

  /// Lets the program decide about everything.
  /// - Parameters:
  ///   - access: returns whether a member may own a name, be told a signal, or tell one. It is called for each, on any
  ///     thread, including the node's own: it must not block.
  ///   - allows: returns whether a call is served, as above.
  public static func asking(
    access: @escaping @Sendable (MemberAccess) -> Bool, calls allows: @escaping @Sendable (IncomingCall) async -> Bool
  ) -> CallPolicy { CallPolicy(rule: .asking(allows, access: access)) }

  /// The immediate answer about a call.
  enum Answer {
    case allowed, refused
    /// The program has to be asked.
    case asking(@Sendable (IncomingCall) async -> Bool)
  }

  /// - Parameters:
  ///   - isIntroduced: whether the caller is a member on another member's word.
  ///   - isAllowedByName: whether the program has named the caller's device.
  func answer(isIntroduced: Bool, isAllowedByName: () -> Bool) -> Answer {
    switch rule {
    case .letInHere: !isIntroduced || isAllowedByName() ? .allowed : .refused
    case .everyMember: .allowed
    case .asking(let allows, _): .asking(allows)
    }
  }

  /// Returns whether an access other than a call is allowed.
  func allows(_ access: MemberAccess, isIntroduced: Bool, isAllowedByName: () -> Bool) -> Bool {
    switch rule {
    case .everyMember: true
    case .asking(_, access: .some(let allows)): allows(access)
    case .letInHere, .asking(_, access: nil): !isIntroduced || isAllowedByName()
    }
  }
}
