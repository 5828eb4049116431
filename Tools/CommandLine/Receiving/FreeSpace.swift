import Glibc

/// The space that is left on a disk.
enum FreeSpace {
  /// Bytes that this user may still write in the file system of a directory; nil if it can't be found out.
  static func bytes(at directory: LocalPath) -> Int64? {
    var figures = statvfs()
    guard directory.withCString({ statvfs($0, &figures) }) == 0 else { return nil }
    let (bytes, overflow) = UInt64(figures.f_bavail).multipliedReportingOverflow(by: UInt64(figures.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
  }
}
