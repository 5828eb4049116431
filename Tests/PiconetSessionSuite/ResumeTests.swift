import PiconetEngine
import Synchronization
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Members that outlive their links", .timeLimit(.minutes(15)))
  struct ResumeTests {
    @Test(
      "a link cut in the middle of messages both ways: nothing is lost, doubled or reordered",
      arguments: SuiteTransport.breakable)
    func cutInMessages(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let members = try await pair.connect(breakable: true)
          let count = transport.amount(2_000)
          let sending = [members.onClient, members.onServer].map { member in
            Task { for number in 0..<count { try await member.send(numbered(number)) } }
          }
          let came = [Watched(0), Watched(0)]
          let reading = [pair.server, pair.client].enumerated().map { place, node in
            Task {
              var wrong = 0
              for await message in node.session.messages {
                if message.bytes != numbered(came[place].value)[...] { wrong += 1 }
                came[place].update { $0 += 1 }
                if came[place].value == count { break }
              }
              return wrong
            }
          }
          for part in 1...3 {
            try await world.until("some came") { came[0].value >= part * count / 5 }
            try await world.cut()
          }
          for task in sending { try await task.value }
          for task in reading { #expect(await task.value == 0) }
          #expect(came.map(\.value) == [count, count])
          #expect(pair.client.session.members.map(\.id) == [pair.server.id])
        }
      }
    }

    @Test(
      "a link cut in the middle of a file: one file is stored, with the sender's digest",
      arguments: SuiteTransport.breakable)
    func cutInFile(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let content = randomBytes(transport.amount(20_000_000))
      let path = try folder.write("a.bin", content)
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          let sending = Task { try await onClient.send(.file(path)) }
          let offer = try #require(await pair.server.session.offers.first())
          let storing = store(offer, on: pair.server, in: into)
          for part in 1...3 {
            try await world.until("a part is there") { offer.progress.stored >= offer.size / 5 * UInt64(part) }
            try await world.cut()
          }
          let (received, sent) = (try await storing.value, try await sending.value)
          #expect(received.digest == sent.digest)
          #expect(try TemporaryFolder.bytes(received.path) == content)
          #expect(TemporaryFolder.entries(into) == ["a.bin"])
        }
      }
    }

    @Test(
      "a member is suspended and resumed, each told once and in order, and tells what it is reached over",
      arguments: SuiteTransport.breakable)
    func told(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect(breakable: true)
          #expect(onClient.transport == transport.kind && onServer.transport == transport.kind)
          let changes = [pair.client, pair.server].map { node in Task { await node.session.nextLinkChanges() } }
          try await world.cut()
          for task in changes { #expect(await task.value == ["joined", "suspended", "resumed \(transport.kind)"]) }
          #expect(onClient.transport == transport.kind && onServer.transport == transport.kind)
          try await onClient.send([7])
          #expect(await pair.server.session.messages.first()?.bytes == [7])
        }
      }
    }

    // No adapter scans while it dials.
    @Test("a node that keeps dialling a lost member finds a device that comes then", arguments: SuiteTransport.paced)
    func findsOthersMeanwhile(over transport: SuiteTransport) async throws {
      let patient: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = .seconds(600) }
      try await SuiteWorld.run(transport, limit: transport.testLimit * 3) { world in
        try await world.pair(server: patient, client: patient) { pair in
          let (onClient, onServer) = try await pair.connect(breakable: true)
          try await pair.client.setAvailable(true)
          try await world.silence()
          try await world.cut()
          try await world.until("it is noticed") { onClient.transport == nil && onServer.transport == nil }
          try await world.node(2, "Third") { third in
            try await third.setAvailable(true)
            for node in [pair.client, pair.server] {
              _ = try await world.peers(of: node, "\(node.name) sees the third", patience: .seconds(120)) {
                $0.contains { $0.id == third.id }
              }
            }
            #expect(onClient.transport == nil && onServer.transport == nil, "they still search for one another")
          }
          try await world.endSilence()
          try await world.until("they have found each other again") { onClient.transport != nil }
        }
      }
    }

    @Test(
      "a silence that is shorter than the disconnect timeout is outlived, whatever the link does",
      arguments: SuiteTransport.breakable)
    func silence(over transport: SuiteTransport) async throws {
      let patient: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = transport.silence * 8 }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: patient, client: patient) { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          try await world.silence()
          let sending = Task { for number in 0..<50 { try await onClient.send(numbered(number)) } }
          try await world.until("it is noticed") { onClient.transport == nil }
          try await world.endSilence()
          let all = await pair.server.session.take(50)
          #expect(all.map(\.bytes) == (0..<50).map { numbered($0)[...] })
          try await sending.value
        }
      }
    }

    @Test(
      "a node that hides takes back the members that it has, refuses others, and listens no longer than for them",
      arguments: SuiteTransport.lossless)
    func hidden(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let addresses = try await pair.addresses()
          let (onClient, onServer) = try await pair.connect(breakable: true)
          try await pair.server.setAvailable(false)
          #expect(await pair.server.listeningAddresses.isEmpty)
          for number: UInt8 in 1...3 {
            try await world.cut()
            try await onClient.send([number])
            #expect(await pair.server.session.messages.first()?.bytes == [number])
          }
          try await world.node(2, "Stranger") { stranger in
            func dial() async -> PiconetError? {
              await failure { try await stranger.invite(at: addresses, timeout: transport.patience) }
            }
            let refused = await dial()
            #expect(refused?.code == .notAvailable && refused?.blame == .peer, "\(String(describing: refused))")
            await onServer.disconnect()
            try await world.until("nobody listens") { await dial()?.code == .unreachable }
          }
        }
      }
    }

    @Test(
      "a hidden node lets in the peer that it expects, and takes it back after the link was cut, again and again",
      arguments: SuiteTransport.reachedHidden)
    func expected(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.node(0, "Host") { host in
          try await world.node(1, "Guest") { guest in
            try await host.expect(guest.id.peer, for: .seconds(600))
            async let accepted = host.invitations.first()?.accept()
            let onGuest = try await guest.invite(
              at: world.breakableAddresses(of: host), expecting: host.id.peer, timeout: transport.patience)
            #expect(try await accepted?.id == guest.id)
            await host.stopExpecting(guest.id.peer)
            for number: UInt8 in 1...3 {
              try await world.cut()
              try await onGuest.send([number])
              #expect(await host.session.messages.first()?.bytes == [number])
            }
            #expect(!host.isAvailable)
          }
        }
      }
    }

    @Test("a timeout of 0, set while connected, ends a member with its link", arguments: SuiteTransport.breakable)
    func atOnce(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          _ = try await pair.connect(breakable: true)
          for node in [pair.client, pair.server] { try await node.setDisconnectTimeout(.zero) }
          let refused = await failure { try await pair.client.setDisconnectTimeout(.milliseconds(200)) }
          #expect(refused?.code == .invalidArgument)
          #expect(refused?.detail == "the disconnect timeout is 0, or 2 s to 24 hours")
          try await world.cut()
          async let onServer = pair.server.session.nextDeparture()
          let errors = (await pair.client.session.nextDeparture(), await onServer)
          #expect(errors.0?.code == .linkFailed, "\(String(describing: errors.0))")
          #expect(errors.1?.code == .linkFailed, "\(String(describing: errors.1))")
        }
      }
    }

    @Test("leaving a member that can't be reached ends at once", arguments: SuiteTransport.breakable)
    func leave(over transport: SuiteTransport) async throws {
      let patient: @Sendable (inout NodeConfiguration) -> Void = { $0.disconnectTimeout = transport.silence * 4 }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: patient, client: patient) { pair in
          let (onClient, _) = try await pair.connect(breakable: true)
          try await world.silence()
          try await world.until("it is noticed") { onClient.transport == nil }
          await onClient.disconnect()
          #expect(pair.client.session.members.isEmpty)
          #expect(await pair.server.session.nextDeparture() != nil)
          try await world.endSilence()
        }
      }
    }
  }
}

/// Bytes that show their number.
private func numbered(_ number: Int) -> [UInt8] {
  [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 300)
    + [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
}

extension Session {
  /// The changes up to and including the first member that is reached again.
  fileprivate func nextLinkChanges() async -> [String] {
    var all: [String] = []
    for await change in membership {
      switch change {
      case .joined: all.append("joined")
      case .suspended: all.append("suspended")
      case .moved(_, let transport): all.append("moved \(transport)")
      case .resumed(_, let transport): all.append("resumed \(transport)")
      case .left: all.append("left")
      }
      if all.last == "left" || all.last?.hasPrefix("resumed") == true { break }
    }
    return all
  }
}
