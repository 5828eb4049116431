import PiconetActors
import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// Two members of a group that have no transport in common: one has TCP, the other the simulated one, and both have
  /// met a third that has either.
  @Suite("Calls over a relay", .timeLimit(.minutes(15)))
  struct RelayedCallTests {
    @Test("two that share no transport call each other over a member of both, once each has let the other")
    func relayed() async throws {
      try await SuiteWorld.run(.simulated) { world in
        func isGroup(_ transports: [TransportKind]) -> (inout NodeConfiguration) -> Void {
          { configuration in
            configuration.transports = transports + [.relay]
            configuration.discovers = false
            configuration.listen = "127.0.0.1:0"
            configuration.interfaces = ["lo"]
            configuration.membership = .group
            configuration.introductions = .takeWord
            configuration.relaying = RelayQuotas()
          }
        }
        try await world.node(0, "Relay", isGroup([.tcp, .simulated])) { relay in
          try await relay.setAvailable(true)
          let addresses = await relay.listeningAddresses
          try await world.node(1, "Service", isGroup([.tcp])) { service in
            try await world.node(2, "Client", isGroup([.simulated])) { client in
              for (node, kind) in [(service, TransportKind.tcp), (client, .simulated)] {
                async let accepted = relay.invitations.first()?.accept()
                _ = try await node.invite(at: addresses.filter { $0.kind == kind })
                _ = try await accepted
              }
              let members = (try await member(service, of: client), try await member(client, of: service))
              #expect(members.0.transport == .relay && members.1.transport == .relay)
              #expect(members.0.route?.relays == [relay.id])
              try await ErrandPair.run(members.0, of: client, members.1, of: service) { errands in
                // Each has only the relay's word for the other.
                #expect(await errands.code { try await errands.errand.join("a", "b") } == .notAllowed)
                errands.service.allow(client.id.peer)
                errands.client.allow(service.id.peer)
                try await errands.calls(size: 1_000_000)
                try await errands.signals()
                try await errands.namesAndPresence(patience: world.transport.patience)
              }
            }
          }
        }
      }
    }

    private func member(_ other: Node, of node: Node) async throws -> Member {
      var changes = node.session.membership.makeAsyncIterator()
      repeat {
        if let member = node.session[other.id] { return member }
      } while await changes.next() != nil
      throw SuiteWorld.Failure(description: "the node has stopped")
    }
  }
}
