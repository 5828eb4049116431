import CPiconetSystem
import Glibc

/// The system calls that file systems answer in different ways. Tests replace them to simulate other file systems.
struct FileSystemCalls: Sendable {
  /// The result of fstatvfs(3) for the file system of an open directory.
  struct Space: Sendable {
    /// 0 if the file system has no such number.
    var blockCount: UInt64
    /// Blocks that this user can still write.
    var availableCount: UInt64
    /// Bytes of a block.
    var blockByteCount: UInt64
    /// Whether it has as many files as it can have. Never true for a file system without such a limit.
    var hasNoRoomForFiles = false

    /// The product, or the largest number if it overflows.
    var availableByteCount: UInt64? {
      guard blockCount > 0 else { return nil }
      let product = availableCount.multipliedReportingOverflow(by: blockByteCount)
      return product.overflow ? .max : product.partialValue
    }
  }

  /// Returns nil if the system can't say.
  var space: @Sendable (_ directory: Int32) -> Space? = { directory in
    var status = statvfs()
    guard fstatvfs(directory, &status) == 0 else { return nil }
    return Space(
      blockCount: UInt64(status.f_blocks), availableCount: UInt64(status.f_bavail),
      blockByteCount: UInt64(status.f_frsize), hasNoRoomForFiles: status.f_files > 0 && status.f_favail == 0)
  }

  /// The longest name in bytes: fstatvfs(3). 0 if the system can't say, as over FUSE. FAT, whose characters may have
  /// several bytes, reports more than any name has.
  var longestName: @Sendable (_ directory: Int32) -> Int = { directory in
    var status = statvfs()
    return fstatvfs(directory, &status) == 0 ? Int(clamping: status.f_namemax) : 0
  }

  /// Whether the file system stores inode numbers, so that each identifies one file as long as it exists.
  var keepsInodes: @Sendable (_ directory: Int32) -> Bool = { SHA256Digest.Cache.keepsIdentity($0) }

  /// Allocates space for a file of this many bytes. Returns 0 or errno; EOPNOTSUPP if it can't be done.
  ///
  /// It uses fallocate(2) with KEEP_SIZE, so that the size stays the number of bytes that came. posix_fallocate would
  /// write into every block if the file system can't allocate, and ftruncate allocates nothing. On tmpfs it would take
  /// all the pages at once (a quarter of a second per GiB, with nothing read meanwhile), so it is not done there.
  var allot: @Sendable (_ file: Int32, _ byteCount: UInt64) -> Int32 = { file, byteCount in
    if piconet_is_tmpfs(file) { return EOPNOTSUPP }
    return FileDescriptor.retrying {
      piconet_fallocate(file, PICONET_FALLOC_FL_KEEP_SIZE, 0, Int64(clamping: byteCount))
    }.errno
  }

  /// Opens a file of a folder: openat(2).
  var open: @Sendable (_ folder: Int32, _ name: String, _ flags: Int32) -> (result: Int32, errno: Int32) = {
    folder, name, flags in
    FileDescriptor.retrying { openat(folder, name, flags) }
  }

  /// Renames from one directory to another, or within one: rename(2) that fails with EEXIST if the new name is taken.
  /// Returns 0 or errno.
  var renameWithoutReplacing: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    piconet_renameat2($0, $1, $2, $3, PICONET_RENAME_NOREPLACE) == 0 ? 0 : errno
  }

  /// rename(2). Returns 0 or errno.
  var rename: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    renameat($0, $1, $2, $3) == 0 ? 0 : errno
  }

  /// Makes a file's content durable: fdatasync(2). Returns 0 or errno.
  var synchronizeContent: @Sendable (_ file: Int32) -> Int32 = { file in
    FileDescriptor.retrying { fdatasync(file) }.errno
  }

  /// The errors of synchronizing on file systems that can't: some FUSE file systems and shares.
  static let unsynchronized: Set = [EINVAL, ENOSYS, EOPNOTSUPP, ENOTTY]

  /// Makes the file system report its result of closing a file. Returns 0 or errno.
  ///
  /// Network and cloud file systems upload or count quota at close(2) (`flush` of FUSE). Each close of a copy of the
  /// descriptor asks for that, while the file itself stays open and locked.
  var flush: @Sendable (_ file: Int32) -> Int32 = { file in
    let copy = FileDescriptor.retrying { fcntl(file, F_DUPFD_CLOEXEC, 0) }
    guard copy.result >= 0 else { return copy.errno }
    return FileDescriptor.closing(copy.result)
  }

  /// Sets a file's size: ftruncate(2). Returns 0 or errno.
  var resize: @Sendable (_ file: Int32, _ byteCount: UInt64) -> Int32 = { file, byteCount in
    FileDescriptor.retrying { ftruncate(file, off_t(clamping: byteCount)) }.errno
  }

  /// Sets a file's mode: fchmod(2). Returns 0 or errno.
  var setMode: @Sendable (_ file: Int32, _ mode: mode_t) -> Int32 = { fchmod($0, $1) == 0 ? 0 : errno }

  /// Makes a directory's entries durable: fsync(2). Returns 0 or errno.
  var synchronizeEntries: @Sendable (_ folder: Int32) -> Int32 = { folder in
    FileDescriptor.retrying { fsync(folder) }.errno
  }

  /// link(2). Returns 0 or errno.
  var link: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    linkat($0, $1, $2, $3, 0) == 0 ? 0 : errno
  }
}
