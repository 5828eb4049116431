import Glibc
import Piconet
import Synchronization

/// The file in which both programs keep the digests of unchanged files, `digests` in this user's cache folder. It can
/// be removed at any time; a fault in it costs only reading.
///
/// A run reads it once, and replaces it as a whole. If two programs do so at once, the later one's counts, with the
/// entries of the other that it found: entries may be lost, and are made again. Any thread may use it.
final class DigestCacheFile: Sendable {
  /// This many new digests are written without waiting for the end, which a killed program does not reach.
  static let batch = 1_024

  let folder: LocalPath
  private let path: LocalPath
  private let cache: SHA256Digest.Cache
  /// Which file this run has read or written last.
  private let seen = Mutex<Identity?>(nil)

  private struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
      (seconds, nanoseconds) = (Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec))
    }
  }

  /// `$XDG_CACHE_HOME/piconet`, by default in `~/.cache`; nil if there is no home.
  /// - Parameter variable: a variable of the environment.
  convenience init?(variable: (String) -> String?, cache: SHA256Digest.Cache = SHA256Digest.Cache()) {
    // A relative path counts as none (XDG Base Directory Specification 0.8).
    func absolute(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    guard let above = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map({ $0 + "/.cache" }) else { return nil }
    self.init(in: LocalPath(above + "/piconet"), cache: cache)
  }

  init(in folder: LocalPath, cache: SHA256Digest.Cache = SHA256Digest.Cache()) {
    self.folder = folder
    self.cache = cache
    path = folder.appending(Array("digests".utf8))
  }

  /// Makes the folder, and those above it, for this user alone.
  func makeFolder() {
    for end in folder.bytes.indices where end > 0 && folder.bytes[end] == UInt8(ascii: "/") {
      _ = LocalPath(bytes: Array(folder.bytes[..<end])).withCString { mkdir($0, 0o700) }
    }
    _ = folder.withCString { mkdir($0, 0o700) }
  }

  /// Reads the file, and has this process look up digests in it from now on. Blocks on the disk.
  /// - Returns: why it begins without; nil: it does not, or there was none.
  func open() -> String? {
    defer { SHA256Digest.Cache.ofProcess = cache }
    return load()
  }

  /// Writes what is new. Blocks on the disk.
  /// - Parameter least: only if so many are new.
  /// - Returns: why it could not.
  func save(ifNew least: Int = 1) -> String? {
    guard cache.unsavedCount >= least else { return nil }
    makeFolder()
    if let refusal = refusal(ofFolder: folder) { return "\(folder.readable): \(refusal)" }
    return replace()
  }

  // MARK: Reading

  /// Takes what the file has.
  /// - Returns: what is wrong with it, if it is there.
  func load() -> String? {
    let descriptor = path.withCString { Glibc.open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard descriptor >= 0 else { return errno == ENOENT ? nil : text(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return text(errno) }
    if let refusal = refusal(ofFolder: folder) ?? Self.refusal(status, isFolder: false) { return text(refusal) }
    guard status.st_size <= SHA256Digest.Cache.byteLimit else { return text("longer than it may be") }
    var failure: Int32 = 0
    let isTaken = cache.merge(byteCount: Int(status.st_size)) { buffer, offset in
      failure = Self.read(buffer, of: descriptor, from: offset)
      return failure == 0
    }
    if failure != 0 { return text(failure) }
    guard isTaken else { return text("damaged, or of another version") }
    seen.withLock { $0 = Identity(status) }
    return nil
  }

  private func text(_ words: String) -> String { "\(path.readable): \(words)" }
  private func text(_ number: Int32) -> String { text(ErrorNumber.text(number)) }

  private func refusal(ofFolder folder: LocalPath) -> String? {
    var status = stat()
    guard folder.withCString({ stat($0, &status) }) == 0 else { return ErrorNumber.text(errno) }
    return Self.refusal(status, isFolder: true)
  }

  /// Returns why it is not trusted: if others may write it, they may have made up its contents.
  private static func refusal(_ status: stat, isFolder: Bool) -> String? {
    guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
      return isFolder ? "not a folder" : "not a file"
    }
    if status.st_uid != geteuid() { return "another user's" }
    return status.st_mode & 0o022 == 0 ? nil : "others may write it"
  }

  /// - Returns: 0 or errno; EIO if it has got shorter.
  private static func read(_ buffer: UnsafeMutableRawBufferPointer, of descriptor: Int32, from offset: Int) -> Int32 {
    var done = 0
    while done < buffer.count {
      let count = pread(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      done += count
    }
    return 0
  }

  // MARK: Writing

  private func replace() -> String? {
    let new = LocalPath(bytes: path.bytes + Array(".new".utf8))
    let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
    let descriptor = new.withCString { Glibc.open($0, flags, 0o600) }
    guard descriptor >= 0 else { return text(errno) }
    // Only then: the lock goes with the descriptor.
    defer { close(descriptor) }
    // A program that holds the lock is writing just now; new digests here wait for the next time, or are made again. A
    // file that a killed program left behind is overwritten.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno == EWOULDBLOCK ? nil : text(errno) }
    var (status, now) = (stat(), stat())
    guard fstat(descriptor, &status) == 0, new.withCString({ lstat($0, &now) }) == 0, status.st_ino == now.st_ino else {
      return nil
    }
    if let refusal = Self.refusal(status, isFolder: false) { return "\(new.readable): \(refusal)" }
    // Another program may have replaced it since it was read.
    if path.withCString({ lstat($0, &now) }) == 0, Identity(now) != seen.withLock({ $0 }) { _ = load() }
    var failure: Int32 = ftruncate(descriptor, 0) == 0 ? 0 : errno
    let isWhole = cache.encode { piece in
      if failure == 0 { failure = Self.write(piece, to: descriptor) }
      return failure == 0
    }
    guard isWhole, new.withCString({ from in path.withCString { rename(from, $0) } }) == 0 else {
      let number = failure != 0 ? failure : errno
      _ = new.withCString { unlink($0) }
      return text(number)
    }
    // The new name has changed its time.
    seen.withLock { $0 = fstat(descriptor, &status) == 0 ? Identity(status) : nil }
    return nil
  }

  /// - Returns: 0 or errno.
  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : ENOSPC }
      done += count
    }
    return 0
  }
}
