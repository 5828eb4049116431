import PiconetEngine
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Codes that members compare", .timeLimit(.minutes(15)))
  struct ComparisonTests {
    @Test(
      "members compare codes: both screens show the same, and each has the other as confirmed, whichever of them asks",
      arguments: SuiteTransport.all)
    func compared(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        let screens = Screens()
        try await world.pair(server: screens.agree("Server"), client: screens.agree("Client")) { pair in
          let (onClient, onServer) = try await pair.connect()
          for member in [onClient, onServer] { #expect(member.confirmation != .comparedCode) }
          for (asking, node, told) in [(onClient, pair.server, onServer), (onServer, pair.client, onClient)] {
            try await asking.compareCodes(timeout: transport.patience)
            #expect(asking.confirmation == .comparedCode)
            try screens.expectSame(on: "Server", "Client")
            var ends: [CodeComparison] = []
            // The node that has asked also reads of its own comparison: the end of the second one comes after that.
            for await end in node.session.comparisons {
              ends.append(end)
              if ends.count == (node === pair.server ? 1 : 2) { break }
            }
            for end in ends { #expect(end.member == told && end.failure == nil) }
            #expect(told.confirmation == .comparedCode)
          }
          #expect(pair.client.session.members == [onClient] && pair.server.session.members == [onServer])
        }
      }
    }

    @Test(
      "a code that one of two members does not confirm ends on both sides with that, and they stay members",
      arguments: SuiteTransport.all)
    func refused(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        for isAskersNo in [false, true] {
          let screens = Screens()
          let (no, open) = (screens.refuse("No", once: "Open"), screens.leaveOpen("Open"))
          try await world.pair(server: isAskersNo ? open : no, client: isAskersNo ? no : open) { pair in
            let (onClient, onServer) = try await pair.connect()
            let error = await failure { try await onClient.compareCodes(timeout: transport.patience) }
            #expect(error?.code == .codeMismatch && error?.peer == pair.server.id, "\(String(describing: error))")
            #expect(error?.blame == (isAskersNo ? .us : .peer), "\(String(describing: error))")
            let end = try #require(await pair.server.session.comparisons.first())
            #expect(end.member == onServer && end.failure?.code == .codeMismatch)
            #expect(end.failure?.blame == (isAskersNo ? .peer : .us), "\(String(describing: end.failure))")
            try screens.expectSame(on: "No", "Open")
            for member in [onClient, onServer] { #expect(member.confirmation != .comparedCode) }
            try await onClient.send([1])
            try await onServer.send([2])
            #expect(await pair.server.session.messages.first()?.bytes == [1])
            #expect(await pair.client.session.messages.first()?.bytes == [2])
          }
        }
      }
    }
  }
}
