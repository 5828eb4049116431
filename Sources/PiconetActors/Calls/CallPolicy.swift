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
  let allows: @Sendable (IncomingCall, _ isAllowedByName: @Sendable () -> Bool) async -> Bool

  /// The default: members that a person or the program has let in may call everything. Those that another member has
  /// introduced (`ProvenMember.introducedBy`) may call nothing, until `PiconetActorSystem.allow` names them.
  public static let letInHere = CallPolicy { call, isAllowed in call.caller.proven.introducedBy == nil || isAllowed() }

  /// Every member may call everything.
  public static let everyMember = CallPolicy { _, _ in true }

  /// The program decides. The call waits meanwhile, and counts as one without an answer.
  public static func asking(_ allows: @escaping @Sendable (IncomingCall) async -> Bool) -> CallPolicy {
    CallPolicy { call, _ in await allows(call) }
  }
}
