/// A link, numbered by the engine's driver; never used again.
public struct LinkID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// A dial, numbered by the engine; never used again.
public struct DialID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: DialID, right: DialID) -> Bool { left.rawValue < right.rawValue }
}

/// A command of the application, numbered by the engine's driver, below `firstOwn`. Its one reply carries the number.
public struct CommandID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The first number of the engine's own commands, which never leave it.
  static let firstOwn: UInt64 = 1 << 63
  var isOwn: Bool { rawValue >= Self.firstOwn }
  public static func < (left: CommandID, right: CommandID) -> Bool { left.rawValue < right.rawValue }
}

/// A transfer within this node. Outgoing ones are numbered by the engine's driver, below `firstIncoming`; incoming ones
/// by the engine. The number on the wire is a different one, which means something only together with a peer.
public struct TransferID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let firstIncoming: UInt64 = 1 << 63
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
}
