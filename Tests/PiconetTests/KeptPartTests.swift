import Foundation
import PiconetFiles
import Synchronization
import TestSupport
import Testing

@testable import Piconet

@Suite("An offer of content of which a part is kept", .timeLimit(.minutes(15)))
struct KeptPartTests {
  /// Three blocks of the journal.
  private static let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) }
  private static let block: UInt64 = 1 << 20

  /// Behind which offsets a store has asked whether the rest may come.
  private final class Asked: Sendable {
    private let offsets = Mutex<[UInt64]>([])

    var all: [UInt64] { offsets.withLock { $0 } }

    func note(_ offset: UInt64) { offsets.withLock { $0.append(offset) } }
  }

  /// A stranger offers a file of which the receiver keeps a block and a half.
  /// - Parameter existing: what the receiver has under the name of the file.
  private func run(
    existing: [UInt8]? = nil,
    _ body: (Host, IncomingOffer, OutgoingTransfer, ReceivingDirectory) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("film.bin", Self.content)
    try await Host.run(takesOffers: false) { host in
      let directory = try await host.node.receivingDirectory(at: host.directory)
      if let existing { try Data(existing).write(to: URL(filePath: host.directory + "/film.bin")) }
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        let sending = try await member.startSending(.file(path))
        let offer = try #require(await host.node.session.offers.first())
        let key = try #require(
          ResumptionKey(sender: client.id.peer, isKnown: false, identity: offer.identity, size: offer.size))
        let partial = try IncomingFile(
          in: try IncomingDirectory(path: host.directory), name: try SafeFileName("film.bin"), offeredSize: offer.size,
          policy: .rename, resuming: key)
        try Array(Self.content.prefix(3 << 19)).withUnsafeBytes { try partial.write($0) }
        partial.keep()
        #expect(await offer.keptByteCount(in: directory) == Self.block)
        try await body(host, offer, sending, directory)
      }
    }
  }

  /// The files that a person sees.
  private func shown(_ host: Host) -> [String] { host.entries().filter { !$0.hasPrefix(".") } }

  private static let other = [UInt8](repeating: 7, count: content.count)

  @Test(
    "whether a file of its name has to be compared first or not, it goes on there, and all figures say so",
    arguments: [false, true])
  func resumed(isCompared: Bool) async throws {
    try await run(existing: isCompared ? Self.other : nil) { host, offer, sending, directory in
      let asked = Asked()
      let transfer = try await offer.startStoring(
        in: directory, onConflict: .rename, content: nil,
        unless: { offset in
          asked.note(offset)
          return nil
        }, mayRepeat: { _ in true })
      let file = try await transfer.result
      #expect(file.resumedFrom == Self.block && !file.wasAlreadyPresent)
      #expect(offer.progress.resumedFrom == Self.block && offer.progress.stored == offer.size)
      #expect(try await sending.result.resumedFrom == Self.block)
      #expect(asked.all == [Self.block])
      #expect(file.name == (isCompared ? "film (2).bin" : "film.bin"))
      #expect(try TemporaryFolder.bytes(file.path) == Self.content)
    }
  }

  @Test("of content that is here nothing comes, and nothing is asked")
  func present() async throws {
    try await run(existing: Self.content) { host, offer, sending, directory in
      let asked = Asked()
      let transfer = try await offer.startStoring(
        in: directory, onConflict: .rename, content: nil,
        unless: { offset in
          asked.note(offset)
          return "no more today"
        }, mayRepeat: { _ in true })
      #expect(try await transfer.result.wasAlreadyPresent)
      #expect(try await sending.result.wasAlreadyPresent)
      #expect(asked.all == [] && offer.progress.resumedFrom == 0 && offer.progress.stored == 0)
      #expect(host.entries() == ["film.bin"])
    }
  }

  @Test(
    "if the rest may not come, for the reason that is given, nothing is stored, and the part stays",
    arguments: [false, true])
  func refused(isCompared: Bool) async throws {
    try await run(existing: isCompared ? Self.other : nil) { host, offer, sending, directory in
      let asked = Asked()
      let here = await failure {
        let transfer = try await offer.startStoring(
          in: directory, onConflict: .rename, content: nil,
          unless: { offset in
            asked.note(offset)
            return "no more today"
          }, mayRepeat: { _ in true })
        return try await transfer.result
      }
      #expect(
        here?.code == .declined && here?.blame == .us && here?.detail == "no more today", "\(String(describing: here))")
      let there = await failure { try await sending.result }
      #expect(
        there?.code == .declined && there?.detail.contains("no more today") == true, "\(String(describing: there))")
      #expect(asked.all == [Self.block] && offer.progress.stored == offer.progress.resumedFrom)
      #expect(await offer.keptByteCount(in: directory) == Self.block)
      #expect(shown(host) == (isCompared ? ["film.bin"] : []))
    }
  }

  @Test("a kept part that is gone when the transfer begins is not counted on", arguments: [false, true])
  func gone(isCompared: Bool) async throws {
    try await run(existing: isCompared ? Self.other : nil) { host, offer, sending, directory in
      for name in host.entries() where name.hasPrefix(".") {
        try FileManager.default.removeItem(atPath: host.directory + "/" + name)
      }
      let asked = Asked()
      let here = await failure {
        let transfer = try await offer.startStoring(
          in: directory, onConflict: .rename, content: nil,
          unless: { offset in
            asked.note(offset)
            return offset < Self.block ? "no more today" : nil
          }, mayRepeat: { _ in true })
        return try await transfer.result
      }
      let there = await failure { try await sending.result }
      #expect(here?.code == .declined && there?.code == .declined, "\(String(describing: here))")
      #expect(asked.all == [0])
      #expect(host.entries() == (isCompared ? ["film.bin"] : []), "nothing is left of it")
    }
  }

  @Test("a person's word counts from the sender's next offer on; all that is done with one offer goes by one answer")
  func confirmed() async throws {
    let state = try TemporaryFolder()
    try await Host.run({ $0.identity = .directory(state.path + "/host") }, takesOffers: false) { host in
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        var offers = host.node.session.offers.makeAsyncIterator()
        _ = try await member.startSending(.bytes([1], named: "a.bin"))
        let offer = try #require(await offers.next())
        #expect(await offer.isOfStranger)
        try await host.node.remember(offer.sender, confirmed: .code, rights: [.push])
        #expect(await offer.isOfStranger)
        _ = try await member.startSending(.bytes([2], named: "b.bin"))
        let next = try #require(await offers.next())
        #expect(await !next.isOfStranger)
        for offer in [offer, next] { await offer.decline() }
      }
    }
  }

  @Test("bytes that were on their way to the disk when the sender left are counted before they are kept")
  func onItsWay() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("film.bin", Self.content)
    try await Host.run(takesOffers: false) { host in
      let directory = try await host.node.receivingDirectory(at: host.directory)
      let hasLeft = DispatchSemaphore(value: 0)
      var begun: (IncomingOffer, IncomingTransfer<ReceivedFile>)?
      try await Host.client { client in
        let member = try await client.invite(at: host.address)
        _ = try await member.startSending(.file(path))
        let offer = try #require(await host.node.session.offers.first())
        // The disk takes nothing until the sender has left.
        let transfer = try await offer.startStoring(in: directory) { _ in
          hasLeft.wait(timeout: .now() + 300) == .success
        }
        begun = (offer, transfer)
        while offer.receivedByteCount <= Self.block { await Task.yield() }
      }
      let (offer, transfer) = try #require(begun)
      await #expect(throws: PiconetError.self) { try await transfer.result }
      #expect(offer.progress.stored == 0)
      hasLeft.signal()
      let kept = await offer.keptByteCount(in: directory)
      #expect(kept >= Self.block && kept <= offer.receivedByteCount, "\(kept) of \(offer.receivedByteCount)")
    }
  }
}
