import Foundation
import Piconet
import Testing

@Suite("Two nodes that invite each other at once", .timeLimit(.minutes(15)))
struct CrossingTests {
  private static func run(
    discovers: Bool, _ body: (_ first: Node, _ second: Node) async throws -> Void
  ) async throws {
    var configuration = NodeConfiguration(sessionID: UUID().uuidString, name: "First")
    configuration.interfaces = ["lo"]
    configuration.listen = "127.0.0.1:0"
    configuration.discovers = discovers
    var other = configuration
    other.name = "Second"
    try await Node.run(configuration) { first in
      try await first.setAvailable(true)
      try await Node.run(other) { second in
        try await second.setAvailable(true)
        try await body(first, second)
      }
    }
  }

  /// Both invite each other, become members, and part again.
  /// - Returns: what each has seen of the other's invitation, the second one's first.
  private static func cross(
    _ first: @escaping @Sendable () async throws -> Member, _ second: @escaping @Sendable () async throws -> Member
  ) async throws -> [[UInt8]?] {
    async let here = first()
    async let there = second()
    let members = try await [here, there]
    for member in members { await member.disconnect() }
    return members.map(\.proven.invitationContext)
  }

  @Test("by sight, both are connected and have what the other's invitation says", arguments: 0..<4)
  func bySight(pair: Int) async throws {
    try await Self.run(discovers: true) { first, second in
      let (there, here) = try await (first.firstPeer(named: "Second"), second.firstPeer(named: "First"))
      for round in 0..<10 as Range<UInt8> {
        let contexts = try await Self.cross {
          try await first.invite(there, context: [1, round])
        } _: {
          try await second.invite(here, context: [2, round])
        }
        #expect(contexts == [[2, round], [1, round]])
      }
    }
  }

  @Test("by address, both are connected and have what the other's invitation says", arguments: 0..<9)
  func byAddress(pair: Int) async throws {
    try await Self.run(discovers: false) { first, second in
      let there = try #require(await second.listeningAddresses.first).text
      let here = try #require(await first.listeningAddresses.first).text
      for round in 0..<10 as Range<UInt8> {
        let contexts = try await Self.cross {
          try await first.invite(at: there, context: [1, round])
        } _: {
          try await second.invite(at: here, context: [2, round])
        }
        #expect(contexts == [[2, round], [1, round]])
      }
    }
  }

  @Test(
    "a greeting comes with the invitation and with the acceptance; above 1,024 bytes the node does not start")
  func greetings() async throws {
    let longest = (0..<1_024).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for (ours, theirs) in [([1, 1], [2]), (longest, longest.reversed())] as [([UInt8], [UInt8])] {
      try await greetings(ours, theirs)
    }
    let error = await failure {
      try await NodePair.run(server: { $0.greeting = [UInt8](repeating: 0, count: 1_025) }) { _ in }
    }
    #expect(error?.code == .invalidArgument && error?.detail == "a greeting has at most 1024 bytes")
  }

  private func greetings(_ ours: [UInt8], _ theirs: [UInt8]) async throws {
    try await NodePair.run(server: { $0.greeting = ours }, client: { $0.greeting = theirs }) { pair in
      async let accepted: Member? = {
        for await invitation in pair.server.invitations {
          #expect(invitation.peer.greeting == theirs)
          return try await invitation.accept()
        }
        return nil
      }()
      let member = try await pair.client.invite(at: pair.address())
      let inviter = try await accepted
      #expect(member.proven.greeting == ours && inviter?.proven.greeting == theirs)
    }
  }

  /// `CrossingContextTests` of the engine has it in every order of what happens.
  @Test("by address, both calls succeed also where both accept every invitation at once", arguments: 0..<9)
  func acceptingAtOnce(pair: Int) async throws {
    try await Self.run(discovers: false) { first, second in
      let there = try #require(await second.listeningAddresses.first).text
      let here = try #require(await first.listeningAddresses.first).text
      let accepting = [first, second].map { node in
        Task { for await invitation in node.invitations { _ = try? await invitation.accept() } }
      }
      for _ in 0..<10 {
        async let one = failure { try await first.invite(at: there) }
        async let other = failure { try await second.invite(at: here) }
        // On a busy machine a call may begin when the other one has led to a membership.
        let failures = await [one, other].compactMap(\.self)
        #expect(failures.count < 2 && failures.allSatisfy { $0.code == .alreadyConnected }, "\(failures)")
        for node in [first, second] { for member in node.session.members { await member.disconnect() } }
      }
      for task in accepting { task.cancel() }
    }
  }
}
