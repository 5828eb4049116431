/// A path on this machine: bytes without NUL, as the kernel sees it. Not every file name on Linux is UTF-8, so a
/// `String` could not name all of them.
package struct LocalPath: Hashable, Sendable, ExpressibleByStringLiteral {
  /// Without a terminating NUL.
  let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
  package init(_ text: String) { self.bytes = Array(text.utf8) }
  package init(stringLiteral value: String) { self.init(value) }

  /// The path as text, if it is UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Whether this is not a path but an http or https URL. A file with such a name is given as `./http:/...`.
  var isURL: Bool {
    guard let text = text?.lowercased() else { return false }
    return text.hasPrefix("http://") || text.hasPrefix("https://")
  }

  /// The part before `://`, if that may be a URL's scheme (RFC 3986, section 3.1).
  var scheme: String? {
    let name = bytes.prefix { $0 != 0x3A }
    guard bytes.dropFirst(name.count).starts(with: "://".utf8), let first = name.first, Self.isLetter(first),
      name.allSatisfy({ Self.isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) })
    else { return nil }
    return String(decoding: name, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  /// The path with U+FFFD for what is not UTF-8: to show, not to open. May hold control characters; see
  /// `displaySafe(_:unicode:)`.
  var readable: String { String(decoding: bytes, as: UTF8.self) }

  /// What follows the last slash; trailing slashes are ignored (`photos/` is `photos`). The root is `/`.
  var lastComponent: LocalPath {
    var end = bytes.count
    while end > 1, bytes[end - 1] == Self.slash { end -= 1 }
    if end == 1, bytes[0] == Self.slash { return LocalPath(bytes: [Self.slash]) }
    let start = bytes[..<end].lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
    return LocalPath(bytes: Array(bytes[start..<end]))
  }

  /// The directory that it is in, by its text alone: `.` for a bare name.
  var parent: LocalPath {
    var end = bytes.count
    while end > 1, bytes[end - 1] == Self.slash { end -= 1 }
    guard let last = bytes[..<end].lastIndex(of: Self.slash) else { return "." }
    return LocalPath(bytes: last == 0 ? [Self.slash] : Array(bytes[..<last]))
  }

  func appending(_ component: [UInt8]) -> LocalPath {
    bytes.isEmpty || bytes.last == Self.slash
      ? LocalPath(bytes: bytes + component) : LocalPath(bytes: bytes + [Self.slash] + component)
  }

  /// Calls `body` with the path as a C string.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    var terminated = bytes.map { CChar(bitPattern: $0) }
    terminated.append(0)
    return terminated.withUnsafeBufferPointer { buffer in
      // A buffer that has at least the NUL has an address.
      buffer.baseAddress.map(body) ?? "".withCString(body)
    }
  }

  private static let slash = UInt8(ascii: "/")
}

extension LocalPath: Comparable {
  /// The order of the bytes, the same in every locale.
  package static func < (left: LocalPath, right: LocalPath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
