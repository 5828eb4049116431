import Glibc

/// A time of change that a disk does not take, and the one that the file has in its place.
///
/// ext4 takes 1901 to 2446, XFS 1901 to 2486 or 2038, FAT 1980 to 2107: the kernel sets the nearest time and says
/// nothing.
public struct ReplacedTime: Hashable, Sendable {
  public let wanted: ModificationTime
  public let given: ModificationTime

  /// FAT counts in steps of two seconds: what differs by less has only been rounded.
  static let roundedSeconds: UInt64 = 2

  /// Nil if the file has the wanted time.
  init?(wanted: ModificationTime, given: ModificationTime) {
    // Both ends are any numbers: their distance may be beyond those of 64 bits with a sign.
    let distance =
      wanted.seconds < given.seconds
      ? UInt64(bitPattern: given.seconds &- wanted.seconds) : UInt64(bitPattern: wanted.seconds &- given.seconds)
    guard distance > Self.roundedSeconds else { return nil }
    (self.wanted, self.given) = (wanted, given)
  }

  /// Sets the time of change of an open file. Nil if the file has it. If the file system refuses it, the file is none
  /// the worse.
  init?(setting wanted: ModificationTime, of file: FileDescriptor) {
    let times = [wanted.timespec, wanted.timespec]
    _ = futimens(file.number, times)
    guard let status = file.status() else { return nil }
    self.init(wanted: wanted, given: ModificationTime(status.st_mtim))
  }

  /// A time for a person, `1601-01-01 00:00:00 UTC`.
  public static func text(of time: ModificationTime) -> String {
    var when = time_t(clamping: time.seconds)
    var fields = tm()
    guard gmtime_r(&when, &fields) != nil else { return "\(time.seconds) s from 1970" }
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Int(fields.tm_year) + 1900)-\(digits(fields.tm_mon + 1))-\(digits(fields.tm_mday)) "
      + "\(digits(fields.tm_hour)):\(digits(fields.tm_min)):\(digits(fields.tm_sec)) UTC"
  }

  /// To follow the name of a file.
  public var sentence: String {
    "the disk does not take its time, \(Self.text(of: wanted)), and has \(Self.text(of: given)) in its place"
  }
}
