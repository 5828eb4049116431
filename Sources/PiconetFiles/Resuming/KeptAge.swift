import CPiconetSystem
import Glibc

/// How long a partial file has been waiting, by the time that receivers have seen pass.
///
/// The wall clock alone can't say. A machine whose clock has no battery starts in 1970, or at the time when it was
/// switched off, and is set right later; files written before would then seem as old as the error. So each look at a
/// file adds the time since the last one. It uses the clock that counts from the start of the machine, if it is still
/// the same start; otherwise the wall clock, but no more than a day.
struct KeptAge: Hashable, Sendable {
  /// The readings of the clocks at a look.
  struct Moment: Hashable, Sendable {
    /// Identifies this start of the machine; 0 if the system can't say.
    var boot: UInt64
    /// Seconds since that start, including sleep (CLOCK_BOOTTIME).
    var running: Int64
    /// Seconds since 1970, by this machine's wall clock.
    var wall: Int64

    static var now: Moment { Moment(boot: thisBoot, running: seconds(CLOCK_BOOTTIME), wall: seconds(CLOCK_REALTIME)) }

    private static let thisBoot: UInt64 = {
      let opened = FileDescriptor.retrying { open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC) }
      guard opened.result >= 0 else { return 0 }
      let file = FileDescriptor(opened.result)
      var text = [UInt8](repeating: 0, count: 36)
      let count = text.withUnsafeMutableBytes { buffer in
        FileDescriptor.retrying { read(file.number, buffer.baseAddress, buffer.count) }.result
      }
      let digits = text.prefix(max(0, count)).filter { $0 != 0x2D }.prefix(16)
      return UInt64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
    }()

    private static func seconds(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      return clock_gettime(clock, &time) == 0 ? Int64(time.tv_sec) : 0
    }
  }

  /// The most seconds that one look adds by the wall clock: a single wrong time makes no file old.
  static let wallStep: Int64 = 86_400

  /// 0 at the first look, whatever the file's own times say.
  private(set) var seconds: Int64 = 0
  private(set) var seen: Moment

  init(firstSeen moment: Moment) { seen = moment }

  mutating func advance(to now: Moment) {
    let isSameStart = now.boot == seen.boot && now.boot != 0
    let passed =
      isSameStart
      ? now.running.subtractingReportingOverflow(seen.running)
      : now.wall.subtractingReportingOverflow(seen.wall)
    // If it overflows, the journal or the clock was wrong.
    var step = passed.overflow ? 0 : max(0, passed.partialValue)
    if !isSameStart { step = min(step, Self.wallStep) }
    let sum = seconds.addingReportingOverflow(step)
    seconds = sum.overflow ? .max : sum.partialValue
    seen = now
  }

  // MARK: In the journal

  static let byteCount = 32

  /// Seconds, start of the machine, seconds since that, wall clock: 8 bytes each, big-endian.
  var bytes: [UInt8] {
    let numbers = [seconds, Int64(bitPattern: seen.boot), seen.running, seen.wall].map { UInt64(bitPattern: $0) }
    return numbers.flatMap { number in
      stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
  }

  /// Returns nil if no receiver has looked since the file was written to (zeros), and for anything that is not an age.
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }) else { return nil }
    let numbers = (0..<4).map { place in
      Int64(bitPattern: bytes[(place * 8)..<(place * 8 + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard numbers[0] >= 0 else { return nil }
    seconds = numbers[0]
    seen = Moment(boot: UInt64(bitPattern: numbers[1]), running: numbers[2], wall: numbers[3])
  }
}
