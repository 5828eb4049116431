import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Transfers under way", .timeLimit(.minutes(15)))
  struct TransferTests {
    /// Sends a message there and back: what both sides sent before has arrived then.
    static func exchange(_ pair: SuitePair, _ onClient: Member, _ onServer: Member) async throws {
      try await onServer.send([1])
      #expect(await pair.client.session.messages.first()?.bytes == [1])
      try await onClient.send([2])
      #expect(await pair.server.session.messages.first()?.bytes == [2])
    }

    @Test(
      "a sender lets a file rest: nothing of it comes, the receiver is told, and it goes on",
      arguments: SuiteTransport.all)
    func senderRests(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let content = randomBytes(transport.amount(3_000_000))
      let path = try folder.write("a.bin", content)
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let sending = try await onClient.startSending(.file(path))
          sending.pause()
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await offer.startStoring(in: pair.server.receivingDirectory(at: into))
          try await world.until("the receiver knows") { storing.progress.isPausedByRemote }
          try await Self.exchange(pair, onClient, onServer)
          #expect(storing.progress.stored == 0 && sending.progress.isPaused && !sending.progress.isPausedByRemote)
          sending.resume()
          let (received, sent) = (try await storing.result, try await sending.result)
          #expect(received.digest == sent.digest && sent.resumedFrom == 0)
          #expect(try TemporaryFolder.bytes(received.path) == content)
          #expect(sending.progress.stored == UInt64(content.count) && !storing.progress.isPausedByRemote)
        }
      }
    }

    @Test(
      "a receiver lets a file rest: no more than its window comes, the sender is told, and it goes on",
      arguments: SuiteTransport.all)
    func receiverRests(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(transport.amount(20_000_000)))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let sending = try await onClient.startSending(.file(path))
          // It goes only once the receiver lets it rest, or all of it might come before.
          sending.pause()
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await offer.startStoring(in: pair.server.receivingDirectory(at: into))
          storing.pause()
          try await world.until("the sender knows") { sending.progress.isPausedByRemote }
          sending.resume()
          try await world.until("it comes") { storing.progress.stored > 0 }
          try await Self.exchange(pair, onClient, onServer)
          // Only what credit from before allowed.
          #expect(storing.progress.stored <= 2 << 20)
          #expect(storing.progress.stored < offer.size)
          storing.resume()
          let (received, sent) = (try await storing.result, try await sending.result)
          #expect(received.digest == sent.digest)
          #expect(!sending.progress.isPausedByRemote)
        }
      }
    }

    @Test("a file that rests is given up by either side, and both are told", arguments: SuiteTransport.all)
    func cancelledWhileResting(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", randomBytes(transport.amount(3_000_000)))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          for bySender in [true, false] {
            let sending = try await onClient.startSending(.file(path))
            sending.pause()
            let offer = try #require(await pair.server.session.offers.first())
            let storing = try await offer.startStoring(in: pair.server.receivingDirectory(at: into))
            if bySender { sending.cancel() } else { storing.cancel() }
            let errors = (await failure { try await sending.result }, await failure { try await storing.result })
            #expect(errors.0?.code == .cancelled && errors.0?.blame == (bySender ? .us : .peer))
            #expect(errors.1?.code == .cancelled && errors.1?.blame == (bySender ? .peer : .us))
            // The changes end with the transfer.
            for await _ in sending.changes {}
            for await _ in storing.changes {}
          }
          try await world.until("nothing is left") { TemporaryFolder.entries(into).isEmpty }
        }
      }
    }

    @Test("a small file does not wait for a large one that was sent before it", arguments: SuiteTransport.all)
    func sideBySide(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      // Larger than the window of a transfer, or all of it would be on its way before the small one is offered.
      let large = try folder.write("large.bin", randomBytes(max(6_000_000, transport.amount(20_000_000))))
      let small = try folder.write("small.bin", randomBytes(transport.amount(100_000), seed: 9))
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let first = try await onClient.startSending(.file(large))
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await world.storePart(of: offer, on: pair.server, in: into)
          let second = try await onClient.startSending(.file(small))
          let directory = try await pair.server.receivingDirectory(at: into)
          let other = try #require(try await pair.server.session.offers.first()?.startStoring(in: directory))
          _ = try await other.result
          #expect(storing.progress.stored < storing.progress.total, "the small one came after the large one")
          storing.resume()
          _ = try await (second.result, first.result, storing.result)
        }
      }
    }

    @Test(
      "bytes go from memory to memory, above the message limit too; above the taker's limit they are refused",
      arguments: SuiteTransport.all)
    func data(over transport: SuiteTransport) async throws {
      let content = randomBytes(transport.amount(3_000_000))
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let error = await failure { try await onClient.send(content) }
          #expect(error?.code == .messageTooLarge && error?.detail.contains("send(.bytes(_, named:))") == true)

          let size = UInt64(content.count)
          async let received = pair.server.session.offers.first()?.read(upTo: size)
          let sent = try await onClient.send(.bytes(content, named: "all of it", metadata: [7]))
          let data = try #require(try await received)
          #expect(data.bytes == content && data.digest == sent.digest)

          async let refused = failure { try await pair.server.session.offers.first()?.read(upTo: size - 1) }
          let told = await failure { try await onClient.send(.bytes(content, named: "too much")) }
          let errors = [told, await refused]
          for error in errors {
            #expect(error?.code == .tooLarge && error?.blame == .peer, "\(String(describing: error))")
            #expect(error?.detail.contains("\(size)") == true && error?.detail.contains("\(size - 1)") == true)
          }

          async let empty = pair.server.session.offers.first()?.read(upTo: 0)
          _ = try await onClient.send(.bytes([], named: "nothing"))
          #expect(try await empty?.bytes == [])
        }
      }
    }

    @Test(
      "one file goes to two members: the fast one has it while the other lets it rest",
      arguments: SuiteTransport.ofThree)
    func oneFileForTwo(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      // Larger than the window of a transfer, or a pause would hold nothing back.
      let content = randomBytes(max(6_000_000, transport.amount(6_000_000)))
      let path = try folder.write("a.bin", content)
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          _ = try await pair.connect()
          try await world.node(2, "Third") { third in
            async let accepted = pair.server.invitations.first()?.accept()
            _ = try await third.invite(at: pair.addresses(), timeout: transport.patience)
            _ = try await accepted
            let sending = try await pair.server.session.startSending(.file(path))
            #expect(sending.map(\.receiver) == pair.server.session.members.map(\.id))
            // It goes only once the slow one lets it rest, or all of it might come there before.
            for transfer in sending { transfer.pause() }
            let slow = try #require(await third.session.offers.first())
            let slowly = try await slow.startStoring(in: third.receivingDirectory(at: folder.folder("slow")))
            slowly.pause()
            let toSlow = try #require(sending.first { $0.receiver == third.id })
            try await world.until("the sender knows") { toSlow.progress.isPausedByRemote }
            for transfer in sending { transfer.resume() }
            let fast = try #require(await pair.client.session.offers.first())
            let received = try await fast.store(in: pair.client.receivingDirectory(at: folder.folder("fast")))
            #expect(try TemporaryFolder.bytes(received.path) == content)
            #expect(slowly.progress.stored < slow.size)
            slowly.resume()
            #expect(try TemporaryFolder.bytes(await slowly.result.path) == content)
            for transfer in sending { #expect(try await transfer.result.digest == received.digest) }
          }
        }
      }
    }
  }
}
