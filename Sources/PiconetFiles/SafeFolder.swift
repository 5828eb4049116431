/// The folders that contain a file, the outermost first, each with a name that is as safe as a file's.
///
/// On the wire and in results their names are separated by slashes. A receiver takes them as they are or refuses them,
/// as it does with names; a sender may repair its own (`init(repairing:)`).
public struct SafeFolder: Hashable, Sendable, CustomStringConvertible {
  /// The number of folders that may be nested.
  public static let maximumDepth = 16
  /// The longest path in bytes, slashes included.
  public static let maximumByteCount = 2_048

  /// Empty: the receiving directory itself.
  public let components: [SafeFileName]

  /// The receiving directory itself.
  public static let none = SafeFolder(components: [])

  private init(components: [SafeFileName]) { self.components = components }

  /// Checks a path as a peer sent it. Without bytes there is no folder. Pure; the work is bounded by
  /// `maximumByteCount`.
  public init(bytes: some Collection<UInt8>) throws(FileNameRefusal) {
    guard !bytes.isEmpty else {
      self = .none
      return
    }
    guard bytes.count <= Self.maximumByteCount else { throw .folderTooLong }
    let parts = bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard parts.count <= Self.maximumDepth else { throw .tooDeep }
    var components: [SafeFileName] = []
    for part in parts { components.append(try SafeFileName(bytes: part)) }
    self.components = components
  }

  /// Creates the path with the nearest names that are not refused; nil if it is too deep or too long.
  /// - Parameter names: as in a directory, without slashes.
  public init?(repairing names: [[UInt8]]) {
    guard names.count <= Self.maximumDepth else { return nil }
    components = names.map { SafeFileName(repairing: $0) }
    guard text.utf8.count <= Self.maximumByteCount else { return nil }
  }

  public var isEmpty: Bool { components.isEmpty }

  /// The path, with slashes between the names.
  public var text: String { components.map(\.text).joined(separator: "/") }

  public var description: String { text }

  /// Returns the path of a file in the folder.
  public func path(of name: SafeFileName) -> String { isEmpty ? name.text : "\(text)/\(name.text)" }

  /// Splits a path of a file in the form of `path(of:)`; nil for a path that no receiver stores.
  static func split(_ path: some Collection<UInt8>) -> (components: [SafeFileName], name: SafeFileName)? {
    // Numbers added to the names make a path longer than the offered one.
    guard path.count <= 2 * maximumByteCount else { return nil }
    let parts = path.split(separator: 0x2F, omittingEmptySubsequences: false)
    guard parts.count <= maximumDepth + 1 else { return nil }
    var names: [SafeFileName] = []
    for part in parts {
      guard let name = try? SafeFileName(bytes: part) else { return nil }
      names.append(name)
    }
    guard let name = names.popLast() else { return nil }
    return (names, name)
  }

  /// Returns whether a receiver may have stored a file under this path.
  public static func isPath(_ path: some Collection<UInt8>) -> Bool { split(path) != nil }
}
