/// Why bytes are no data item that is taken here.
public struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Hashable, Sendable {
    /// The bytes end within an item.
    case truncated
    /// Not well-formed, or not valid: a reserved head, a break without a beginning, text that is no UTF-8.
    case malformed
    /// Above a limit of `CBORLimits`.
    case limit
    /// Well-formed, but another kind of item than was asked for.
    case unexpected
  }

  public var code: Code
  /// A readable explanation; it holds nothing of the content.
  public var detail: String

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { detail }
}

/// What a reader takes at most, so that no bytes make it use the stack or memory without end.
public struct CBORLimits: Hashable, Sendable {
  /// Arrays, maps and tags within one another.
  public var depth: Int
  /// Items in all, keys and values each counted.
  public var items: Int

  public init(depth: Int, items: Int) {
    self.depth = depth
    self.items = items
  }

  /// What calls are read with: 32 levels, 262,144 items.
  public static let calls = CBORLimits(depth: 32, items: 262_144)
}
