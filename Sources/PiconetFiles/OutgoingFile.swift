import CPiconetSystem
import Glibc

/// Reads one file from the disk to send it: in order, as many bytes as it had when it was opened, with a check at the
/// end that it has not changed.
///
/// Calls block on the disk. Confined to one thread at a time.
public final class OutgoingFile {
  public let path: String
  /// The size in bytes when the file was opened: what is offered, and what is read.
  public let size: UInt64
  public let modificationTime: ModificationTime
  /// Identifies this content in offers: it stays the same as long as the file system says that the file has not
  /// changed, and reveals nothing about the file. Empty if OpenSSL failed.
  public let contentIdentity: [UInt8]
  /// The number of bytes that `read(into:)` has returned.
  public private(set) var position: UInt64 = 0

  private let descriptor: FileDescriptor
  private let hash: RunningSHA256?
  /// The file's status when it was opened, and that time, in nanoseconds since 1970.
  private let stamp: FileStamp
  private let start: Int64
  /// The digest of the whole file, if it was read before and is unchanged: the file then need not be read for it.
  private let known: SHA256Digest?

  /// Opens a file. A symbolic link is followed: a user may intend to send the file it points to.
  ///
  /// `hashing` computes the SHA-256 within each `read(into:)`.
  ///
  /// Throws `missing`, `unreadable`, `notRegular` (a directory, a FIFO, a device, a socket; none of them is waited for)
  /// or `ioError`.
  public init(path: String, hashing: Bool = true) throws(FileFailure) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileFailure(errno: errno, .readingFile, path: path) }
    // Checked before it is opened: opening a device may do something (rewind a tape, start a watchdog).
    try Self.checkRegular(status, path: path)
    let opened = FileDescriptor.retrying { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard opened.result >= 0 else { throw FileFailure(errno: opened.errno, .readingFile, path: path) }
    descriptor = FileDescriptor(opened.result)
    start = FileDigests.now
    // Checked again afterwards: the opened file may be another one by now. O_NONBLOCK keeps a FIFO from blocking us.
    guard fstat(descriptor.number, &status) == 0 else { throw FileFailure(errno: errno, .readingFile, path: path) }
    try Self.checkRegular(status, path: path)
    if hashing {
      guard let hash = RunningSHA256() else { throw FileFailure(.ioError(ENOMEM), path: path) }
      self.hash = hash
    } else {
      hash = nil
    }
    self.path = path
    stamp = FileStamp(status)
    known = SHA256Digest.Cache.ofProcess?.digest(of: stamp)
    size = UInt64(clamping: status.st_size)
    modificationTime = ModificationTime(status.st_mtim)
    contentIdentity = Self.identity(of: status)
    _ = posix_fadvise(descriptor.number, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  /// Returns a digest of device, inode, size, and both times of change.
  private static func identity(of status: stat) -> [UInt8] {
    let numbers = [
      UInt64(status.st_dev), UInt64(status.st_ino), UInt64(clamping: status.st_size),
      UInt64(bitPattern: Int64(status.st_mtim.tv_sec)), UInt64(clamping: status.st_mtim.tv_nsec),
      UInt64(bitPattern: Int64(status.st_ctim.tv_sec)), UInt64(clamping: status.st_ctim.tv_nsec),
    ]
    var bytes = Array("piconet content 1\n".utf8)
    for number in numbers {
      for shift in stride(from: UInt64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    return bytes.withUnsafeBytes { RunningSHA256.digest(of: $0)?.bytes } ?? []
  }

  /// The name to offer: the last component of the path as it was given, not that of a symbolic link's target.
  ///
  /// Throws `nameRefused` if no receiver would take it.
  public var offeredName: SafeFileName {
    get throws(FileFailure) {
      let last = path.utf8.split(separator: 0x2F).last ?? path.utf8[...]
      do {
        return try SafeFileName(bytes: Array(last))
      } catch {
        throw FileFailure(error, name: Array(path.utf8), blame: .local)
      }
    }
  }

  /// Fills the buffer with the next bytes; it gets fewer only at the end of the offered size. Returns the number of
  /// bytes; 0 when all have been read.
  ///
  /// Throws `shrank` if the file ends before that, or `ioError`.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    let count = try read(into: buffer, at: position)
    hash?.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
    position += UInt64(count)
    return count
  }

  /// Fills the buffer from an offset, as `read(into:)` does, without moving the position and without hashing: for bytes
  /// that were lost with a link and are sent again.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileFailure) -> Int {
    guard offset < size else { return 0 }
    let wanted = Int(min(UInt64(buffer.count), size - offset))
    var count = 0
    while count < wanted {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<wanted])
      let outcome = FileDescriptor.retrying {
        pread(descriptor.number, rest.baseAddress, rest.count, off_t(offset) + off_t(count))
      }
      guard outcome.result >= 0 else { throw FileFailure(errno: outcome.errno, .readingFile, path: path) }
      guard outcome.result > 0 else {
        throw FileFailure(.shrank(offered: size, size: offset + UInt64(count)), path: path)
      }
      count += outcome.result
    }
    return count
  }

  /// Checks at the end that the file is still the one that was offered. Returns the digest of the whole file, for which
  /// it reads the bytes that `read(into:)` did not: a receiver that has the end already, or claims to, asks for less
  /// than all. Nil if it does not hash, or if OpenSSL failed.
  ///
  /// Throws `grew`, `shrank` or `changed` (the same size, another modification time): the receiver has the bytes that
  /// were read, which may be a mixture of two versions. Also `ioError`, for the bytes that it reads itself.
  public func finish() throws(FileFailure) -> SHA256Digest? {
    let kept = position == 0 ? knownDigest : nil
    if hash != nil, kept == nil { while try !readOn(to: size, atMost: .max) {} }
    guard let status = descriptor.status() else { throw FileFailure(.ioError(errno), path: path) }
    let now = UInt64(clamping: status.st_size)
    // The size alone is not enough: the files of /proc have bytes and a size of 0.
    if now > size || hasByte(at: size) { throw FileFailure(.grew(offered: size, size: max(now, size + 1)), path: path) }
    if now < size { throw FileFailure(.shrank(offered: size, size: now), path: path) }
    if ModificationTime(status.st_mtim) != modificationTime { throw FileFailure(.changed, path: path) }
    guard let hash else { return nil }
    if let kept { return kept }
    let digest = hash.finish()
    if let digest { note(digest) }
    return digest
  }

  public var knownDigest: SHA256Digest? {
    guard let known, let status = descriptor.status(), FileStamp(status) == stamp else { return nil }
    return known
  }

  public func note(_ digest: SHA256Digest) {
    guard let cache = SHA256Digest.Cache.ofProcess, let status = descriptor.status(), FileStamp(status) == stamp else {
      return
    }
    cache.note(digest, of: stamp, lookedAt: start, in: descriptor.number)
  }

  /// Hashes the bytes up to an offset, which only the digest needs, at most `count` of them at a time. No effect on
  /// bytes that were read already, nor on a whole file whose digest is known.
  /// - Returns: whether all of them have been read, or need not be.
  @discardableResult
  public func skip(to offset: UInt64, atMost count: UInt64 = .max) throws(FileFailure) -> Bool {
    if offset >= size, position == 0, knownDigest != nil { return true }
    return try readOn(to: offset, atMost: count)
  }

  private func readOn(to offset: UInt64, atMost count: UInt64) throws(FileFailure) -> Bool {
    let end = min(offset, size)
    guard position < end else { return true }
    let stop = position + min(count, end - position)
    let piece = UnsafeMutableRawBufferPointer.allocate(
      byteCount: FileContent.pieceByteCount(of: stop - position), alignment: 4096)
    defer { piece.deallocate() }
    while position < stop {
      let count = Int(min(UInt64(piece.count), stop - position))
      _ = try read(into: UnsafeMutableRawBufferPointer(rebasing: piece[..<count]))
    }
    return position >= end
  }

  private func hasByte(at offset: UInt64) -> Bool {
    var byte: UInt8 = 0
    return FileDescriptor.retrying { pread(descriptor.number, &byte, 1, off_t(offset)) }.result > 0
  }

  private static func checkRegular(_ status: stat, path: String) throws(FileFailure) {
    let kind = FileKind(mode: status.st_mode)
    guard kind == .regular else { throw FileFailure(.notRegular(kind), path: path) }
  }
}

@available(*, unavailable, message: "A file is used by one thread at a time.")
extension OutgoingFile: Sendable {}
