import Glibc

/// A time of change that a disk can't keep, and the one that the file has in its place.
///
/// ext4 takes 1901 to 2446, XFS 1901 to 2486 or 2038, FAT 1980 to 2107: the kernel sets the nearest time without an
/// error.
public struct ReplacedTime: Hashable, Sendable {
  public let wanted: ModificationTime
  public let given: ModificationTime

  /// FAT counts in steps of two seconds: smaller differences are only rounding.
  static let roundedSeconds: UInt64 = 2

  /// Returns nil if the file has the wanted time.
  init?(wanted: ModificationTime, given: ModificationTime) {
    // Both times are arbitrary numbers: their distance may exceed a signed 64-bit integer.
    let distance =
      wanted.seconds < given.seconds
      ? UInt64(bitPattern: given.seconds &- wanted.seconds) : UInt64(bitPattern: wanted.seconds &- given.seconds)
    guard distance > Self.roundedSeconds else { return nil }
    (self.wanted, self.given) = (wanted, given)
  }

  /// Sets the time of change of an open file. Nil if the file has it. If the file system refuses it, the file is still
  /// valid.
  init?(setting wanted: ModificationTime, of file: FileDescriptor) {
    let times = [wanted.timespec, wanted.timespec]
    _ = futimens(file.number, times)
    guard let status = file.status() else { return nil }
    self.init(wanted: wanted, given: ModificationTime(status.st_mtim))
  }

  /// Returns a time for a person, `1601-01-01 00:00:00 UTC`.
  public static func text(of time: ModificationTime) -> String {
    var when = time_t(clamping: time.seconds)
    var fields = tm()
    guard gmtime_r(&when, &fields) != nil else { return "\(time.seconds) s from 1970" }
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Int(fields.tm_year) + 1900)-\(digits(fields.tm_mon + 1))-\(digits(fields.tm_mday)) "
      + "\(digits(fields.tm_hour)):\(digits(fields.tm_min)):\(digits(fields.tm_sec)) UTC"
  }

  /// A sentence that follows the name of a file.
  public var sentence: String {
    "the disk does not take its time, \(Self.text(of: wanted)), and has \(Self.text(of: given)) in its place"
  }
}
