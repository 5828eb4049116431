import PiconetWire
import Testing

@testable import Piconet

@Suite("Hidden nodes that expect one another", .timeLimit(.minutes(15)))
struct ExpectedPeerTests {
  /// Two hidden nodes, over 127.0.0.1.
  private func pair<Value>(
    _ change: (inout NodeConfiguration) -> Void = { _ in }, _ body: (_ anna: Node, _ ben: Node) async throws -> Value
  ) async throws -> Value {
    var configuration = Host.configuration("Anna")
    change(&configuration)
    return try await Node.run(configuration) { anna in
      try await Node.run(Host.configuration("Ben")) { ben in try await body(anna, ben) }
    }
  }

  private static let stranger = NodeID(
    peer: PeerID(bytes: [UInt8](repeating: 7, count: 32))!, incarnation: .init(rawValue: 1))

  private func address(of node: Node) async throws -> String {
    try #require(await node.listeningAddresses.first).text
  }

  private func accepting(_ node: Node) -> Task<Void, Never> {
    Task { for await invitation in node.invitations { _ = try? await invitation.accept() } }
  }

  private func declining(_ node: Node) -> Task<Void, Never> {
    Task { for await invitation in node.invitations { await invitation.decline() } }
  }

  @Test("the one that is expected is let in, asked about and accepted; the other one stays hidden")
  func meets() async throws {
    try await pair { anna, ben in
      #expect(await anna.listeningAddresses.isEmpty)
      try await anna.expect(ben.id.peer, for: .seconds(60))
      async let accepted: Member? = {
        for await invitation in anna.invitations { return try await invitation.accept() }
        return nil
      }()
      let onBen = try await ben.invite(at: address(of: anna), expecting: anna.id.peer)
      #expect(onBen.id == anna.id)
      #expect(try await accepted?.id == ben.id)
      #expect(!anna.isAvailable && !ben.isAvailable)
      #expect(await ben.listeningAddresses.isEmpty)
    }
  }

  @Test("two that expect and invite one another by address both succeed")
  func crossing() async throws {
    try await pair { anna, ben in
      try await anna.expect(ben.id.peer, for: .seconds(60))
      try await ben.expect(anna.id.peer, for: .seconds(60))
      let tasks = [accepting(anna), accepting(ben)]
      defer { for task in tasks { task.cancel() } }
      let (annas, bens) = (try await address(of: anna), try await address(of: ben))
      async let onAnna = anna.invite(at: bens)
      async let onBen = ben.invite(at: annas)
      #expect(try await onAnna.id == ben.id)
      #expect(try await onBen.id == anna.id)
    }
  }

  @Test("another peer is refused as by a node that hides, whatever its name; no user is asked")
  func others() async throws {
    try await pair { anna, ben in
      try await anna.expect(Self.stranger.peer, for: .seconds(60))
      let address = try await address(of: anna)
      let error = await failure { try await ben.invite(at: address) }
      #expect(
        error?.code == .notAvailable && error?.blame == .peer && error?.detail == "", "\(String(describing: error))")

      // The same as of a node that hides and has a member.
      try await Host.run { host in
        _ = try await ben.invite(at: host.address)
        try await host.node.setAvailable(false)
        try await Host.client { client in
          let hidden = await failure { try await client.invite(at: host.address) }
          #expect(hidden?.code == error?.code && hidden?.detail == error?.detail)
        }
      }
      // Nor does a link that says the name, and nothing else of the one that is expected.
      let said = try await blocking {
        let link = try RawLink(to: address)
        try link.secure()
        try link.send(.hello(link.hello { $0.incarnation = Self.stranger.incarnation }))
        return try link.readToEnd()
      }
      #expect(said?.reason == .notAvailable && said?.detail == "")
      #expect(anna.currentStates.isEmpty)
    }
  }

  @Test("after its time a peer is refused, and a node that expects no other peer stops listening")
  func over() async throws {
    try await pair { anna, ben in
      let declining = declining(anna)
      defer { declining.cancel() }
      try await anna.expect(Self.stranger.peer, for: .seconds(600))
      try await anna.expect(ben.id.peer, for: .milliseconds(300))
      let address = try await address(of: anna)
      var error: PiconetError?
      repeat { error = await failure { try await ben.invite(at: address) } } while error?.code == .declined
      #expect(error?.code == .notAvailable, "\(String(describing: error))")
      var code: PiconetError.Code?
      await anna.stopExpecting(Self.stranger.peer)
      repeat { code = await failure { try await ben.invite(at: address) }?.code } while code == .notAvailable
      #expect(code == .unreachable)
      #expect(await anna.listeningAddresses.isEmpty)
    }
  }

  @Test("a peer that is expected no more is refused, but stays if it is a member already")
  func takenBack() async throws {
    try await pair { anna, ben in
      let accepting = accepting(anna)
      defer { accepting.cancel() }
      try await anna.expect(Self.stranger.peer, for: .seconds(600))
      try await anna.expect(ben.id.peer, for: .seconds(600))
      let address = try await address(of: anna)
      let member = try await ben.invite(at: address)
      await anna.stopExpecting(ben.id.peer)
      try await member.send([1])
      #expect(await anna.session.messages.first()?.bytes == [1])
      await member.disconnect()
      #expect(await failure { try await ben.invite(at: address) }?.code == .notAvailable)
    }
  }

  @Test("a node that is available, and hides, goes on expecting at the same address")
  func hides() async throws {
    try await pair { anna, ben in
      let declining = declining(anna)
      defer { declining.cancel() }
      try await anna.expect(ben.id.peer, for: .seconds(600))
      let before = try await address(of: anna)
      try await anna.setAvailable(true)
      try await anna.setAvailable(false)
      #expect(try await address(of: anna) == before)
      #expect(await failure { try await ben.invite(at: before) }?.code == .declined)
    }
  }

  @Test("a key that the trust policy refuses is refused, also where it is expected")
  func trust() async throws {
    try await pair({ $0.trust = .pinned([Self.stranger.peer]) }) { anna, ben in
      try await anna.expect(ben.id.peer, for: .seconds(600))
      let address = try await address(of: anna)
      #expect(await failure { try await ben.invite(at: address) }?.code == .identity)
    }
  }

  @Test("an error names the limits of what can be expected; a node that has stopped expects no peer")
  func limits() async throws {
    try await pair { anna, _ in
      for duration: Duration in [.zero, .seconds(86_401)] {
        let error = await failure { try await anna.expect(Self.stranger.peer, for: duration) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.detail == "a peer is expected for more than 0 s, and at most 24 hours")
      }
      for number: UInt8 in 1...64 {
        try await anna.expect(try #require(PeerID(bytes: [UInt8](repeating: number, count: 32))), for: .seconds(600))
      }
      let another = try #require(PeerID(bytes: [UInt8](repeating: 65, count: 32)))
      let error = await failure { try await anna.expect(another, for: .seconds(600)) }
      #expect(error?.code == .limitExceeded && error?.detail == "64 peers are expected")
      await anna.stop()
      #expect(await failure { try await anna.expect(another, for: .seconds(600)) }?.code == .shuttingDown)
      await anna.stopExpecting(another)
    }
  }

  @Test("a node that can't listen says why; the peer is expected")
  func cannotListen() async throws {
    let taken = try RawListener()
    try await pair({ $0.listen = taken.address }) { anna, ben in
      let error = await failure { try await anna.expect(ben.id.peer, for: .seconds(600)) }
      #expect(error?.code == .internalError && error?.detail.contains("can't listen on") == true)
      #expect(await anna.listeningAddresses.isEmpty)
    }
  }
}
