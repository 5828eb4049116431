import Glibc

/// Small files of the kernel, of the system and of a person, read without waiting for anything.
enum SystemFile {
  /// The text, at most `limit` bytes of it; nil if it can't be read.
  static func text(_ path: String, atMost limit: Int = 65_536) -> String? {
    (try? bytes(LocalPath(path), atMost: limit)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The content, at most `limit` bytes of it.
  /// - Parameter flags: further ones for open(2).
  /// - Throws: the errno of what failed.
  static func bytes(_ path: LocalPath, atMost limit: Int, flags: Int32 = 0) throws(SystemFailure) -> [UInt8] {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags) }
    guard descriptor >= 0 else { throw SystemFailure(number: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemFailure(number: errno) }
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    return bytes
  }

  /// The first line, without its end.
  static func line(_ path: String) -> String? {
    text(path, atMost: 4096)?.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
  }

  /// The entries of a directory in the order of their names, at most `limit`; nil if it can't be read.
  static func names(_ path: String, atMost limit: Int = 100_000) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < limit, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
