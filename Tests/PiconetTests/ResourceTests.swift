import PiconetFiles
import TestSupport
import Testing

@testable import Piconet

@Suite("Resources", .timeLimit(.minutes(15)))
struct ResourceTests {
  @Test("a resource above a limit is refused with the limit before it is offered, and one at the limit arrives")
  func limits() async throws {
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let beyond: [(Resource, String)] = [
        (.bytes([1], named: String(repeating: "n", count: 1025)), "1024"),
        (.bytes([1], named: "a", mediaType: String(repeating: "m", count: 128)), "127"),
        (.bytes([1], named: "a", metadata: [UInt8](repeating: 0, count: 4097)), "4096"),
      ]
      for (resource, limit) in beyond {
        let error = await failure { try await member.startSending(resource) }
        #expect(
          error?.code == .invalidArgument && error?.detail.contains(limit) == true, "\(String(describing: error))")
      }
      let name = String(repeating: "n", count: 1024)
      let sending = try await member.startSending(
        .bytes(
          "ä".utf8, named: name, mediaType: String(repeating: "m", count: 127),
          metadata: [UInt8](repeating: 7, count: 4096)))
      let offer = try #require(await pair.server.session.offers.first())
      #expect(String(decoding: offer.rawName, as: UTF8.self) == name)
      #expect(offer.mediaType.utf8.count == 127 && offer.metadata == [UInt8](repeating: 7, count: 4096))
      #expect(try await offer.read(upTo: 2).bytes == Array("ä".utf8))
      _ = try await sending.result
    }
  }

  @Test("a file goes under any name that the sender gives it, and is stored under the one that the receiver chooses")
  func names() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("photo.jpg", [1, 2, 3])
    let target = try folder.folder("in")
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let directory = try await pair.server.receivingDirectory(at: target)
      let album = try #require(AcceptableFolder([Array("album".utf8)]))
      var offers = pair.server.session.offers.makeAsyncIterator()
      for (number, name) in ["../x", ".hidden", "CON", ""].enumerated() {
        let sending = try await member.startSending(.file(path, named: name, below: album))
        let offer = try #require(await offers.next())
        #expect(String(decoding: offer.rawName, as: UTF8.self) == name)
        let stored = try await offer.store(in: directory, as: "\(number).jpg")
        #expect(stored.relativePath == "\(number).jpg")
        #expect(try await sending.result.storedName == "\(number).jpg")
        #expect(try TemporaryFolder.bytes(stored.path) == [1, 2, 3])
        let again = try await member.startSending(.file(path, named: name))
        let error = await failure { try await offers.next()?.store(in: directory) }
        #expect(error?.code == .nameRefused && error?.blame == .peer, "\(name)")
        #expect(await failure { try await again.result }?.code == .nameRefused, "\(name)")
      }
    }
    #expect(TemporaryFolder.entries(target) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"])
  }

  @Test("a name that a receiver may not choose is refused with its rule, and the offer stands")
  func chosenNames() async throws {
    let folder = try TemporaryFolder()
    let target = try folder.folder("in")
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let directory = try await pair.server.receivingDirectory(at: target)
      let sending = try await member.startSending(.bytes([1], named: "a"))
      let offer = try #require(await pair.server.session.offers.first())
      let rules: [(String, FileNameRefusal)] = [
        ("../a", .pathSeparator), (".a", .hidden), ("", .empty), ("-a", .leadingHyphen),
        (String(repeating: "a", count: 256), .tooLong),
      ]
      for (name, rule) in rules {
        let error = await failure { try await offer.store(in: directory, as: name) }
        #expect(error?.code == .nameRefused && error?.blame == .us)
        #expect(error?.detail.contains(rule.explanation) == true, "\(String(describing: error))")
      }
      #expect(try await offer.store(in: directory, as: "b").name == "b")
      _ = try await sending.result
    }
    #expect(TemporaryFolder.entries(target) == ["b"])
  }

  @Test("bytes go to all members, and each is told what became of them")
  func toAll() async throws {
    try await Host.run { one in
      try await Host.run { other in
        try await Host.client { client in
          for host in [one, other] { _ = try await client.invite(at: host.address) }
          let results = try await client.session.send(.bytes([1, 2, 3], named: "a.bin"))
          #expect(Set(results.keys) == Set(client.session.members.map(\.id)) && results.count == 2)
          for result in results.values { #expect(try result.get().storedName == "a.bin") }
          for host in [one, other] { #expect(try TemporaryFolder.bytes(host.directory + "/a.bin") == [1, 2, 3]) }
        }
      }
    }
  }

  @Test("an offer tells its watcher how far it is, from before it is taken to its end")
  func changes() async throws {
    try await NodePair.run { pair in
      let (member, _) = try await pair.connect()
      let content = [UInt8](repeating: 7, count: 3_000_000)
      let sending = try await member.startSending(.bytes(content, named: "a"))
      let offer = try #require(await pair.server.session.offers.first())
      #expect(offer.progress == TransferProgress(stored: 0, total: 3_000_000))
      async let received = offer.read(upTo: .max)
      var stored: [UInt64] = []
      for await progress in offer.changes { stored.append(progress.stored) }
      #expect(stored.last == 3_000_000 && stored == stored.sorted())
      #expect(try await received.bytes == content)
      #expect(sending.progress.total == 3_000_000)
      _ = try await sending.result
      #expect(sending.progress.stored == 3_000_000)
    }
  }
}
