import Glibc

/// Small files of the kernel and of the system, read without waiting for anything.
enum SystemFile {
  /// The text, at most `limit` bytes of it; nil if it can't be read.
  static func text(_ path: String, atMost limit: Int = 65_536) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
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
