import Glibc
import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Files", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct FileTests {
    /// Sizes in bytes; without the largest where bytes are slow.
    static let sizes = [0, 1, 16_000, 3_000_000]

    @Test(
      "a file is stored byte for byte with its modification time, and both sides know its digest",
      arguments: SuiteTransport.all, sizes)
    func stored(over transport: SuiteTransport, size: Int) async throws {
      let folder = try TemporaryFolder()
      let content = randomBytes(size > 100_000 ? transport.amount(size) : size)
      let path = try folder.write("photo.bin", content)
      let modified = timespec(tv_sec: 1_234_567_890, tv_nsec: 123_456_789)
      try #require(utimensat(AT_FDCWD, path, [modified, modified], 0) == 0)
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          async let received = {
            let offer = try #require(await pair.server.session.offers.first())
            return (offer, try await offer.store(in: pair.server.receivingDirectory(at: into)))
          }()
          let sending = try await onClient.startSending(.file(path))
          var told: [UInt64] = []
          for await progress in sending.changes { told.append(progress.stored) }
          let sent = try await sending.result
          let (offer, stored) = try await received
          #expect(offer.modified == 1_234_567_890_123_456_789)
          var status = stat()
          #expect(stat(stored.path, &status) == 0)
          #expect(status.st_mtim.tv_sec == modified.tv_sec && status.st_mtim.tv_nsec == modified.tv_nsec)
          #expect(stored.digest == sent.digest)
          #expect(sent.storedName == "photo.bin" && sent.size == UInt64(content.count))
          #expect(try TemporaryFolder.bytes(stored.path) == content)
          #expect(TemporaryFolder.entries(into) == ["photo.bin"])
          #expect(told == told.sorted() && told.first == 0 && told.last == UInt64(content.count))
        }
      }
    }

    @Test("a short message does not wait for the file that is being sent", arguments: SuiteTransport.all)
    func messageBesideFile(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(transport.amount(20_000_000)))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let sending = Task { try await onClient.send(.file(path)) }
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await world.storePart(of: offer, on: pair.server, in: into)
          try await onClient.send([5])
          #expect(await pair.server.session.messages.first()?.bytes == [5])
          #expect(offer.progress.stored < offer.size, "the message came after the file")
          storing.resume()
          let (received, sent) = (try await storing.result, try await sending.value)
          #expect(received.digest == sent.digest)
        }
      }
    }

    @Test(
      "files in both directions at once are stored, one that is sent twice makes one file, and the second sender knows",
      arguments: SuiteTransport.all)
    func bothWays(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let contents = (0..<2).map { randomBytes(transport.amount(1_000_000), seed: UInt64($0)) }
      let paths = try contents.enumerated().map { try folder.write("\($0.offset).bin", $0.element) }
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let places = [
            (node: pair.server, folder: try folder.folder("on-server")),
            (node: pair.client, folder: try folder.folder("on-client")),
          ]
          let storing = places.map { place in
            Task {
              let directory = try await place.node.receivingDirectory(at: place.folder)
              for _ in 0..<2 { _ = try await place.node.session.offers.first()?.store(in: directory) }
            }
          }
          let members = [onClient, onServer]
          let sending = (0..<4).map { number in Task { try await members[number / 2].send(.file(paths[number / 2])) } }
          for task in storing { try await task.value }
          for index in 0..<2 {
            let sent = try await [sending[2 * index].value, sending[2 * index + 1].value]
            #expect(sent.map(\.storedName) == ["\(index).bin", "\(index).bin"])
            #expect(sent.count { $0.wasAlreadyPresent } == 1)
            #expect(TemporaryFolder.entries(places[index].folder) == ["\(index).bin"])
            #expect(try TemporaryFolder.bytes(places[index].folder + "/\(index).bin") == contents[index])
          }
        }
      }
    }

    @Test("a cancelled send of a file ends it on both sides, and leaves nothing", arguments: SuiteTransport.all)
    func cancelled(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(transport.amount(20_000_000)))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let sending = Task { try await onClient.send(.file(path)) }
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await world.storePart(of: offer, on: pair.server, in: into)
          sending.cancel()
          #expect(await failure { try await sending.value }?.code == .cancelled)
          let error = await failure { try await storing.result }
          #expect(error?.code == .cancelled && error?.blame == .peer, "\(String(describing: error))")
          try await world.until("nothing is left") { TemporaryFolder.entries(into).isEmpty }
          // The connection goes on.
          try await onClient.send([1])
          #expect(await pair.server.session.messages.first()?.bytes == [1])
        }
      }
    }

    @Test("a file above the receiver's limit is refused before a byte of it is sent", arguments: SuiteTransport.all)
    func tooLarge(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(1001))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          async let storing = failure {
            try await pair.server.session.offers.first()?.store(
              in: pair.server.receivingDirectory(at: into, maximumFileSize: 1000))
          }
          let error = await failure { try await onClient.send(.file(path)) }
          #expect(error?.code == .tooLarge && error?.blame == .peer, "\(String(describing: error))")
          #expect(await storing?.code == .tooLarge)
          #expect(TemporaryFolder.entries(into) == [])
        }
      }
    }
  }
}

/// Stores what is offered.
func store(_ offer: IncomingOffer, on node: Node, in folder: String) -> Task<ReceivedFile, any Error> {
  Task { try await offer.store(in: node.receivingDirectory(at: folder)) }
}

extension SuiteWorld {
  /// Begins to store what is offered, and lets it rest once more than `count` bytes of it are there: however late a
  /// test goes on, a file larger than the window is still on its way then.
  func storePart(
    of offer: IncomingOffer, on node: Node, in folder: String, moreThan count: UInt64 = 0
  ) async throws -> IncomingTransfer<ReceivedFile> {
    // Before it is accepted: afterwards all of it might come before this task runs on.
    offer.core.pause(offer.transfer, true, offer.state.watched)
    let storing = try await offer.startStoring(in: node.receivingDirectory(at: folder))
    try await until("a part of the file is stored") {
      // It may have one window more.
      storing.resume()
      storing.pause()
      return storing.progress.stored > count
    }
    return storing
  }
}
