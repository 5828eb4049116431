import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Lost links and silent peers", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct LossTests {
    /// Associations end with their links.
    private static let mortal: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = .zero }

    @Test(
      "a link that goes silent is lost by the disconnect timeout that was set, on both sides",
      arguments: SuiteTransport.breakable)
    func silent(over transport: SuiteTransport) async throws {
      let timeout = max(transport.silence, .seconds(2))
      let brief: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = timeout }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: brief, client: brief) { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          try await onClient.send([1])
          #expect(await pair.server.session.messages.first()?.bytes == [1])
          try await world.silence()
          let clock = ContinuousClock()
          let start = clock.now
          async let onServer = pair.server.session.nextDeparture()
          let errors = (await pair.client.session.nextDeparture(), await onServer)
          let took = clock.now - start
          #expect(errors.0?.code == .timedOut, "\(String(describing: errors.0))")
          #expect(errors.1?.code == .timedOut, "\(String(describing: errors.1))")
          // Not after the default of 20 s. How late a busy machine tells it is not what is tested.
          #expect(took < timeout + .seconds(13), "\(took)")
          #expect(await failure { try await onClient.send([2]) } != nil)
          try await world.endSilence()
          try await reconnects(pair)
        }
      }
    }

    @Test("a short silence is survived, and nothing is lost", arguments: SuiteTransport.lossless)
    func shortSilence(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(client: { $0.patience.leave = .milliseconds(300) }) { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          let (task, count) = sendUntilItWaits(onClient, size: 1000)
          try await world.until("it flows") { count.value > 10 }
          try await world.silence()
          try await world.until("it is stuck") { onClient.budgets[0].waitingCount > 0 }
          try await world.endSilence()
          let all = await pair.server.session.take(count.value)
          #expect(all.allSatisfy { $0.bytes.count == 1000 })
          task.cancel()
          _ = await task.value
        }
      }
    }

    @Test(
      "without a disconnect timeout a cut link loses the member at once, and the two connect again",
      arguments: SuiteTransport.breakable)
    func cut(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: Self.mortal, client: Self.mortal) { pair in
          for _ in 0..<transport.amount(10) {
            _ = try await pair.connectAgain()
            try await world.cut()
            async let onServer = pair.server.session.nextDeparture()
            let errors = (await pair.client.session.nextDeparture(), await onServer)
            #expect(errors.0?.code == .linkFailed, "\(String(describing: errors.0))")
            #expect(errors.1?.code == .linkFailed, "\(String(describing: errors.1))")
          }
          try await reconnects(pair)
        }
      }
    }

    @Test(
      "without a disconnect timeout a cut link ends a file on both sides; offered again, only the rest is sent",
      arguments: SuiteTransport.breakable)
    func cutInFile(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let content = randomBytes(transport.amount(50_000_000))
      let path = try folder.write("a.bin", content)
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: Self.mortal, client: Self.mortal) { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          let sending = Task { try await onClient.send(.file(path)) }
          let offer = try #require(await pair.server.session.offers.first())
          let storing = try await world.storePart(of: offer, on: pair.server, in: into, moreThan: 1 << 20)
          try await world.cut()
          let errors = (await failure { try await sending.value }, await failure { try await storing.result })
          #expect(errors.0?.code == .linkFailed, "\(String(describing: errors.0))")
          #expect(errors.1?.code == .linkFailed, "\(String(describing: errors.1))")
          let before = offer.progress.stored
          #expect(TemporaryFolder.entries(into).allSatisfy { $0.hasPrefix(".piconet-resume-") })
          let (again, _) = try await pair.connectAgain()
          async let received = pair.server.session.offers.first()?.store(
            in: pair.server.receivingDirectory(at: into))
          let sent = try await again.send(.file(path))
          let file = try #require(try await received)
          #expect(sent.resumedFrom == file.resumedFrom && sent.resumedFrom >= (before >> 20) << 20)
          #expect(try TemporaryFolder.bytes(file.path) == content)
          #expect(TemporaryFolder.entries(into) == ["a.bin"])
        }
      }
    }

    @Test("peers that dial and never speak are hung up on, and keep no other out", arguments: SuiteTransport.all)
    func silentDialler(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.patience.handshake = transport.silence }) { pair in
          try await BarePeer.run(1, in: world) { peer in
            // RFCOMM has one channel with a given number between two devices.
            try await peer.dial(pair.addresses())
            if transport.kind != .rfcomm { _ = try await pair.connect() }
            try await world.until("the server hangs up") { await peer.endedLinks == 1 }
          }
          if transport.kind == .rfcomm { _ = try await pair.connect() }
        }
      }
    }

    @Test("a peer that says what is no TLS is hung up on at once", arguments: SuiteTransport.all)
    func garbage(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          try await BarePeer.run(1, in: world) { peer in
            let clock = ContinuousClock()
            let start = clock.now
            try await peer.dial(pair.addresses(), saying: Array("GET / HTTP/1.1\r\n\r\n".utf8))
            try await world.until("the server hangs up") { await peer.endedLinks == 1 }
            #expect(clock.now - start < transport.patience / 2)
          }
          _ = try await pair.connect()
        }
      }
    }

    @Test("dialling a peer that accepts and never speaks ends with timedOut, soon", arguments: SuiteTransport.all)
    func silentListener(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await BarePeer.run(0, in: world) { peer in
          try await peer.listen()
          try await world.until("it listens") { await !peer.addresses.isEmpty }
          try await world.node(1, "Client", { $0.patience.handshake = transport.silence }) { client in
            let clock = ContinuousClock()
            let start = clock.now
            let error = await failure { try await client.invite(at: peer.addresses, timeout: transport.patience) }
            #expect(error?.description.contains("handshake") == true, "\(String(describing: error))")
            #expect(clock.now - start < transport.patience / 2)
            #expect(client.session.members.isEmpty)
          }
        }
      }
    }

    @Test("a cancelled dial to a silent peer ends at once, and its link with it", arguments: SuiteTransport.all)
    func cancelledDial(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await BarePeer.run(0, in: world) { peer in
          try await peer.listen()
          try await world.until("it listens") { await !peer.addresses.isEmpty }
          try await world.node(1, "Client") { client in
            let dialling = Task { try await client.invite(at: peer.addresses, timeout: transport.patience) }
            try await world.until("it is connected") { await peer.linkCount == 1 }
            dialling.cancel()
            let error = await failure { try await dialling.value }
            #expect(error?.code == .cancelled && error?.blame == .us, "\(String(describing: error))")
            try await world.until("the link is gone") { await peer.endedLinks == 1 }
          }
        }
      }
    }

    private func reconnects(_ pair: SuitePair) async throws {
      let (onClient, _) = try await pair.connectAgain()
      try await onClient.send([9])
      #expect(await pair.server.session.messages.first()?.bytes == [9])
    }
  }
}
