import Foundation
import TestSupport
import Testing

private func play(_ processes: Int, rounds: Int) async throws {
  let outcome = try await ProcessOutcome.of(
    built("multipeer-rounds"), ["--processes", "\(processes)", "--rounds", "\(rounds)"])
  #expect(outcome.status == 0, "\(outcome.output)")
  #expect(outcome.output.contains("\(processes) processes, \(rounds) rounds"))
}

@Suite("Processes that all invite one another", .serialized, .timeLimit(.minutes(60)))
struct RoundTests {
  @Test(
    "one connection a pair, each change told once, and no message before or after its connection",
    arguments: [(2, 4), (3, 3), (8, 2)])
  func overTCP(processes: Int, rounds: Int) async throws { try await play(processes, rounds: rounds) }

  // Far below the disconnect timeout of 20 s, and above what a machine that is busy with other things may take.
  @Test(
    "a process that ends without a goodbye is told to the others soon", arguments: ["killed", "exits"], [2, 4])
  func ends(end: String, processes: Int) async throws {
    let outcome = try await ProcessOutcome.of(
      built("multipeer-rounds"),
      ["--processes", "\(processes)", "--rounds", "\(isLongRun ? 20 : 1)", "--end", end, "--within", "12"])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test("the same in 200 rounds", .enabled(if: isLongRun, "takes 20 minutes (Tools/test --all)"), arguments: [2, 3, 8])
  func often(processes: Int) async throws { try await play(processes, rounds: 200) }
}

@Suite(
  "Processes on hosts of their own that all invite one another over Bluetooth", .serialized,
  .machine("--adapters 3 --hosts"), .timeLimit(.minutes(60)))
struct BluetoothRoundTests {
  @Test(
    "one connection a pair, each change told once, and no message before or after its connection",
    arguments: [(2, isLongRun ? 200 : 2), (3, isLongRun ? 200 : 2)])
  func overBluetooth(processes: Int, rounds: Int) async throws { try await play(processes, rounds: rounds) }
}
