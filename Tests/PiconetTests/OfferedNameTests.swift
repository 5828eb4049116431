import Foundation
import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

@Suite("Names of files from peers", .timeLimit(.minutes(15)))
struct OfferedNameTests {
  static let names: [(String, [UInt8])] = [
    ("parent", Array("../x".utf8)), ("deep", Array("a/b".utf8)), ("absolute", Array("/tmp/x".utf8)),
    ("nul", Array("a\0b".utf8)), ("newline", Array("a\nb".utf8)), ("long", [UInt8](repeating: 97, count: 300)),
    ("dot", Array(".x".utf8)), ("itself", Array(".".utf8)), ("above", Array("..".utf8)), ("empty", []),
    ("reserved", Array("CON".utf8)), ("not UTF-8", [0x61, 0xFF, 0xFE]), ("backslash", Array("..\\x".utf8)),
    ("partial", Array(".piconet-partial".utf8)), ("1024 bytes", [UInt8](repeating: 97, count: 1024)),
  ]

  @Test("a name that is not safe is refused with nameRefused, and nothing is written anywhere", arguments: names)
  func refused(name: (String, [UInt8])) async throws {
    try await Host.run { host in
      let reason = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try raw.send(.offer(transfer: 0, ResourceOffer(name: name.1, size: 1)))
        return try raw.wait(for: "an answer") { frame -> Reason? in
          switch frame {
          case .declineOffer(0, let reason, _): reason
          case .acceptOffer: .declined
          default: nil
          }
        }
      }
      #expect(reason == .nameRefused)
      guard case .failure(let error)? = await host.outcomes.first() else {
        Issue.record("stored")
        return
      }
      #expect(error.code == .nameRefused && error.blame == .peer, "\(error)")
      #expect(host.entries() == [])
      let around = try FileManager.default.contentsOfDirectory(atPath: host.directory + "/..")
      #expect(around == ["in"])
    }
  }

  @Test("the same name twice makes two files of different content, and no more, from one sender or from two at once")
  func twice() async throws {
    let folder = try TemporaryFolder()
    let first = try folder.write("a.bin", [UInt8](repeating: 1, count: 300_000))
    let second = try TemporaryFolder()
    let other = try second.write("a.bin", [UInt8](repeating: 2, count: 300_000))
    try await Host.run { host in
      try await Host.client("One") { one in
        try await Host.client("Two") { two in
          let (fromOne, fromTwo) = (
            try await one.invite(at: host.address), try await two.invite(at: host.address)
          )
          async let sent = [fromOne.send(.file(first)), fromOne.send(.file(other)), fromTwo.send(.file(other))]
          async let more = fromTwo.send(.file(first))
          let all = try await sent + [more]
          let names = Set(all.map(\.storedName))
          #expect(names == ["a.bin", "a (2).bin"])
          #expect(all.count { $0.wasAlreadyPresent } == 2)
          #expect(host.entries() == names.sorted())
          for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: host.directory + "/" + name))
            #expect(bytes.count == 300_000 && Set(bytes).count == 1)
          }
        }
      }
    }
  }

  @Test("a file that is there stays, where the receiver skips another one, and the same one is no failure")
  func skip() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.bin", [1, 2, 3])
    try await Host.run(policy: .skip) { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        #expect(try await !member.send(.file(path)).wasAlreadyPresent)
        #expect(try await member.send(.file(path)).wasAlreadyPresent)
        for other: [UInt8] in [[1, 2, 4], [1, 2], [1, 2, 3, 4]] {
          let changed = try folder.write("a.bin", other)
          let error = await failure { try await member.send(.file(changed)) }
          #expect(error?.code == .exists && error?.blame == .peer, "\(other)")
        }
        #expect(host.entries() == ["a.bin"])
        #expect(try TemporaryFolder.bytes(host.directory + "/a.bin") == [1, 2, 3])
      }
    }
  }

  @Test("the same one is no failure there either if its sender can't read it twice; of another size it never comes")
  func skipUnread() async throws {
    try await Host.run(policy: .skip) { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        let content = [UInt8](repeating: 7, count: 100_000)
        #expect(try await !member.send(.bytes(content, named: "a.bin")).wasAlreadyPresent)
        let again = try await member.send(.bytes(content, named: "a.bin"))
        #expect(again.wasAlreadyPresent && again.storedName == "a.bin")
        for (other, mayCome) in [(content.dropLast() + [8], true), (content + [7], false)] as [([UInt8], Bool)] {
          let before = try #require(await client.session.statistics(for: member)).sent.chunks.bytes
          let error = await failure { try await member.send(.bytes(other, named: "a.bin")) }
          #expect(error?.code == .exists && error?.blame == .peer, "\(other.count)")
          let after = try #require(await client.session.statistics(for: member)).sent.chunks.bytes
          #expect((after > before) == mayCome, "\(other.count)")
        }
        #expect(host.entries() == ["a.bin"])
        #expect(try TemporaryFolder.bytes(host.directory + "/a.bin") == content)
      }
    }
  }
}
