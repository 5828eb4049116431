import Glibc

/// When a file's content was last changed: seconds and nanoseconds since 1970-01-01 00:00 UTC (`st_mtim`).
public struct ModificationTime: Hashable, Sendable {
  public let seconds: Int64
  /// 0 to 999,999,999.
  public let nanoseconds: UInt32

  /// Returns nil if there are a thousand million nanoseconds or more. Any number of seconds is allowed: a file system
  /// takes the nearest time that it can represent.
  public init?(seconds: Int64, nanoseconds: UInt32 = 0) {
    guard nanoseconds < 1_000_000_000 else { return nil }
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  init(_ time: timespec) {
    seconds = Int64(time.tv_sec)
    nanoseconds = UInt32(clamping: time.tv_nsec)
  }

  var timespec: timespec { Glibc.timespec(tv_sec: time_t(clamping: seconds), tv_nsec: Int(nanoseconds)) }
}
