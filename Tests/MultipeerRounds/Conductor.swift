import Foundation

/// Starts the processes of a run, tells them what to do, and reads what they say.
final class Conductor {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  /// How the last process of a round ends without a goodbye: by `SIGKILL`, or by its own `exit`.
  enum End: String { case killed, exits }

  private let players: [Player]
  private let buses = ProcessInfo.processInfo.environment["PICONET_BUSES"].map { $0.split(separator: ",") } ?? []
  /// More than a round may take on a machine that is busy with other things.
  private static let patience: TimeInterval = 240

  init(_ count: Int) {
    let names = ["Anna", "Ben", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana"].prefix(count)
    players = names.map { Player($0, of: count) }
    for (number, player) in players.enumerated() { player.start(bus: buses.isEmpty ? nil : String(buses[number])) }
  }

  func play(_ round: Int) throws {
    let type = "r" + String(UInt64.random(in: 0..<UInt64(1) << 60), radix: 36)
    for player in players { player.write("round \(type)") }
    for player in players { try read("all", from: player, in: round) }
    for player in players { player.write("leave") }
    for player in players { try check(try read("told", from: player, in: round), of: player, in: round) }
  }

  /// All meet, and the last one ends without a goodbye.
  /// - Returns: how long it took until the last of the others was told, in seconds.
  func playEnd(_ end: End) throws -> Double {
    let type = "r" + String(UInt64.random(in: 0..<UInt64(1) << 60), radix: 36)
    for player in players { player.write("round \(type)") }
    for player in players { try read("all", from: player, in: 1) }
    let (others, last) = (players.dropLast(), players[players.count - 1])
    for player in others { player.write("watch") }
    for player in others { try read("watching", from: player, in: 1) }
    let start = ContinuousClock.now
    if end == .killed { last.kill() } else { last.write("exit") }
    for player in others { try read("gone", from: player, in: 1) }
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// Each peer: it comes, sends its three messages and perhaps a goodbye, and goes.
  private func check(_ line: String, of player: Player, in round: Int) throws {
    let others = players.map(\.name).filter { $0 != player.name }
    let wanted = others.map { "\($0): connecting connected 0 1 2 notConnected" }.joined(separator: "; ")
    guard line.replacing(" bye notConnected", with: " notConnected") == "told \(wanted)" else {
      throw Wrong(description: "round \(round): \(player.name) has \(line), not\ntold \(wanted)")
    }
  }

  @discardableResult
  private func read(_ word: String, from player: Player, in round: Int) throws -> String {
    let line = player.next(until: Date(timeIntervalSinceNow: Self.patience))
    if let line, line == word || line.hasPrefix(word + " ") { return line }
    var text = "round \(round): \(player.name) says \(line ?? "nothing"), not \(word)"
    for player in players {
      player.write("state")
      text += "\n\(player.name): \(player.next(until: Date(timeIntervalSinceNow: 10)) ?? "nothing")"
    }
    throw Wrong(description: text)
  }

  func end() { for player in players { player.end() } }
}

/// One of the processes.
///
/// Unchecked: what changes is under the condition's lock.
private final class Player: @unchecked Sendable {
  let name: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let condition = NSCondition()
  private var lines: [String] = []
  private var isOver = false

  init(_ name: String, of count: Int) {
    self.name = name
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--peer", name, "\(count)"]
    process.standardInput = input
    process.standardOutput = output
  }

  /// - Parameter bus: that of the host whose adapter it uses; nil: it uses loopback.
  func start(bus: String?) {
    var environment = ProcessInfo.processInfo.environment
    environment["PICONET_INTERFACES"] = bus == nil ? "lo" : "none"
    if let bus { environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus }
    process.environment = environment
    do { try process.run() } catch { isOver = true }
    Thread.detachNewThread { [self] in
      var rest = Data()
      while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
        rest.append(piece)
        while let end = rest.firstIndex(of: 10) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[rest.index(after: end)...])
          condition.withLock {
            lines.append(line)
            condition.broadcast()
          }
        }
      }
      condition.withLock {
        isOver = true
        condition.broadcast()
      }
    }
  }

  func write(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

  func next(until deadline: Date) -> String? {
    condition.withLock {
      while lines.isEmpty, !isOver, condition.wait(until: deadline) {}
      return lines.isEmpty ? nil : lines.removeFirst()
    }
  }

  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  func end() {
    try? input.fileHandleForWriting.close()
    process.terminate()
    process.waitUntilExit()
  }
}
