import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Listeners of nodes of one host", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", or: .anywhere))
  struct HostListenerTests {
    @Test(
      "over Bluetooth two sessions share a PSM, not a channel; a dial reaches the session that it names",
      arguments: SuiteTransport.ofThreeByRadio)
    func oneDoor(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.host(0, "Photos", "Game") { photos, game in
          for node in [photos, game] { try await node.setAvailable(true) }
          let addresses = (try await world.addresses(of: photos), try await world.addresses(of: game))
          #expect((addresses.0 == addresses.1) == transport.kind.sharesListeners)
          try await world.node(1, "Rival", { $0.sessionID += "-1" }) { rival in
            try await world.node(2, "Album") { album in
              for (inviter, invited, addresses) in [(rival, game, addresses.1), (album, photos, addresses.0)] {
                async let accepted = invited.invitations.first()?.accept()
                let member = try await inviter.invite(at: addresses, timeout: transport.patience)
                #expect(member.id == invited.id)
                #expect(try await accepted?.id == inviter.id)
              }
            }
          }
        }
      }
    }

    @Test(
      "over Bluetooth ten nodes share a PSM; channels, profiles and what an adapter can advertise they take each",
      arguments: SuiteTransport.ofThreeByRadio)
    func tenNodes(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport, limit: .seconds(200)) { world in
        let before = Registered.now()
        try await NodeHost.run(world.configuration(0, "Host").device.host) { host in
          var nodes: [Node] = []
          for number in 0..<10 {
            var configuration = world.configuration(0, "Node \(number)")
            configuration.sessionID += "-\(number)"
            let node = try await host.node(configuration)
            nodes.append(node)
            try await node.setAvailable(true)
          }
          var places: Set<[TransportAddress]> = []
          for node in nodes { places.insert(try await world.addresses(of: node)) }
          #expect(places.count == (transport.kind.sharesListeners ? 1 : 10), "\(places)")
          guard let before else { return }
          try await world.until("bluetoothd has what ten nodes tell") {
            guard let now = Registered.now() else { return false }
            // After a link over LE Linux may keep one of the controller's sets for itself, and bluetoothd's last one is
            // refused.
            return now.services == before.services + 10
              && now.advertisements >= before.advertisements + min(10, before.freeAdvertisements) - 1
          }
        }
        guard let before else { return }
        try await world.until("nothing is left") { Registered.now() == before }
      }
    }

    @Test(
      "over Bluetooth a node more of a host takes one descriptor, and over RFCOMM a second",
      arguments: SuiteTransport.ofThreeByRadio)
    func descriptors(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await NodeHost.run(world.configuration(0, "Host").device.host) { host in
          var (nodes, counts): ([Node], [Int]) = ([], [])
          for number in 0..<4 {
            var configuration = world.configuration(0, "Node")
            configuration.sessionID += "-\(number)"
            configuration.mode = .server
            let node = try await host.node(configuration)
            nodes.append(node)
            try await node.setAvailable(true)
            _ = try await world.addresses(of: node)
            var readings: [Int] = []
            try await world.until("what is held does not change") {
              readings = readings.suffix(20) + [descriptorCount()]
              return readings.count == 21 && Set(readings).count == 1
            }
            counts.append(readings[0])
          }
          let more = zip(counts.dropFirst(), counts).map { $0 - $1 }
          #expect(more.allSatisfy { $0 == (transport.kind.sharesListeners ? 1 : 2) }, "\(counts)")
        }
      }
    }
  }
}
