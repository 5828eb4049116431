import Glibc

/// A file with a key or a passphrase, named by a person.
enum KeyFile {
  /// - Parameter path: `-` is standard input.
  static func read(_ path: LocalPath, atMost limit: Int) throws(TransferFailure) -> [UInt8] {
    let isInput = path == "-"
    let descriptor = isInput ? dup(STDIN_FILENO) : path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw failure(path, ErrorNumber.text(errno)) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path, ErrorNumber.text(errno)) }
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
    }
    throw failure(path, "longer than \(limit) bytes")
  }

  /// Writes a file that only its owner can read.
  /// - Parameter replacing: whether an existing file may be replaced, and so lost.
  static func write(_ bytes: [UInt8], to path: LocalPath, replacing: Bool) throws(TransferFailure) {
    // The new file never takes over the permissions, or the other links, of an existing one.
    if replacing, path.withCString({ unlink($0) }) != 0, errno != ENOENT {
      throw failure(path, ErrorNumber.text(errno))
    }
    let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    guard descriptor >= 0 else {
      throw failure(path, errno == EEXIST ? "there is such a file; --force replaces it" : ErrorNumber.text(errno))
    }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let reason = ErrorNumber.text(errno)
        _ = path.withCString { unlink($0) }
        throw failure(path, reason)
      }
      rest = rest.dropFirst(count)
    }
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path, ErrorNumber.text(errno)) }
  }

  private static func failure(_ path: LocalPath, _ reason: String) -> TransferFailure {
    TransferFailure(word: "file", message: "\(path.readable): \(reason)", exitCode: .localFile)
  }
}
