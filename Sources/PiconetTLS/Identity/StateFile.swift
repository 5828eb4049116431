import CPiconetOpenSSL
import Glibc

/// One small private file in the state folder: it is checked when read, and written as a whole or not at all.
struct StateFile {
  let directory: StateDirectory
  let name: String
  /// The size limit in bytes; a larger file counts as damaged.
  let limit: Int

  var path: String { directory.file(name) }

  /// Properties that change when the file is written to or replaced.
  struct Version: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let written: [Int]

    fileprivate init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      // Its permissions count, too: they decide whether it may be read.
      written = [
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
      ]
    }
  }

  /// Returns the version of the file as it is now; nil if the file does not exist.
  func version() throws(StateFailure) -> Version? {
    var status = stat()
    if stat(path, &status) == 0 { return Version(status) }
    guard errno == ENOENT else { throw .system("stat", path: path) }
    try checkNoLink()
    return nil
  }

  /// Returns the file's bytes; nil if the file does not exist.
  func read() throws(StateFailure) -> [UInt8]? {
    // Nonblocking: a FIFO in its place must not block us.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw .system("open", path: path) }
      try checkNoLink()
      return nil
    }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("fstat", path: path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw StateFailure(.damaged, path: path, "is not a regular file") }
    guard status.st_uid == geteuid() else {
      throw StateFailure(.wrongOwner, path: path, "belongs to user \(status.st_uid), we are user \(geteuid())")
    }
    guard status.st_mode & 0o077 == 0 else {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw StateFailure(
        .permissionsTooOpen, path: path,
        "other users can get at it (mode \(mode)); if nobody has, say: chmod 600 '\(path)'")
    }
    // One byte more than the limit, to notice a file that is too large; the size read above may be out of date.
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), limit) + 1)
    var count = 0
    while count < bytes.count {
      let space = bytes.count - count
      let result = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, space)
      }
      if result < 0 {
        if errno == EINTR { continue }
        throw .system("read", path: path)
      }
      if result == 0 { break }
      count += result
    }
    guard count < bytes.count else {
      throw StateFailure(.damaged, path: path, "is larger than \(limit) bytes, or growing")
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Creates the file with these bytes. If it exists already, nothing changes, and the result is false.
  func create(_ bytes: [UInt8]) throws(StateFailure) -> Bool {
    let temporary = try writeTemporary(bytes)
    defer { unlink(temporary) }
    // A link, unlike a rename, never replaces what another process has put there in the meantime.
    guard link(temporary, path) == 0 else {
      if errno == EEXIST { return false }
      throw .system("link", path: path)
    }
    try directory.sync()
    return true
  }

  /// The suffix of the former content's name, kept when the file is replaced.
  static let formerSuffix = ".former"

  /// Replaces the file, or creates it. If a person has put a link to a file in its place, that file is replaced.
  /// - Parameter keepingFormer: whether the former content is kept beside the file, under a name with `formerSuffix`.
  func replace(_ bytes: [UInt8], keepingFormer: Bool = false) throws(StateFailure) {
    let target = try target()
    if keepingFormer, let former = try read() {
      // In this folder even if the file is elsewhere: the person finds it beside the name they know.
      let copy = try writeTemporary(former)
      try Self.rename(copy, to: path + Self.formerSuffix)
    }
    let temporary = try target.writeTemporary(bytes)
    try Self.rename(temporary, to: target.path)
    try target.directory.sync()
  }

  private static func rename(_ temporary: String, to path: String) throws(StateFailure) {
    guard Glibc.rename(temporary, path) == 0 else {
      let failure = StateFailure.system("rename", path: path)
      unlink(temporary)
      throw failure
    }
  }

  private var isLink: Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Called when the file does not exist. A dangling link, for example to a disk that is not mounted, is an error.
  private func checkNoLink() throws(StateFailure) {
    if isLink { throw StateFailure(.damaged, path: path, "is a link to a file that is not there") }
  }

  /// Returns the file itself, or the one to which a link in its place leads.
  func target() throws(StateFailure) -> StateFile {
    guard isLink else { return self }
    guard let resolved = realpath(path, nil) else {
      if errno == ENOENT { try checkNoLink() }
      throw .system("realpath", path: path)
    }
    defer { free(resolved) }
    let whole = String(cString: resolved)
    guard let slash = whole.lastIndex(of: "/") else { return self }
    return StateFile(
      directory: StateDirectory(path: String(whole[..<slash])), name: String(whole[whole.index(after: slash)...]),
      limit: limit)
  }

  /// Writes a new file beside it, mode 0600, complete and on the disk.
  private func writeTemporary(_ bytes: [UInt8]) throws(StateFailure) -> String {
    var dice: UInt64 = 0
    guard withUnsafeMutableBytes(of: &dice, { RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), 8) }) == 1
    else { throw StateFailure(.key, path: path, "the system gives no random bytes") }
    let temporary = directory.file(".\(name).\(String(dice, radix: 16))")
    let descriptor = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    // The error names the file that the person knows.
    guard descriptor >= 0 else { throw .system("open", path: path) }
    defer { Glibc.close(descriptor) }
    do throws(StateFailure) {
      var offset = 0
      while offset < bytes.count {
        let result = bytes.withUnsafeBytes { buffer in
          Glibc.write(descriptor, buffer.baseAddress.map { $0 + offset }, bytes.count - offset)
        }
        if result < 0 {
          if errno == EINTR { continue }
          throw .system("write", path: path)
        }
        offset += result
      }
      guard fsync(descriptor) == 0 else { throw .system("fsync", path: path) }
    } catch {
      unlink(temporary)
      throw error
    }
    return temporary
  }
}
