/// A fault in bytes that a peer sent. Each error ends the link with `Reason.protocolBroken`, and the peer is to blame.
public enum WireError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The fields of a frame break its layout.
  case malformed(type: UInt8, what: String)
  /// A frame announces a longer body than the limit that our hello stated.
  case frameTooLarge(type: UInt8, size: UInt64, limit: Int)
  /// A frame that this version does not know, and that its sender marked as required.
  case unknownRequiredFrame(type: UInt8)

  public var description: String {
    switch self {
    case .malformed(let type, let what): "frame \(Self.name(type)): \(what)"
    case .frameTooLarge(let type, let size, let limit):
      "frame \(Self.name(type)) announces \(size) bytes; the limit is \(limit)"
    case .unknownRequiredFrame(let type): "unknown required frame \(Self.name(type))"
    }
  }

  private static func name(_ type: UInt8) -> String { "0x" + [type].hexadecimal }
}
