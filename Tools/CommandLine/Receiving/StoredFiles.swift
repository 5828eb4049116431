import PiconetTerminal

/// The files that one sender has stored, which a desktop is told of when that sender has left.
struct StoredFiles: Hashable, Sendable {
  /// What the sender is called, safe to show.
  let name: String
  private(set) var files = 0
  private(set) var bytes: Int64 = 0
  /// The first of them, absolute.
  private(set) var paths: [String] = []

  /// The most that a file manager is asked to select.
  static let pathLimit = 64

  init(name: String) { self.name = name }

  mutating func add(_ path: String, bytes size: Int64) {
    files += 1
    bytes.add(bytes: size)
    if paths.count < Self.pathLimit, path.hasPrefix("/") { paths.append(path) }
  }

  /// The first of them that is a photo or a video by its content and by its name: by those a desktop chooses the
  /// program, and with --any a sender may have sent anything.
  var photo: LocalPath? {
    paths.lazy.map { LocalPath($0) }.first { path in
      guard let dot = path.lastComponent.bytes.lastIndex(of: UInt8(ascii: ".")),
        let ending = LocalPath(bytes: Array(path.lastComponent.bytes[(dot + 1)...])).text?.lowercased(),
        ImageKind.extensions.contains(ending),
        let status = try? FileWalk.status(of: path, followingLink: false),
        let kind = try? FileWalk.inspect(path, status).kind
      else { return false }
      return kind != .xmp
    }
  }

  var summary: String { "\(HumanFigures.files(files)) from \(name)" }

  /// - Parameter safe: makes names of files safe to show.
  func body(safe: (String) -> String) -> String {
    let folder = paths.first.flatMap { LocalPath($0).parent.text }.map { " in \(safe($0))" } ?? ""
    return "\(HumanFigures.bytes(bytes))\(folder)"
  }

  /// RFC 8089.
  var uris: [String] { paths.map { "file://" + Self.percentEncoded($0) } }

  private static func percentEncoded(_ path: String) -> String {
    let kept = Set("/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    let digits = Array("0123456789ABCDEF")
    return path.utf8.reduce(into: "") { text, byte in
      if kept.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text.append("%")
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      }
    }
  }
}
