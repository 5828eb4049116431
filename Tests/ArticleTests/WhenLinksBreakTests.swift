import Foundation
import Piconet
import TestSupport
import Testing

@Suite("The article about links that break", .timeLimit(.minutes(15)))
struct WhenLinksBreakTests {
  @Test("a member that loses its link is out of reach, comes back, and leaves with a reason")
  func membership() async throws {
    try await Players.run { players in
      let address = try #require(await players.server.listeningAddresses.first).text
      let relay = try Relay(to: try #require(address.split(separator: ":").last.flatMap { UInt16($0) }))
      defer { relay.close() }
      let told = Told()
      let showing = Task { await showMembership(of: players.client.session) { told.add($0) } }
      let (member, _) = try await players.connect(by: relay.address)
      await told.until("Server is here")
      relay.cut()
      await told.until("Server is out of reach: the connection broke")
      await told.until("Server is back over tcp")
      await member.disconnect()
      await told.until("has left: we have left")
      await players.client.stop()
      await showing.value
    }
  }

  @Test("the advice for a peer that can't be reached says why for each transport")
  func unreachable() async throws {
    try await Players.run { players in
      // No program listens at this address.
      let error = try #require(await failure { try await players.client.invite(at: "127.0.0.1:1") })
      #expect(advice(for: error).hasPrefix("No way leads there. tcp: "))
    }
    #expect(advice(for: PiconetError(.full, blame: .peer)) == "The session is full.")
    #expect(advice(for: PiconetError(.diskFull, blame: .peer)) == "the disk is full")
  }

  @Test("a device is a member again after it was started anew, and after it has declined once")
  func keepingConnected() async throws {
    let folder = try TemporaryFolder()
    let session = UUID().uuidString
    var server = NodeConfiguration(sessionID: session, name: "Server")
    server.identity = .directory(folder.path)
    let device = try server.identity.fingerprint()
    let again = Players.keep(server, session: session, .server)
    try await Players.run(server, session: session) { players in
      let keeping = Task { await keepConnected(from: players.client) { $0.peer == device } }
      for await invitation in players.server.invitations.prefix(1) { await invitation.decline() }
      for await invitation in players.server.invitations.prefix(1) { _ = try await invitation.accept() }
      await players.server.stop()
      try await Node.run(again) { node in
        try await node.setAvailable(true)
        for await invitation in node.invitations.prefix(1) { _ = try await invitation.accept() }
        #expect(node.session.members.map(\.id) == [players.client.id])
      }
      keeping.cancel()
      await keeping.value
    }
  }

  @Test("a signal ends what the program waits for, and the others learn that the node has shut down")
  func interrupted() async throws {
    let session = UUID().uuidString
    try await Players.run(session: session) { players in
      let (joined, hasJoined) = AsyncStream<Void>.makeStream()
      let configuration = Players.keep(NodeConfiguration(sessionID: "", name: "Third"), session: session, .client)
      let address = try #require(await players.server.listeningAddresses.first).text
      // One that by itself does nothing, since this process has other tests.
      let program = Task {
        try await runUntilInterrupted(configuration, by: [SIGWINCH]) { node in
          _ = try await node.invite(at: address)
          hasJoined.yield()
          for await _ in node.session.messages {}
          #expect(Task.isCancelled)
        }
      }
      for await invitation in players.server.invitations.prefix(1) { _ = try await invitation.accept() }
      for await _ in joined.prefix(1) {}
      let signalling = Task {
        // The source may not be there yet for the first.
        while (try? await Task.sleep(for: .milliseconds(20))) != nil { kill(getpid(), SIGWINCH) }
      }
      try await program.value
      signalling.cancel()
      for await case .left(_, let error) in players.server.session.membership {
        #expect(error.code == .shuttingDown && error.blame == .peer)
        break
      }
    }
  }
}
