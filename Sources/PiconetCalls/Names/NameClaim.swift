/// A node's claim to a name in the session.
public struct NameClaim: Hashable, Sendable {
  /// The options of a claim to a name that another node has, or that another node claims later.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// A node that claims the name with `replaces` gets it.
    public static let allowsReplacement = Options(rawValue: 1)
    /// Takes the name from an owner that allows it.
    public static let replaces = Options(rawValue: 2)
    /// Waits for the name if it can't have it now.
    public static let queues = Options(rawValue: 4)
    /// The node owns the name, and all members of it had heard of the claim before.
    public static let holds = Options(rawValue: 8)
  }

  public var name: String
  /// The time of the claim, in the count of `NameClaims`: above all times that the claimant had heard of.
  public var time: UInt64
  public var options: Options

  public init(_ name: String, time: UInt64, _ options: Options) {
    self.name = name
    self.time = time
    self.options = options
  }
}
