/// A node's claim to a name in the session.
public struct NameClaim: Hashable, Sendable {
  /// What becomes of it where another node has the name, and of another node's where it has.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A node that claims the name with `replaces` gets it.
    public static let allowsReplacement = Options(rawValue: 1)
    /// Takes the name from an owner that allows it.
    public static let replaces = Options(rawValue: 2)
    /// Waits for the name where it can't have it now.
    public static let queues = Options(rawValue: 4)
    /// It has the name, and all members of its node had heard of the claim before.
    public static let holds = Options(rawValue: 8)
  }

  public var name: String
  /// When it was claimed, in the count of `NameClaims`: above all that the claimant had heard of.
  public var time: UInt64
  public var options: Options

  public init(_ name: String, time: UInt64, _ options: Options) {
    self.name = name
    self.time = time
    self.options = options
  }
}
