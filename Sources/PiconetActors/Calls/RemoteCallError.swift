import Piconet
import PiconetCalls

/// Why a call to an object has no result. Errors that the method's interface declares come as they were thrown.
@dynamicMemberLookup
public struct RemoteCallError: Error, Sendable, CustomStringConvertible {
  /// What happened. More codes may come.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code's spelling in messages.
    public let rawValue: String
    /// Creates a code with this spelling.
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// The codes of this version, for a `switch` that the compiler checks.
    package enum Known: String, CaseIterable, Sendable {
      case notConnected, left, restarted, shuttingDown, noSuchObject, unknownInterface, wrongVersion, unknownMethod,
        wrongArguments, notAllowed, tooManyCalls, tooLarge, cancelled, timedOut, thrown, protocolBroken, notDeclared,
        invalidArgument, refused, noOwner
    }

    /// Nil for a code of another version or a program's own.
    package var known: Known? { Known(rawValue: rawValue) }

    private init(known: Known) { rawValue = known.rawValue }

    /// The node that serves the object is not a member of the session.
    public static let notConnected = Code(known: .notConnected)
    /// The member has left while the call had no answer; `underlying` says why. It is unknown whether the method was
    /// called.
    public static let left = Code(known: .left)
    /// The device was restarted, or its program serves other objects now: the called object no longer exists.
    public static let restarted = Code(known: .restarted)
    /// The member's program takes no more calls.
    public static let shuttingDown = Code(known: .shuttingDown)
    /// No object exists at the path.
    public static let noSuchObject = Code(known: .noSuchObject)
    /// The object does not have the interface.
    public static let unknownInterface = Code(known: .unknownInterface)
    /// The object has the interface in a version that does not know the method, or serves only newer clients.
    public static let wrongVersion = Code(known: .wrongVersion)
    /// The interface has no such method.
    public static let unknownMethod = Code(known: .unknownMethod)
    /// The arguments, or the result, are not of the types that the other side has.
    public static let wrongArguments = Code(known: .wrongArguments)
    /// The other side's policy does not allow the call.
    public static let notAllowed = Code(known: .notAllowed)
    /// A limit of the other side was exceeded: calls without an answer, bytes of their arguments, or bytes of results
    /// that wait for this side. The description has the limit, and says so if the call was served and its result is
    /// lost.
    public static let tooManyCalls = Code(known: .tooManyCalls)
    /// The arguments or the result are too large; the description has both numbers.
    public static let tooLarge = Code(known: .tooLarge)
    /// The calling task was cancelled.
    public static let cancelled = Code(known: .cancelled)
    /// No answer came within the time allowed. It is unknown whether the method was called.
    public static let timedOut = Code(known: .timedOut)
    /// The method has thrown an error that its interface does not declare.
    public static let thrown = Code(known: .thrown)
    /// The other side broke a rule of the format.
    public static let protocolBroken = Code(known: .protocolBroken)
    /// The method is in no table: `RemoteInterface` has to declare it. Nothing was sent.
    public static let notDeclared = Code(known: .notDeclared)
    /// An interface, a path or a setting is wrong; the description names the rule.
    public static let invalidArgument = Code(known: .invalidArgument)
    /// No member of the session has the name.
    public static let noOwner = Code(known: .noOwner)
    /// The other side has refused the call for a reason that this version does not know.
    public static let refused = Code(known: .refused)
  }

  /// What happened.
  public var code: Code
  /// The node that was called; nil if no node was called.
  public var node: NodeID?
  /// A readable explanation, without the code. It may be the peer's own words: escape it before showing it on a
  /// terminal.
  public var detail: String
  /// Why the member has left.
  public var underlying: PiconetError?
  /// The error that the method has thrown, if its type has a name on the wire.
  var thrown: Thrown?

  struct Thrown: Sendable {
    let name: String
    let error: [UInt8]
  }

  /// Creates an error of a program's own.
  public init(_ code: Code, node: NodeID? = nil, detail: String = "", underlying: PiconetError? = nil) {
    self.code = code
    self.node = node
    self.detail = detail
    self.underlying = underlying
  }

  init(_ failure: CallFailure, node: NodeID, underlying: PiconetError? = nil) {
    self.init(
      Self.codes[failure.code] ?? .refused, node: node, detail: failure.text,
      underlying: failure.code == .left ? underlying : nil)
    if let name = failure.name, let error = failure.error { thrown = Thrown(name: name, error: error) }
  }

  private static let codes: [CallFailure.Code: Code] = [
    .noSuchObject: .noSuchObject, .unknownInterface: .unknownInterface, .wrongVersion: .wrongVersion,
    .unknownMethod: .unknownMethod, .wrongArguments: .wrongArguments, .notAllowed: .notAllowed,
    .tooManyCalls: .tooManyCalls, .tooLarge: .tooLarge, .cancelled: .cancelled, .timedOut: .timedOut,
    .thrown: .thrown, .shuttingDown: .shuttingDown, .protocolBroken: .protocolBroken, .restarted: .restarted,
    .unusableResult: .wrongArguments, .left: .left,
  ]

  public var description: String {
    let cause = underlying.map { "; \($0)" } ?? ""
    return (detail.isEmpty ? "\(code)" : "\(code): \(detail)") + cause
  }

  /// Returns a code by its name, for patterns: `catch RemoteCallError.timedOut`.
  public static subscript(dynamicMember code: KeyPath<Code.Type, Code>) -> Code { Code.self[keyPath: code] }
}

extension RemoteCallError.Code {
  /// Returns whether an error is a `RemoteCallError` of this code.
  public static func ~= (code: RemoteCallError.Code, error: any Error) -> Bool {
    (error as? RemoteCallError)?.code == code
  }
}
