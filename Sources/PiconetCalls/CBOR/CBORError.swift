/// Why bytes are not an accepted data item.
public struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Hashable, Sendable {
    /// The bytes end within an item.
    case truncated
    /// Not well-formed, or not valid: a reserved head, a break without a beginning, text that is not UTF-8.
    case malformed
    /// Above a limit of `CBORLimits`.
    case limit
    /// Well-formed, but another kind of item than requested.
    case unexpected
  }

  public var code: Code
  /// A readable explanation; it contains nothing of the content.
  public var detail: String

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { detail }
}

/// The limits of a reader, so that no bytes make it use the stack or memory without end.
public struct CBORLimits: Hashable, Sendable {
  /// The depth of arrays, maps and tags within one another.
  public var depth: Int
  /// The number of items in all, keys and values each counted.
  public var items: Int

  public init(depth: Int, items: Int) {
    self.depth = depth
    self.items = items
  }

  /// The limits for calls: 32 levels, 262,144 items.
  public static let calls = CBORLimits(depth: 32, items: 262_144)
}
