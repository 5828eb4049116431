import Glibc

/// Wall and processor time from one moment to another, and the line that reports them.
struct Measurement {
  private let wall: UInt64
  private let user: Double
  private let system: Double

  init() {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    user = Self.seconds(usage.ru_utime)
    system = Self.seconds(usage.ru_stime)
    wall = Self.nanoseconds()
  }

  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  func report(_ options: BenchmarkOptions, _ more: String) {
    let now = Measurement()
    let wall = Double(now.wall - self.wall) / 1e9
    print(
      """
      {"program":"piconet","mode":"\(options.mode.rawValue)","end":"\(options.isServer ? "server" : "client")",\
      "wall":\(wall),"user":\(now.user - user),"sys":\(now.system - system),"rss_kib":\(Self.peakResident())\(more)}
      """)
    fflush(nil)
  }

  /// VmHWM, not ru_maxrss, which inherits the peak of the program that started this one.
  private static func peakResident() -> Int { memory("VmHWM:") }

  /// What this process has in memory now, in KiB.
  static func resident() -> Int { memory("VmRSS:") }

  /// Processor time of this process so far, in seconds.
  static func processorTime() -> Double {
    let now = Measurement()
    return now.user + now.system
  }

  /// How often this process has gone to sleep of its own accord.
  static func sleeps() -> Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_nvcsw
  }

  private static func memory(_ name: String) -> Int {
    guard let status = fopen("/proc/self/status", "r") else { return -1 }
    defer { fclose(status) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, status) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix(name) { return Int(text.split(separator: " ")[1].drop { $0 == "\t" }) ?? -1 }
    }
    return -1
  }
}
