import CPiconetSystem
import Foundation

/// `multipeer-benchmark facade|piconet --server|--client [--port N] [--cpu N] [--size N] [--seconds N]`: messages at a
/// steady pace from the client to the server, over `MCSession` or over a node's session, in otherwise one program. The
/// server prints how long they were on their way, from the call that sent them to the call that took them; it fails if
/// one is missing or comes out of turn.
@main enum Main {
  static func main() async {
    do {
      let options = try PaceOptions(CommandLine.arguments)
      try options.pin()
      let record = PaceRecord(options)
      switch options.way {
      case .facade: try await FacadePace(options, record).run()
      case .piconet: try await NodePace(options, record).run()
      }
      print(options.isServer ? try record.report() : "{\"sent\":\(options.count)}")
    } catch {
      FileHandle.standardError.write(Data("multipeer-benchmark: \(error)\n".utf8))
      exit(1)
    }
  }
}

struct PaceFailure: Error, CustomStringConvertible {
  let description: String
}

struct PaceOptions: Sendable {
  enum Way: String { case facade, piconet }

  let way: Way
  var isServer = false
  var port = "0"
  var cpu: Int?
  var size = 60
  var seconds = 60
  /// Messages of each millisecond.
  static let perTick = 10
  var count: Int { seconds * 1_000 * Self.perTick }

  init(_ arguments: [String]) throws {
    guard arguments.count > 2, let way = Way(rawValue: arguments[1]) else {
      throw PaceFailure(
        description: "usage: facade|piconet --server|--client [--port N] [--cpu N] [--size N] [--seconds N]")
    }
    self.way = way
    var rest = arguments.dropFirst(2)
    while let option = rest.popFirst() {
      switch option {
      case "--server": isServer = true
      case "--client": isServer = false
      case "--port": port = rest.popFirst() ?? port
      case "--cpu": cpu = rest.popFirst().flatMap { Int($0) }
      case "--size": size = max(16, rest.popFirst().flatMap { Int($0) } ?? size)
      case "--seconds": seconds = max(1, rest.popFirst().flatMap { Int($0) } ?? seconds)
      default: throw PaceFailure(description: "unknown option \(option)")
      }
    }
  }

  /// Keeps the process to one processor.
  func pin() throws {
    guard let cpu else { return }
    guard piconet_pin_to_processor(Int32(cpu)) == 0 else {
      throw PaceFailure(description: "can't pin to processor \(cpu)")
    }
  }

  /// Sends ten messages a millisecond, on this thread. One that is late goes at once, with the time at which it goes.
  func send(_ body: ([UInt8]) throws -> Void) rethrows {
    var message = [UInt8](repeating: 1, count: size)
    var next = PaceClock.now
    for number in 0..<count {
      if number % Self.perTick == 0 {
        next += 1_000_000
        PaceClock.sleep(until: next)
      }
      message.withUnsafeMutableBytes {
        $0.storeBytes(of: UInt64(number), as: UInt64.self)
        $0.storeBytes(of: PaceClock.now, toByteOffset: 8, as: UInt64.self)
      }
      try body(message)
    }
  }
}

/// The clock of all processes of a machine, in nanoseconds.
enum PaceClock {
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  static func sleep(until deadline: UInt64) {
    var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }
}

/// What has come.
///
/// Unchecked: it is touched where messages are taken, one after the other, and read when the last one has been.
final class PaceRecord: @unchecked Sendable {
  private let options: PaceOptions
  private var times: [UInt64] = []
  private var isOutOfTurn = false

  init(_ options: PaceOptions) {
    self.options = options
    if options.isServer { times.reserveCapacity(options.count) }
  }

  /// - Returns: whether this was the last one.
  func took(_ message: some ContiguousBytes) -> Bool {
    let now = PaceClock.now
    message.withUnsafeBytes { bytes in
      guard bytes.count == options.size else { return isOutOfTurn = true }
      if bytes.loadUnaligned(as: UInt64.self) != UInt64(times.count) { isOutOfTurn = true }
      times.append(now - bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    return times.count == options.count || isOutOfTurn
  }

  func report() throws -> String {
    guard !isOutOfTurn, times.count == options.count else {
      throw PaceFailure(description: "message \(times.count) came out of turn, or not at all")
    }
    let sorted = times.sorted()
    func microseconds(_ share: Double) -> Double { Double(sorted[Int(share * Double(sorted.count - 1))]) / 1_000 }
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let cpu =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
      / 1e6
    return """
      {"p50_us":\(microseconds(0.5)),"p99_us":\(microseconds(0.99)),"max_us":\(microseconds(1)),"cpu_s":\(cpu),\
      "rss_kib":\(usage.ru_maxrss),"count":\(times.count)}
      """
  }
}
