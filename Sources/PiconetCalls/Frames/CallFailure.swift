/// Why a call has no result. Its number is sent on the wire.
public struct CallFailure: Error, Hashable, Sendable {
  /// What happened. Numbers that this version does not know are kept.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// No object exists at the path.
    public static let noSuchObject = Code(rawValue: 1)
    /// The object does not have the interface.
    public static let unknownInterface = Code(rawValue: 2)
    /// The interface is served in other versions, which the text names.
    public static let wrongVersion = Code(rawValue: 3)
    /// The interface has no such method.
    public static let unknownMethod = Code(rawValue: 4)
    /// Too few or too many arguments, or one of the wrong type.
    public static let wrongArguments = Code(rawValue: 5)
    /// The callee's policy does not allow it.
    public static let notAllowed = Code(rawValue: 6)
    /// More unanswered calls than the callee takes.
    public static let tooManyCalls = Code(rawValue: 7)
    /// The arguments or the result exceed the limit of the side that gets them.
    public static let tooLarge = Code(rawValue: 8)
    /// The caller has cancelled it.
    public static let cancelled = Code(rawValue: 9)
    /// It has not ended before its deadline.
    public static let timedOut = Code(rawValue: 10)
    /// The method has thrown an error.
    public static let thrown = Code(rawValue: 11)
    /// The callee's program takes no more calls.
    public static let shuttingDown = Code(rawValue: 12)
    /// A rule of the format was broken.
    public static let protocolBroken = Code(rawValue: 13)
    /// The callee's program was restarted: its former objects no longer exist.
    public static let restarted = Code(rawValue: 14)
    /// The result could not be encoded.
    public static let unusableResult = Code(rawValue: 15)
    /// It can't be served, for a reason that is not told.
    public static let refused = Code(rawValue: 16)
    /// The callee is no longer a member. Never on the wire.
    public static let left = Code(rawValue: 64)
  }

  public var code: Code
  /// A readable explanation, at most 1,024 bytes; the peer's own words if it comes from there.
  public var text: String
  /// The declared name of the error that was thrown; nil if it has none.
  public var name: String?
  /// That error, encoded.
  public var error: [UInt8]?

  public init(_ code: Code, _ text: String, name: String? = nil, error: [UInt8]? = nil) {
    self.code = code
    self.text = CallLimits.shortened(text)
    self.name = name
    self.error = error
  }
}
