import Piconet

/// A call that has come, before it is served.
public struct IncomingCall: Sendable, Hashable {
  /// The caller.
  public let caller: Member
  /// The object's path.
  public let path: String
  /// The interface's name.
  public let interface: String
  /// The method's name.
  public let method: String

  /// The call that the present task serves, for a method that wants to know its caller; nil in any other task.
  @TaskLocal public static var current: IncomingCall?
}

/// Which members may call what. It is asked before each call, before its arguments are read.
public struct CallPolicy: Sendable {
  private enum Rule {
    case letInHere, everyMember
    case asking(@Sendable (IncomingCall) async -> Bool)
  }

  private let rule: Rule

  /// The default: members that a person or the program has let in may call everything. Those that another member has
  /// introduced (`ProvenMember.introducedBy`) may call nothing, until `PiconetActorSystem.allow` names them.
  public static let letInHere = CallPolicy(rule: .letInHere)

  /// Every member may call everything.
  public static let everyMember = CallPolicy(rule: .everyMember)

  /// The program decides. The call waits meanwhile, and counts as one without an answer.
  public static func asking(_ allows: @escaping @Sendable (IncomingCall) async -> Bool) -> CallPolicy {
    CallPolicy(rule: .asking(allows))
  }

  /// - Parameter isAllowedByName: whether the program has named the caller's device.
  func allows(_ call: IncomingCall, isAllowedByName: () -> Bool) async -> Bool {
    switch rule {
    case .letInHere: call.caller.proven.introducedBy == nil || isAllowedByName()
    case .everyMember: true
    case .asking(let allows): await allows(call)
    }
  }
}
