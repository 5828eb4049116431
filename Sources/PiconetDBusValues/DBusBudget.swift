/// The limit on how much of one message is decoded. Another program makes the message, which may be up to 128 MiB.
public struct DBusBudget: Sendable, Hashable {
  /// The limit that a message exceeds.
  public enum Excess: Error, Sendable, Hashable, CustomStringConvertible {
    case values(limit: Int)
    case bytes(limit: Int)
    case depth(limit: Int)

    public var description: String {
      switch self {
      case .values(let limit): "more than \(limit) values in a message"
      case .bytes(let limit): "more than \(limit) bytes of text in a message"
      case .depth(let limit): "values nested deeper than \(limit)"
      }
    }
  }

  public static let valueLimit = 200_000
  public static let byteLimit = 8 << 20
  public static let depthLimit = 16

  private var values = 0
  private var bytes = 0
  private var depth = 0

  public init() {}

  /// Counts one value with that many bytes of text.
  public mutating func take(bytes count: Int = 0) throws(Excess) {
    values += 1
    bytes += count
    if values > Self.valueLimit { throw .values(limit: Self.valueLimit) }
    if bytes > Self.byteLimit { throw .bytes(limit: Self.byteLimit) }
  }

  public mutating func enter() throws(Excess) {
    depth += 1
    if depth > Self.depthLimit { throw .depth(limit: Self.depthLimit) }
    try take()
  }

  public mutating func leave() { depth -= 1 }
}
