import PiconetWire
import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

@Suite("A member that has left, while its peer is one again", .timeLimit(.minutes(15)))
struct FormerMemberTests {
  /// The handle of a membership that is over, and those of the one that the same two nodes have now.
  private func rejoined(_ pair: NodePair) async throws -> (former: Member, onClient: Member, onServer: Member) {
    let (former, _) = try await pair.connect()
    await former.disconnect()
    for await change in pair.server.session.membership { if case .left = change { break } }
    let (onClient, onServer) = try await pair.connect()
    return (former, onClient, onServer)
  }

  @Test("leaving it once more leaves no other member")
  func disconnect() async throws {
    try await NodePair.run { pair in
      let (former, onClient, _) = try await rejoined(pair)
      await former.disconnect()
      #expect(pair.client.session.members.map(\.id) == [onClient.id])
      try await onClient.send([7])
      #expect(await pair.server.session.messages.first()?.bytes == [7])
    }
  }

  @Test("removing it is refused, and removes no other member")
  func remove() async throws {
    try await NodePair.run { pair in
      let (former, onClient, _) = try await rejoined(pair)
      #expect(await failure { try await pair.client.session.remove(former) }?.code == .notConnected)
      #expect(pair.client.session.members.map(\.id) == [onClient.id])
      try await onClient.send([7])
      #expect(await pair.server.session.messages.first()?.bytes == [7])
    }
  }

  @Test("nothing is sent to it, and it has neither a round trip nor statistics")
  func nothingGoes() async throws {
    try await NodePair.run { pair in
      let (former, onClient, _) = try await rejoined(pair)
      #expect(await failure { try await former.send([1]) }?.code == .left)
      #expect(await failure { try await former.openStream(named: "a") }?.code == .left)
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", [1])
      let transfers = [
        try await former.startSending(.bytes([1], named: "a")), try await former.startSending(.file(path)),
        try await pair.client.session.startSending(.file(path), to: [former])[0],
      ]
      // An offer that goes out by mistake is declined, so that the test ends.
      let declining = Task { for await offer in pair.server.session.offers { await offer.decline(.notWanted) } }
      for transfer in transfers { #expect(await failure { try await transfer.result }?.code == .notConnected) }
      declining.cancel()
      #expect(await failure { try await pair.client.session.ping(former) }?.code == .notConnected)
      #expect(await pair.client.session.statistics(for: former) == nil)
      #expect(former.transport == nil)
      #expect(await pair.client.session.statistics(for: onClient) != nil)
    }
  }

  @Test("a request on its way to the loop when the peer came back as another member is refused there")
  func onItsWay() async throws {
    try await NodePair.run { pair in
      let (former, onClient, _) = try await rejoined(pair)
      let core = former.core
      let id = former.id
      // Past every check before the loop, like a task that was held up after them.
      for request in [Request.leave(id), .remove(id)] {
        #expect(await ending(core.answer(to: request, of: former)) == NodeCore.hasLeft)
      }
      #expect(await ending(core.answer(to: .ping(id, timeout: .seconds(60)), of: former)) == NodeCore.hasLeft)
      #expect(await failure { try await core.openStream(named: "a", to: former) }?.code == .notConnected)
      #expect(await core.statistics(of: former) == nil)
      let source = try #require(DataSource([1], name: [1]))
      let transfer = core.send(source, ResourceOffer(name: [1], size: 1), to: former)
      #expect(await failure { try await transfer.result }?.code == .notConnected)
      #expect(pair.client.session.members.map(\.id) == [onClient.id])
      #expect(try await pair.client.session.ping(onClient) > .zero)
    }
  }
}

/// Why a request failed.
private func ending<Answer>(_ result: Result<Answer, Ending>) -> Ending? {
  if case .failure(let ending) = result { ending } else { nil }
}
