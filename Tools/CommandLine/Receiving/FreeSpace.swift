import Glibc
import Piconet

/// The space that is left on a disk.
enum FreeSpace {
  /// Bytes of files that a receiver can still store in a directory, without those that it leaves free; nil if it can't
  /// be found out.
  static func bytes(at directory: LocalPath) -> Int64? {
    var figures = statvfs()
    guard directory.withCString({ statvfs($0, &figures) }) == 0 else { return nil }
    let (bytes, overflow) = UInt64(figures.f_bavail).multipliedReportingOverflow(by: UInt64(figures.f_frsize))
    return overflow ? .max : Int64(clamping: bytes - min(bytes, ReceivingDirectory.spaceReserve))
  }
}
