import Piconet
import Testing

@Suite("The article about messages and streams", .timeLimit(.minutes(15)))
struct MessagesAndStreamsTests {
  @Test("moves arrive in order, and other messages are passed over")
  func moves() async throws {
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let moves: [Move] = [.stone(column: 3, row: 18), .pointer(x: 65_535, y: 258), .stone(column: 0, row: 1)]
      let told = Told()
      let following = Task {
        await followMoves(in: players.server.session) { sender, move in
          #expect(sender == players.client.id)
          told.add("\(move)")
        }
      }
      try await tell(moves[0], to: players.client.session)
      await told.until("stone(column: 3")
      for nonsense in [[], [1], [1, 19, 0], [0, 1, 2, 3], [2, 0, 0]] as [[UInt8]] { try await member.send(nonsense) }
      try await tell(moves[1], to: players.client.session)
      await told.until("pointer")
      try await tell(moves[2], to: players.client.session)
      await told.until("stone(column: 0")
      #expect(told.all == moves.map { "\($0)" })
      await players.server.stop()
      await following.value
    }
  }

  @Test("the score of a membership has every stone that was put before the player left, and none of the next one's")
  func score() async throws {
    try await Players.run { players in
      let told = Told()
      let scoring = Task { await keepScore(in: players.server.session) { told.add("\($0.name): \($1)") } }
      for stones in [3, 1] as [UInt8] {
        let (member, _) = try await players.connect()
        for column in 0..<stones { try await tell(.stone(column: column, row: 0), to: players.client.session) }
        await member.disconnect()
        await told.until("Client: \(stones)")
      }
      #expect(told.all == ["Client: 3", "Client: 1"])
      await players.server.stop()
      await scoring.value
    }
  }

  private func log(_ lines: [String]) -> AsyncStream<String> {
    AsyncStream { continuation in
      for line in lines { continuation.yield(line) }
      continuation.finish()
    }
  }

  @Test("a log arrives line by line, and its writer learns when all was read")
  func logs() async throws {
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let told = Told()
      let reading = Task { await readLogs(of: players.server.session) { told.add("\($0): \($1)") } }
      let lines = ["one", "", String(repeating: "ä", count: 20_000), "last"]
      try await sendLog(log(lines), to: member)
      await told.until("last")
      #expect(told.all.elementsEqual(lines.map { "Client: \($0)" }), "\(told.all.map(\.count))")
      await players.server.stop()
      await reading.value
    }
  }

  @Test("a line without an end is given up, and its writer told why")
  func endlessLine() async throws {
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let told = Told()
      let reading = Task { await readLogs(of: players.server.session) { told.add("\($0): \($1)") } }
      let error = await failure { try await sendLog(log([String(repeating: "x", count: 5_000_000)]), to: member) }
      #expect(error?.code == .tooLarge)
      await told.until("too large")
      await players.server.stop()
      await reading.value
    }
  }
}
