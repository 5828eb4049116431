import Piconet
import TestSupport
import Testing

@Suite("The article about files", .timeLimit(.minutes(15)))
struct FilesTests {
  static let image: [UInt8] = [0x89, 0x50, 0x4E, 0x47] + [UInt8](repeating: 7, count: 200_000)

  @Test("images of each sender are stored, and anything else is refused with a reason")
  func images() async throws {
    let folder = try TemporaryFolder()
    let image = try folder.write("a.png", Self.image)
    let text = try folder.write("b.png", Array("no image".utf8))
    let target = try folder.folder("in")
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let directory = try await players.server.receivingDirectory(at: target)
      let storing = Task { await storeOffers(of: players.server.session, in: directory) }
      #expect(try await sendShowingProgress(image, to: member).storedName == "a.png")
      #expect(await failure { try await sendShowingProgress(text, to: member) }?.code == .notWanted)
      try await sendToAll(image, of: players.client.session)
      #expect(try TemporaryFolder.bytes(target + "/a.png") == Self.image)
      await players.server.stop()
      await storing.value
    }
    #expect(TemporaryFolder.entries(target) == ["a.png"])
  }

  @Test("a snapshot goes from memory to memory, and other offers are declined meanwhile")
  func snapshots() async throws {
    try await Players.run { players in
      let (member, _) = try await players.connect()
      async let received = receiveSnapshot(of: players.server.session)
      #expect(await failure { try await member.send(.bytes([1], named: "other")) }?.code == .notWanted)
      try await sendSnapshot(Self.image, to: member)
      #expect(try await received == Self.image)
    }
  }

  @Test("a large transfer rests while something urgent is sent, and goes on behind it")
  func urgent() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("large.png", Self.image)
    try await Players.run { players in
      let (member, _) = try await players.connect()
      let transfer = try await member.startSending(.file(path))
      // Its offer is answered only once the other one is stored.
      async let urgent: Void = send([1, 2, 3], to: member, before: transfer)
      var large: IncomingOffer?
      for await offer in players.server.session.offers {
        guard offer.displayName == "urgent" else {
          large = offer
          continue
        }
        #expect(try await offer.read(upTo: 10).bytes == [1, 2, 3])
        break
      }
      try await urgent
      #expect(!transfer.progress.isPaused)
      let offer = try #require(large)
      #expect(try await offer.read(upTo: 1_000_000).bytes == Self.image)
      #expect(try await transfer.result.size == 200_004)
    }
  }
}
