import Testing

@testable import Piconet

@Suite("When a node listens", .timeLimit(.minutes(15)))
struct ListeningTests {
  /// A place of this host that no other test takes.
  private func place() -> String {
    "127." + (0..<3).map { _ in "\(UInt8.random(in: 1...254))" }.joined(separator: ".") + ":4711"
  }

  private func code(_ node: Node, inviting address: String) async -> PiconetError.Code? {
    await failure { try await node.invite(at: address) }?.code
  }

  @Test("one that only searches listens while it has members, for them alone, and no longer")
  func client() async throws {
    let place = place()
    try await NodePair.run(client: { $0.listen = place }) { pair in
      try await Host.client("Stranger") { stranger in
        #expect(await code(stranger, inviting: place) == .unreachable)
        for _ in 0..<2 {
          let (_, onServer) = try await pair.connect()
          var code: PiconetError.Code?
          repeat { code = await self.code(stranger, inviting: place) } while code == .unreachable
          #expect(code == .notAvailable)
          #expect(await pair.client.listeningAddresses.isEmpty)
          await onServer.disconnect()
          repeat { code = await self.code(stranger, inviting: place) } while code == .notAvailable
          #expect(code == .unreachable)
        }
      }
    }
  }

  @Test("a node that only searches, and can't listen, still has its members")
  func cannotListen() async throws {
    let taken = try RawListener()
    try await NodePair.run(client: { $0.listen = taken.address }) { pair in
      let (onClient, onServer) = try await pair.connect()
      try await onClient.send([1])
      #expect(await pair.server.session.messages.first()?.bytes == [1])
      try await onServer.send([2])
      #expect(await pair.client.session.messages.first()?.bytes == [2])
    }
  }
}
