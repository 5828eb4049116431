import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Leaving and starting again", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct EndingTests {
    @Test("a disconnect delivers what was sent before it, and both sides are told", arguments: SuiteTransport.all)
    func disconnectDelivers(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let count = transport.amount(300)
          async let received = pair.server.session.take(count + 1)
          for _ in 0..<count { try await onClient.send([UInt8](repeating: 1, count: 20_000)) }
          try await onClient.send([2])
          await onClient.disconnect()
          #expect(await received.map(\.bytes.count) == [Int](repeating: 20_000, count: count) + [1])
          #expect(await failure { try await onClient.send([3]) }?.code == .left)
          let onServer = await pair.server.session.nextDeparture()
          #expect(onServer?.code == .left && onServer?.blame == .peer, "\(String(describing: onServer))")
          #expect(onServer?.description.hasPrefix("the peer left") == true, "\(String(describing: onServer))")
          let onOurs = await pair.client.session.nextDeparture()
          #expect(onOurs?.code == .left && onOurs?.blame == .nobody, "\(String(describing: onOurs))")
          #expect(onOurs?.description.hasPrefix("we have left") == true, "\(String(describing: onOurs))")
        }
      }
    }

    @Test("a member that has left comes back, again and again", arguments: SuiteTransport.all)
    func comesBack(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.capacity = 2 }) { pair in
          for round in 0..<UInt8(transport.amount(50)) {
            let (onClient, onServer) = try await pair.connect()
            try await onClient.send([round])
            #expect(await pair.server.session.messages.first()?.bytes == [round])
            // The two ends take turns.
            await (round % 2 == 0 ? onClient : onServer).disconnect()
            #expect(await pair.server.session.nextDeparture()?.code == .left)
            #expect(await pair.client.session.nextDeparture()?.code == .left)
          }
          #expect(pair.server.session.members.isEmpty && pair.client.session.members.isEmpty)
        }
      }
    }

    @Test(
      "unread messages of former members do not pile up, however often they come and go", arguments: SuiteTransport.all
    )
    func leftBehind(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.capacity = 2 }) { pair in
          let message = [UInt8](repeating: 1, count: 95 * 1024)
          for _ in 0..<8 {
            let (onClient, _) = try await pair.connect()
            // L2CAP has room for one unread message only.
            for _ in 0..<(transport.kind == .l2cap ? 1 : 10) { try await onClient.send(message) }
            await onClient.disconnect()
            let error = await pair.server.session.nextDeparture()
            #expect(error?.code == .left, "\(String(describing: error))")
          }
          // Two windows for each of two members; twice as much was sent.
          #expect(pair.server.core.log.cost <= 4 << 20)
          // What is still there is whole and can be read.
          #expect(await pair.server.session.messages.first()?.bytes.count == 95 * 1024)
        }
      }
    }

    @Test(
      "a stopped node tells its members; it refuses everything, and its sequences end", arguments: SuiteTransport.all)
    func stopped(over transport: SuiteTransport) async throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("a.bin", [1])
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let addresses = try await pair.addresses()
          await pair.client.stop()
          #expect(await failure { try await pair.client.invite(at: addresses) }?.code == .shuttingDown)
          #expect(await failure { try await onClient.send([1]) }?.code == .shuttingDown)
          #expect(await failure { try await onClient.send(.file(path)) }?.code == .shuttingDown)
          #expect(await failure { try await pair.client.receivingDirectory(at: folder.path) }?.code == .shuttingDown)
          #expect(await failure { try await pair.client.setAvailable(true) }?.code == .shuttingDown)
          #expect(await failure { try await pair.client.setMode(.peer) }?.code == .shuttingDown)
          await onClient.disconnect()
          #expect(await pair.client.session.messages.first() == nil)
          #expect(await pair.client.session.offers.first() == nil)
          #expect(await pair.client.invitations.first() == nil)
          for await _ in pair.client.peers {}
          for await _ in pair.client.session.membership {}
          #expect(await pair.server.session.nextDeparture()?.code == .shuttingDown)
          await pair.client.stop()
        }
      }
    }

    @Test("a restarted node is another incarnation of the same peer, and connects anew", arguments: SuiteTransport.all)
    func restarted(over transport: SuiteTransport) async throws {
      let state = try TemporaryFolder()
      let identity = IdentityStorage.directory(state.path + "/state")
      try await SuiteWorld.run(transport) { world in
        try await world.node(1, "Client") { client in
          var ids: [NodeID] = []
          for round in UInt8(0)..<3 {
            try await world.node(0, "Server", { $0.identity = identity }) { server in
              try await server.setAvailable(true)
              let pair = SuitePair(world: world, server: server, client: client)
              let (onClient, onServer) = try await pair.connect()
              ids.append(server.id)
              #expect(client.session.members.map(\.id) == [server.id])
              try await onServer.send([round])
              #expect(await client.session.messages.first()?.bytes == [round])
              _ = onClient
            }
            #expect(await client.session.nextDeparture()?.code == .shuttingDown)
          }
          #expect(Set(ids.map(\.peer)).count == 1 && Set(ids).count == 3)
        }
      }
    }
  }
}
