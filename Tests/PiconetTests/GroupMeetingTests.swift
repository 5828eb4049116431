import Foundation
import Piconet
import Testing

@Suite("Groups that meet over TCP", .timeLimit(.minutes(15)))
struct GroupMeetingTests {
  /// A group of three nodes and one of two, which see one another.
  private func run(capacity: Int, _ body: @escaping @Sendable ([Node]) async throws -> Void) async throws {
    try await run(capacity, UUID().uuidString, []) { nodes in
      for (inviting, invited) in [(1, 0), (2, 0), (4, 3)] { try await join(nodes[invited], by: nodes[inviting]) }
      for (place, node) in nodes.enumerated() { await wait(for: place < 3 ? 2 : 1, at: node) }
      try await body(nodes)
    }
  }

  private func run(
    _ capacity: Int, _ session: String, _ started: [Node], _ body: @escaping @Sendable ([Node]) async throws -> Void
  ) async throws {
    guard started.count < 5 else { return try await body(started) }
    var configuration = NodeConfiguration(sessionID: session, name: "n\(started.count)")
    configuration.interfaces = ["lo"]
    configuration.listen = "127.0.0.1:0"
    configuration.membership = .group
    configuration.introductions = .takeWord
    configuration.capacity = capacity
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      try await run(capacity, session, started + [node], body)
    }
  }

  private func join(_ other: Node, by node: Node) async throws {
    async let accepted = other.invitations.first()?.accept()
    _ = try await node.invite(at: address(of: other))
    _ = try await accepted
  }

  private func address(of node: Node) async throws -> String {
    try #require(await node.listeningAddresses.first).text
  }

  private func wait(for count: Int, at node: Node) async {
    if node.session.members.count >= count { return }
    for await _ in node.session.membership where node.session.members.count >= count { break }
  }

  @Test("where all have a place they become one, of which each has all others as members")
  func fits() async throws {
    try await run(capacity: 5) { nodes in
      try await join(nodes[0], by: nodes[3])
      for node in nodes {
        await wait(for: 4, at: node)
        #expect(Set(node.session.members.map(\.id)) == Set(nodes.map(\.id)).subtracting([node.id]))
      }
    }
  }

  @Test(
    "where there is no place for all the invitation ends as full, and both stay as they are", arguments: [true, false])
  func isFull(largerInvites: Bool) async throws {
    try await run(capacity: 4) { nodes in
      let (inviting, invited) = largerInvites ? (nodes[0], nodes[3]) : (nodes[3], nodes[0])
      // It may be asked, and say yes: the place counts, not the answer.
      let accepting = Task { _ = try? await invited.invitations.first()?.accept() }
      let error = await failure { try await inviting.invite(at: address(of: invited)) }
      accepting.cancel()
      #expect(error?.code == .full, "\(String(describing: error))")
      // A ping is behind whatever was said of members before it.
      for node in nodes { for member in node.session.members { _ = try await node.session.ping(member) } }
      #expect(nodes.map(\.session.members.count) == [2, 2, 2, 1, 1])
    }
  }
}
