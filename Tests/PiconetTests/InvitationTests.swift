import Testing

@testable import Piconet

@Suite("Invitations", .timeLimit(.minutes(15)))
struct InvitationTests {
  @Test("each has an id of its own, also of the same peer")
  func ids() async throws {
    try await NodePair.run { pair in
      var invitations = pair.server.invitations.makeAsyncIterator()
      var ids: Set<Invitation.ID> = []
      for _ in 0..<3 {
        async let invited = failure { try await pair.client.invite(at: pair.address()) }
        let invitation = try #require(await invitations.next())
        #expect(invitation.peer.id == pair.client.id)
        ids.insert(invitation.id)
        await invitation.decline()
        #expect(await invited?.code == .declined)
      }
      #expect(ids.count == 3)
    }
  }
}
