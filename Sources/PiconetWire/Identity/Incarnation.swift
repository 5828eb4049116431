/// A number drawn at random when a node starts, so that a restarted device is never mistaken for its former self.
public struct Incarnation: Hashable, Sendable, CustomStringConvertible {
  /// The number on the wire.
  public let rawValue: UInt64

  /// Makes the incarnation of a start that drew this number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public var description: String {
    let digits = String(rawValue, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
