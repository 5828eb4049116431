import CPiconetSystem
import Glibc

/// The system calls that file systems answer in different ways. A test puts others in their place, for a file system
/// that is not at hand.
struct FileSystemCalls: Sendable {
  /// What fstatvfs(3) says of the file system of an open directory.
  struct Space: Sendable {
    /// 0 where the file system has no such number.
    var blockCount: UInt64
    /// Blocks that this user can still write.
    var availableCount: UInt64
    /// Bytes of a block.
    var blockByteCount: UInt64

    /// As large as can be said, where the product is larger.
    var availableByteCount: UInt64? {
      guard blockCount > 0 else { return nil }
      let product = availableCount.multipliedReportingOverflow(by: blockByteCount)
      return product.overflow ? .max : product.partialValue
    }
  }

  /// Nil if the system can't say.
  var space: @Sendable (_ directory: Int32) -> Space? = { directory in
    var status = statvfs()
    guard fstatvfs(directory, &status) == 0 else { return nil }
    return Space(
      blockCount: UInt64(status.f_blocks), availableCount: UInt64(status.f_bavail),
      blockByteCount: UInt64(status.f_frsize))
  }

  /// Sets space aside for a file of so many bytes. Gives 0 or errno; EOPNOTSUPP where it is not done.
  ///
  /// fallocate(2) with KEEP_SIZE, not posix_fallocate, which writes into every block where the file system can't allot,
  /// and not ftruncate, which allots nothing: the size stays the number of bytes that came. On tmpfs it would take all
  /// the pages at once (a quarter of a second a GiB, with nothing read meanwhile), so there it is not done.
  var allot: @Sendable (_ file: Int32, _ byteCount: UInt64) -> Int32 = { file, byteCount in
    if piconet_is_tmpfs(file) { return EOPNOTSUPP }
    return FileDescriptor.retrying {
      piconet_fallocate(file, PICONET_FALLOC_FL_KEEP_SIZE, 0, Int64(clamping: byteCount))
    }.errno
  }

  /// rename(2) from a directory to another, or within one, that fails with EEXIST where something has the new name.
  /// Gives 0 or errno.
  var renameWithoutReplacing: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    piconet_renameat2($0, $1, $2, $3, PICONET_RENAME_NOREPLACE) == 0 ? 0 : errno
  }

  /// rename(2). Gives 0 or errno.
  var rename: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    renameat($0, $1, $2, $3) == 0 ? 0 : errno
  }

  /// link(2). Gives 0 or errno.
  var link: @Sendable (_ directory: Int32, _ from: String, _ folder: Int32, _ to: String) -> Int32 = {
    linkat($0, $1, $2, $3, 0) == 0 ? 0 : errno
  }
}
