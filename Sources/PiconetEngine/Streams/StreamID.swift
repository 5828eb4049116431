import PiconetWire

/// The number of a stream within this node. The engine's driver numbers outgoing streams, below `firstIncoming`; the
/// engine numbers incoming ones. The number on the wire is a different one, and means something only together with a
/// peer.
public struct StreamID: Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let firstIncoming: UInt64 = 1 << 63
  public var isIncoming: Bool { rawValue >= Self.firstIncoming }
  public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}

/// How an incoming stream ended.
public enum StreamEnd: Sendable, Hashable {
  /// All its bytes were delivered. Those that the application has not read stay readable.
  case finished
  /// The sender gave it up. Bytes that the application has not read are discarded.
  case cancelled(Ending)
  /// The association is over, or we are leaving it. Delivered bytes may still be read, and the rest won't come.
  case lost(Ending)
}
