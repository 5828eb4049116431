import Foundation
import TestSupport
import Testing

/// A program of the same build.
func built(_ program: String) -> String {
  // The bundle is an executable beside the programs, or is loaded by one that is elsewhere.
  let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  let bundles = [own] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + Bundle.allBundles.map(\.bundlePath)
  return bundles.map { URL(filePath: $0).deletingLastPathComponent().appending(path: program).path }
    .first { FileManager.default.isExecutableFile(atPath: $0) } ?? program
}

private func play(_ processes: Int, rounds: Int) async throws {
  let outcome = try await ProcessOutcome.of(
    built("multipeer-rounds"), ["--processes", "\(processes)", "--rounds", "\(rounds)"])
  #expect(outcome.status == 0, "\(outcome.output)")
  #expect(outcome.output.contains("\(processes) processes, \(rounds) rounds"))
}

@Suite("Processes, of which everybody invites everybody", .serialized, .timeLimit(.minutes(60)))
struct RoundTests {
  @Test(
    "one connection a pair, each change told once, and no message before or after its connection",
    arguments: [(2, 4), (3, 3), (8, 2)])
  func overTCP(processes: Int, rounds: Int) async throws { try await play(processes, rounds: rounds) }

  @Test("the same in 200 rounds", .enabled(if: isLongRun, "takes 20 minutes (Tools/test --all)"), arguments: [2, 3, 8])
  func often(processes: Int) async throws { try await play(processes, rounds: 200) }
}

@Suite(
  "Processes on hosts of their own, of which everybody invites everybody over Bluetooth", .serialized,
  .machine("--adapters 3 --hosts"), .timeLimit(.minutes(60)))
struct BluetoothRoundTests {
  @Test(
    "one connection a pair, each change told once, and no message before or after its connection",
    arguments: [(2, isLongRun ? 200 : 2), (3, isLongRun ? 200 : 2)])
  func overBluetooth(processes: Int, rounds: Int) async throws { try await play(processes, rounds: rounds) }
}
