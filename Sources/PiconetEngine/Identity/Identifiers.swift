/// The number of a link, given by the engine's driver and never used again.
public struct LinkID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a dial, given by the engine and never used again.
public struct DialID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: DialID, right: DialID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a command, given by the engine's driver to commands of the application, below `firstOwn`. The
/// command's one reply carries the number.
public struct CommandID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The first number of the engine's own commands, which never leave the engine.
  static let firstOwn: UInt64 = 1 << 63
  var isOwn: Bool { rawValue >= Self.firstOwn }
  public static func < (left: CommandID, right: CommandID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a transfer within this node. The engine's driver numbers outgoing transfers, below `firstIncoming`;
/// the engine numbers incoming ones. The number on the wire is a different one, and means something only together with
/// a peer.
public struct TransferID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let firstIncoming: UInt64 = 1 << 63
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: TransferID, right: TransferID) -> Bool { left.rawValue < right.rawValue }
}
