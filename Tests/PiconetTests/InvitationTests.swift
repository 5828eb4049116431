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

  @Test("an acceptance whose task is cancelled anywhere ends at once, and both sides agree on what came of it")
  func cancelledAcceptance() async throws {
    try await NodePair.run { pair in
      var invitations = pair.server.invitations.makeAsyncIterator()
      var events = pair.client.session.events.makeAsyncIterator()
      for yields in 0..<100 {
        let invited = Task { try await pair.client.invite(at: pair.address()) }
        let invitation = try #require(await invitations.next())
        let accepted = Task { await failure { try await invitation.accept() } }
        for _ in 0..<yields { await Task.yield() }
        accepted.cancel()
        let error = await accepted.value
        #expect(error == nil || error?.code == .cancelled)
        for member in pair.server.session.members { await member.disconnect() }
        #expect(pair.server.session.members.isEmpty)
        switch await invited.result {
        case .success(let member):
          // The inviter had admitted the member before it was told.
          guard case .joined(member)? = await events.next() else {
            Issue.record("no beginning of the member")
            return
          }
          guard case .left(member, let reason)? = await events.next() else {
            Issue.record("no end of the member")
            return
          }
          #expect(reason.code == error?.code ?? .left)
        case .failure(let failure): #expect((failure as? PiconetError)?.code == error?.code)
        }
        #expect(pair.client.session.members.isEmpty)
      }
    }
  }
}
