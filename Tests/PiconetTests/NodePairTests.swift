import Foundation
import Piconet
import Testing

@Suite("Two nodes over loopback")
struct NodePairTests {
  @Test("an invitation by address makes both members, with the same short code and each other's key")
  func connects() async throws {
    try await NodePair.run { pair in
      let (onClient, onServer) = try await pair.connect()
      #expect(onClient.id == pair.server.id)
      #expect(onServer.id == pair.client.id)
      #expect(onClient.proven.shortCode == onServer.proven.shortCode)
      #expect(onClient.proven.shortCode.count == 7)
      #expect(onClient.proven.transport == .tcp)
      #expect(onClient.name == "Server")
    }
  }

  @Test("reliable messages of all sizes up to the limit arrive once and in order")
  func messages() async throws {
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      let sizes = [0, 1, 63, 64, 1000, 16_381, 16_382, 50_000, 95 * 1024]
      async let received: [[UInt8]] = {
        var all: [[UInt8]] = []
        for await message in pair.server.session.messages {
          all.append(Array(message.bytes))
          if all.count == sizes.count * 20 { break }
        }
        return all
      }()
      for round in 0..<20 {
        for (index, size) in sizes.enumerated() {
          try await onClient.send([UInt8](repeating: UInt8(round * 7 + index), count: size))
        }
      }
      let all = await received
      #expect(all.count == sizes.count * 20)
      for (position, message) in all.enumerated() {
        let (round, index) = (position / sizes.count, position % sizes.count)
        #expect(message.count == sizes[index])
        #expect(message.allSatisfy { $0 == UInt8(round * 7 + index) })
      }
    }
  }

  @Test("a message above the limit is refused before a byte leaves, with both numbers")
  func messageTooLarge() async throws {
    let small: (inout NodeConfiguration) -> Void = { $0.messageLimit = 1000 }
    try await NodePair.run(server: small) { pair in
      let (onClient, _) = try await pair.connect()
      let error = await #expect(throws: PiconetError.self) {
        try await onClient.send([UInt8](repeating: 1, count: 1001))
      }
      #expect(error?.code == .messageTooLarge)
      #expect(error?.description.contains("1001") == true && error?.description.contains("1000") == true)
    }
  }

  @Test("a file is stored byte for byte, and both sides know its digest", arguments: [0, 1, 16_000, 3_000_000])
  func file(size: Int) async throws {
    let folder = try TemporaryFolder()
    var random = SystemRandomNumberGenerator()
    let content = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    let path = try folder.file("photo.bin", content)
    let into = try folder.folder("in")
    try await NodePair.run { pair in
      let (onClient, _) = try await pair.connect()
      async let received: ReceivedFile? = {
        for await offer in pair.server.session.offers {
          return try await offer.store(in: pair.server.receivingDirectory(at: into))
        }
        return nil
      }()
      let sent = try await onClient.send(file: path)
      let stored = try #require(try await received)
      #expect(stored.digest == sent.digest)
      #expect(sent.storedName == "photo.bin")
      #expect(try Data(contentsOf: URL(fileURLWithPath: stored.path)) == Data(content))
    }
  }
}
