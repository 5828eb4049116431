import Foundation
import PiconetFiles
import PiconetWire
import Synchronization
import TestSupport
import Testing

@testable import Piconet

@Suite("A file that the receiver has already", .timeLimit(.minutes(15)))
struct PresentFileTests {
  private func bytes(_ seed: UInt8, count: Int = 300_000) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) &+ seed }
  }

  @Test(
    "is found by its digest and not sent again; another of its name and size is sent whole and stored beside it",
    arguments: [0, 1, 300_000, 3 << 20])
  func found(count: Int) async throws {
    let folder = try TemporaryFolder()
    let first = try folder.write("a.bin", bytes(1, count: count))
    let other = try folder.write("other/a.bin", bytes(2, count: count))
    try await Host.run { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        #expect(try await !member.send(.file(first)).wasAlreadyPresent)
        let again = try await member.send(.file(first))
        #expect(again.wasAlreadyPresent && again.storedName == "a.bin" && again.resumedFrom == 0)
        let before = try #require(await client.session.statistics(for: member)).sent.chunks.bytes
        let beside = try await member.send(.file(other))
        if count > 0 {
          #expect(!beside.wasAlreadyPresent && beside.storedName == "a (2).bin" && beside.resumedFrom == 0)
          #expect(try await member.send(.file(other)).storedName == "a (2).bin")
          #expect(try TemporaryFolder.bytes(host.directory + "/a (2).bin") == bytes(2, count: count))
        }
        let after = try #require(await client.session.statistics(for: member)).sent.chunks.bytes
        #expect(after - before < UInt64(count + count / 50 + 100), "sent once: \(after - before) bytes")
        #expect(host.entries() == (count > 0 ? ["a (2).bin", "a.bin"] : ["a.bin"]))
        #expect(try TemporaryFolder.bytes(host.directory + "/a.bin") == bytes(1, count: count))
      }
    }
  }

  @Test("bytes sent from memory are not stored a second time either")
  func memory() async throws {
    try await Host.run { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        #expect(try await !member.send(.bytes(bytes(1), named: "a.bin")).wasAlreadyPresent)
        #expect(try await member.send(.bytes(bytes(1), named: "a.bin")).wasAlreadyPresent)
        #expect(try await member.send(.bytes(bytes(2), named: "a.bin")).storedName == "a (2).bin")
        #expect(host.entries() == ["a (2).bin", "a.bin"])
      }
    }
  }

  @Test("a file for several goes to those who lack it, or have something else of that name")
  func shared() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.bin", bytes(1))
    try await Host.run { lacking in
      try await Host.run { having in
        try await Host.run { other in
          for (host, seed) in [(having, 1), (other, 2)] as [(Host, UInt8)] {
            try Data(bytes(seed)).write(to: URL(filePath: host.directory + "/a.bin"))
          }
          try await Host.client { client in
            var members: [Member] = []
            for host in [lacking, having, other] { members.append(try await client.invite(at: host.address)) }
            let results = try await client.session.send(.file(path), to: members)
            let sent = try members.map { try #require(results[$0.id]).get() }
            #expect(sent.map(\.wasAlreadyPresent) == [false, true, false])
            #expect(sent.map(\.storedName) == ["a.bin", "a.bin", "a (2).bin"])
            for (host, name) in [(lacking, "a.bin"), (having, "a.bin"), (other, "a (2).bin")] {
              #expect(try TemporaryFolder.bytes(host.directory + "/" + name) == bytes(1))
            }
          }
        }
      }
    }
  }

  @Test("a large one is compared in steps, and both sides' users see how far that is")
  func compared() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/large.bin"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(truncate(path, 100 << 20) == 0)
    try await Host.run { host in
      try FileManager.default.copyItem(atPath: path, toPath: host.directory + "/large.bin")
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        var offers = host.node.session.offers.makeAsyncIterator()
        let sending = try await member.startSending(.file(path))
        let offer = try #require(await offers.next())
        async let receiver = compared(offer.changes)
        let sender = await compared(sending.changes)
        #expect(try await sending.result.wasAlreadyPresent)
        let all = await (receiver, sender)
        // Progress comes in steps; a slow reader may miss some.
        #expect(all.0.last == 96 << 20 && all.1.last == 96 << 20, "\(all)")
        #expect((all.0 + all.1).allSatisfy { $0 % (32 << 20) == 0 })
      }
    }
  }

  /// How much was compared, each figure once.
  private func compared(_ changes: TransferChanges) async -> [UInt64] {
    var all: [UInt64] = []
    for await progress in changes where progress.compared > 0 && progress.compared != all.last {
      #expect(progress.stored == 0 || progress.stored == progress.total, "\(progress)")
      all.append(progress.compared)
    }
    return all
  }

  @Test("folders are made below the directory, and unsafe ones are refused with nameRefused")
  func folders() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.bin", bytes(1))
    try await Host.run { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        let album = try #require(AcceptableFolder([Array("album".utf8), Array("2026".utf8)]))
        let sent = try await member.send(.file(path, below: album))
        #expect(sent.storedName == "album/2026/a.bin")
        #expect(try TemporaryFolder.bytes(host.directory + "/album/2026/a.bin") == bytes(1))
        #expect(try await member.send(.file(path, below: album)).wasAlreadyPresent)
      }
      for unsafe in [
        "..", "../x", "/etc", "a//b", ".ssh", "a/../../b", "x\u{0}y", "a\\b", String(repeating: "a/", count: 20) + "a",
      ] {
        let reason = try await blocking {
          let raw = try RawLink(to: host.address)
          try raw.join()
          try raw.send(.offer(transfer: 0, ResourceOffer(name: [65], size: 1, folder: Array(unsafe.utf8))))
          return try raw.wait(for: "refusal") { if case .declineOffer(0, let reason, _) = $0 { reason } else { nil } }
        }
        #expect(reason == .nameRefused, "\(unsafe)")
      }
      #expect(host.entries() == ["album"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory + "/..") == ["in"])
    }
  }

  @Test(
    "an overwriting receiver puts a sender's file in the place of an older one, but never of one of the same sender")
  func overwrites() async throws {
    let folder = try TemporaryFolder()
    let paths = try (1...3).map { try folder.write("\($0)/a.bin", bytes(UInt8($0))) }
    try await Host.run(policy: .overwrite) { host in
      try Data(bytes(9)).write(to: URL(filePath: host.directory + "/a.bin"))
      for _ in 0..<2 {
        try await Host.client { client in
          let member = try await client.invite(at: host.address)
          for path in paths { _ = try await member.send(.file(path)) }
        }
        #expect(host.entries() == ["a (2).bin", "a (3).bin", "a.bin"])
        for (name, seed) in [("a", 1), ("a (2)", 2), ("a (3)", 3)] as [(String, UInt8)] {
          #expect(try TemporaryFolder.bytes("\(host.directory)/\(name).bin") == bytes(seed))
        }
      }
    }
  }
}
