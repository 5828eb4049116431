import PiconetWire

/// A stream within this node. Outgoing ones are numbered by the engine's driver, below `firstIncoming`; incoming ones
/// by the engine. The number on the wire is a different one, which means something only together with a peer.
public struct StreamID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let firstIncoming: UInt64 = 1 << 63
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}

/// How an incoming stream ended.
public enum StreamEnd: Sendable, Hashable {
  /// All its bytes were delivered; what the application has not read stays readable.
  case finished
  /// The sender gave it up: what the application has not read is thrown away.
  case cancelled(Ending)
  /// The association is over, or we are leaving it: what was delivered may still be read, and the rest won't come.
  case lost(Ending)
}
