import TestSupport
import Testing

/// Rounds of a program that starts processes, of which one goes.
private func play(
  _ mixture: String, _ departure: String, peers: Int, rounds: Int, within limit: Double
) async throws {
  let outcome = try await ProcessOutcome.of(
    built("gamekit-departures"),
    [
      "--modes", mixture, "--departure", departure, "--peers", "\(peers)", "--rounds", "\(rounds)",
      "--within", "\(limit)",
    ])
  #expect(outcome.status == 0, "\(outcome.output)")
  #expect(outcome.lines.count == rounds, "\(outcome.output)")
}

private let mixtures = ["server", "peers", "serverAndPeers", "clientsAndPeers", "servers"]
private let departures = [
  "leave", "hostLeaves", "kick", "guestKicks", "kickUnreachable", "unreachable", "killed", "exits", "hostKilled",
  "killedEarly",
]

/// A row of the table: one mixture of modes, in sessions of 3 to 8.
private let rows = mixtures.enumerated().flatMap { row, mixture in
  departures.enumerated().map { column, departure in (mixture, departure, 3 + (row + column) % 4) }
}

@Suite("Processes with a session each, of which one goes", .serialized, .timeLimit(.minutes(120)))
struct DepartureTests {
  // Far below the disconnect timeout of 20 s, and above what a machine that is busy with other things may take.
  private static let limit = 12.0

  @Test(
    "in each mixture of modes all reach one another directly, and a departure is told to the others soon",
    arguments: isLongRun ? rows : rows.enumerated().filter { $0.offset % 3 == 0 }.map(\.element))
  func table(mixture: String, departure: String, peers: Int) async throws {
    try await play(mixture, departure, peers: peers, rounds: 1, within: Self.limit)
  }

  @Test("a departure of one of eight is told to the other seven soon", arguments: ["leave", "kick", "killed"])
  func eight(departure: String) async throws {
    try await play("server", departure, peers: 8, rounds: 1, within: Self.limit)
  }

  @Test(
    "20 times in a row, within two seconds", .enabled(if: isLongRun, "takes an hour (Tools/test --all)"),
    arguments: rows)
  func often(mixture: String, departure: String, peers: Int) async throws {
    try await play(mixture, departure, peers: peers, rounds: 20, within: 2)
  }
}

@Suite(
  "Processes on hosts of their own with a session each, of which one goes, over Bluetooth", .serialized,
  .machine("--adapters 3 --hosts"), .timeLimit(.minutes(120)))
struct BluetoothDepartureTests {
  @Test("a departure is told to the others soon", arguments: ["leave", "hostLeaves", "kick", "guestKicks"])
  func overBluetooth(departure: String) async throws {
    try await play("peers", departure, peers: 3, rounds: isLongRun ? 20 : 1, within: 12)
  }
}
