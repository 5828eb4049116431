import Foundation

/// One of the processes.
///
/// Unchecked: what changes is under the condition's lock.
final class Player: @unchecked Sendable {
  struct Line {
    let time: Double
    let words: String
  }

  let name: String
  private let number: Int
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let condition = NSCondition()
  private var lines: [Line] = []
  private var isOver = false

  init(_ name: String, _ mode: Mode, _ sessionID: String, number: Int) {
    self.name = name
    self.number = number
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--peer", name, mode.rawValue, sessionID]
    process.standardInput = input
    process.standardOutput = output
  }

  func start() {
    var environment = ProcessInfo.processInfo.environment
    let buses = environment["PICONET_BUSES"].map { $0.split(separator: ",") } ?? []
    environment["PICONET_INTERFACES"] = buses.isEmpty ? "lo" : "none"
    if number < buses.count { environment["DBUS_SYSTEM_BUS_ADDRESS"] = String(buses[number]) }
    process.environment = environment
    do { try process.run() } catch { isOver = true }
    Thread.detachNewThread { [self] in
      var rest = Data()
      while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
        rest.append(piece)
        while let end = rest.firstIndex(of: 10) {
          take(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[rest.index(after: end)...])
        }
      }
      condition.withLock {
        isOver = true
        condition.broadcast()
      }
    }
  }

  private func take(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let time = Double(parts[0]) else { return }
    condition.withLock {
      lines.append(Line(time: time, words: String(parts[1])))
      condition.broadcast()
    }
  }

  var said: [Line] { condition.withLock { lines } }

  /// - Parameter end: by `monotonicSeconds`.
  /// - Returns: false if the condition is not met by then.
  func wait(until end: Double, _ isMet: ([Line]) -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: end - monotonicSeconds())
    return condition.withLock {
      while !isMet(lines) {
        if isOver || !condition.wait(until: deadline) { return isMet(lines) }
      }
      return true
    }
  }

  func write(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

  func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func end() {
    guard process.isRunning else { return }
    signal(SIGKILL)
    process.waitUntilExit()
  }
}
