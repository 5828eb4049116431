import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Nodes of one host", .timeLimit(.minutes(15)))
  struct HostTests {
    @Test(
      "one sends a file while another one searches, invites and is invited, at the same adapter",
      arguments: SuiteTransport.ofThree)
    func together(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let content = randomBytes(transport.amount(1_500_000))
      let path = try folder.write("a.bin", content)
      let into = try folder.folder("in")
      try await SuiteWorld.run(transport) { world in
        try await world.host(0, "Photos", "Game") { photos, game in
          try await world.node(1, "Album", { $0.mode = .server }) { album in
            try await world.node(2, "Rival", { $0.sessionID += "-1" }) { rival in
              let clock = ContinuousClock()
              let start = clock.now
              async let isSent: Duration = {
                try await album.setAvailable(true)
                let addresses = try await world.addresses(of: album)
                async let accepted = album.invitations.first()?.accept()
                let member = try await photos.invite(at: addresses, timeout: transport.patience)
                _ = try await accepted
                let sending = try await member.startSending(.file(path))
                let offer = try #require(await album.session.offers.first())
                let received = try await offer.store(in: album.receivingDirectory(at: into))
                #expect(try await sending.result.digest == received.digest)
                #expect(try TemporaryFolder.bytes(received.path) == content)
                return clock.now - start
              }()
              try await rival.setAvailable(true)
              try await game.setAvailable(true)
              for (inviter, invited) in [(game, rival), (rival, game)] {
                let peer = try #require(await world.sees(inviter, invited))
                async let accepted = invited.invitations.first()?.accept()
                let member = try await inviter.invite(peer, timeout: transport.patience)
                #expect(member.id == invited.id)
                let other = try #require(try await accepted)
                await member.disconnect()
                try await world.until("it has left") { !invited.session.members.contains(other) }
              }
              let isPlayed = clock.now - start
              print("over \(transport.name): sent after \(try await isSent), played after \(isPlayed)")
              #expect(photos.session.members.count == 1 && game.currentPeers.map(\.id) == [rival.id])
            }
          }
        }
      }
    }

    @Test(
      "a node that stops takes nothing from another: the other's member, advertisement and search stay",
      arguments: SuiteTransport.ofThree)
    func oneStops(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.host(0, "Leaver", "Stayer") { leaver, stayer in
          try await world.node(1, "Rival", { $0.sessionID += "-1" }) { rival in
            for node in [leaver, stayer, rival] { try await node.setAvailable(true) }
            _ = try #require(await world.sees(rival, stayer))
            let peer = try #require(await world.sees(stayer, rival))
            async let accepted = rival.invitations.first()?.accept()
            let member = try await stayer.invite(peer, timeout: transport.patience)
            _ = try #require(try await accepted)
            await leaver.stop()
            try await member.send([1])
            #expect(await rival.session.messages.first()?.bytes == [1])
            #expect(rival.currentPeers.map(\.id) == [stayer.id] && stayer.currentPeers.map(\.id) == [rival.id])
            try await world.node(2, "Late", { $0.sessionID += "-1" }) { late in
              try await late.setAvailable(true)
              _ = try #require(await world.sees(late, stayer))
              _ = try #require(await world.sees(stayer, late))
            }
          }
        }
      }
    }

    @Test(
      "links of two nodes are cut at once, in the middle of messages: both members come back, and each has its own",
      arguments: SuiteTransport.breakable)
    func cut(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.host(0, "Photos", "Game") { photos, game in
          try await world.host(1, "Album", "Rival") { album, rival in
            let count = transport.amount(1_000)
            let watched = [Watched(0), Watched(0)]
            let reading = [album, rival].enumerated().map { place, node in
              Task {
                for await message in node.session.messages {
                  // In order, each once, and none of the sibling's.
                  let number = watched[place].value
                  #expect(message.bytes == [UInt8(place), UInt8(number % 251)][...])
                  watched[place].update { $0 += 1 }
                  if number + 1 == count { break }
                }
              }
            }
            var members: [Member] = []
            for (inviter, invited) in [(photos, album), (game, rival)] {
              try await invited.setAvailable(true)
              async let accepted = invited.invitations.first()?.accept()
              let addresses = try await world.breakableAddresses(of: invited)
              members.append(try await inviter.invite(at: addresses, timeout: transport.patience))
              _ = try #require(try await accepted)
            }
            let sending = members.enumerated().map { place, member in
              Task { for number in 0..<count { try await member.send([UInt8(place), UInt8(number % 251)]) } }
            }
            for part in 1...2 {
              try await world.until("some came") { watched.allSatisfy { $0.value >= part * count / 4 } }
              try await world.cut()
            }
            for task in sending { try await task.value }
            for task in reading { await task.value }
            #expect(photos.session.members.map(\.id) == [album.id])
            #expect(game.session.members.map(\.id) == [rival.id])
          }
        }
      }
    }
  }
}

extension SuiteWorld {
  /// Two nodes of one host, at one place; the second one has a session of its own, whose id ends in `-1`.
  func host(
    _ place: Int, _ first: String, _ second: String, _ body: (Node, Node) async throws -> Void
  ) async throws {
    let configuration = configuration(place, first)
    var other = self.configuration(place, second)
    other.sessionID += "-1"
    try await NodeHost.run(configuration.device.host) { host in
      let (first, second) = (try await host.node(configuration), try await host.node(other))
      try await body(first, second)
    }
  }
}
