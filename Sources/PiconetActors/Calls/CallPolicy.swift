import Piconet
import PiconetCalls

/// A call that has come, before it is served.
public struct IncomingCall: Sendable, Hashable {
  /// The caller.
  public let caller: Member
  private let address: CallAddress

  init(of caller: Member, _ address: CallAddress) {
    self.caller = caller
    self.address = address
  }

  /// The object's path.
  public var path: String { address.path }
  /// The interface's name.
  public var interface: String { address.interface }
  /// The method's name.
  public var method: String { address.method }

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

  /// What it says of a call at once.
  enum Answer {
    case allowed, refused
    /// The program has to be asked.
    case asking(@Sendable (IncomingCall) async -> Bool)
  }

  /// - Parameters:
  ///   - isIntroduced: whether the caller is a member on another one's word.
  ///   - isAllowedByName: whether the program has named the caller's device.
  func answer(to call: IncomingCall, isIntroduced: Bool, isAllowedByName: () -> Bool) -> Answer {
    switch rule {
    case .letInHere: !isIntroduced || isAllowedByName() ? .allowed : .refused
    case .everyMember: .allowed
    case .asking(let allows): .asking(allows)
    }
  }
}
