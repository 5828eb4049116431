import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Invitations that cross")
struct CrossingInvitationTests {
  private func invite(_ near: AssociatedEngine, _ far: NodeID? = nil) -> CommandID {
    near.command(.invite(.node(far ?? near.far), context: [], timeout: .seconds(10)))
  }

  @Test("an accept that crosses our withdrawal makes neither side a member, and does not break the protocol")
  func acceptOfAWithdrawnInvitation() throws {
    let near = try AssociatedEngine()
    let invitation = invite(near)
    _ = near.command(.cancelInvitation(invitation))
    near.receive(.accept)
    #expect(near.effects == [] && near.census.associations == 1 && near.census.members == 0)
    // The peer was not admitted, so a frame that only members may send breaks the protocol.
    near.receive(.message([1, 2, 3]))
    #expect(near.census.links == 0)
  }

  @Test("a withdrawal that crosses our accept makes neither side a member, and each may invite again")
  func withdrawalOfAnAcceptedInvitation() throws {
    let near = try AssociatedEngine(capabilities: .streams)
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    let acceptance = near.command(.answerInvitation(near.far, accept: true, .left))
    let offer = near.command(.offer(TransferID(rawValue: 1), to: near.far, ResourceOffer(name: [65], size: 10)))
    #expect(
      near.effects.contains { if case .reply(offer, .failed) = $0 { true } else { false } }, "it is no member yet")
    near.receive(.withdraw(.full))
    #expect(near.effects.contains(.reply(acceptance, .failed(Ending(.full, .peer)))))
    #expect(!near.effects.contains { if case .deliver(.connected) = $0 { true } else { false } })
    #expect(near.census.members == 0 && near.census.associations == 1)
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = near.command(.answerInvitation(near.far, accept: true, .left))
    near.receive(.admit)
    #expect(near.census.members == 1)
  }

  /// The peer's invitation waits for the application's answer when our own invitation crosses it, and so accepts it.
  /// Then the application accepts as well.
  private func acceptedTwice() throws -> (near: AssociatedEngine, own: CommandID, acceptance: CommandID) {
    let near = try AssociatedEngine()
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    let own = invite(near)
    #expect(try near.transmittedFrames().last == .accept)
    let acceptance = near.command(.answerInvitation(near.far, accept: true, .left))
    #expect(near.replies(to: acceptance) == 0, "nobody is a member yet")
    return (near, own, acceptance)
  }

  @Test("accepting an invitation that our own has already accepted is answered once the peer is a member")
  func acceptedTwiceAndAdmitted() throws {
    let (near, own, acceptance) = try acceptedTwice()
    near.receive(.accept)
    #expect(near.census.members == 1)
    for command in [own, acceptance] {
      #expect(near.replies(to: command) == 1)
      #expect(!near.effects.contains { if case .reply(command, .failed) = $0 { true } else { false } })
    }
  }

  @Test("both commands are answered if the peer does not become a member")
  func acceptedTwiceAndEnded() throws {
    let (near, own, acceptance) = try acceptedTwice()
    near.receive(.withdraw(.cancelled), .decline(.cancelled, detail: ""))
    #expect(near.census.members == 0)
    for command in [own, acceptance] { #expect(near.replies(to: command) == 1) }
  }

  @Test("our own invitation, which has crossed, is cancelled while the peer may be a member already: both leave")
  func cancelledAfterCrossing() throws {
    let near = try AssociatedEngine(capabilities: .streams)
    let invitation = invite(near)
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    #expect(try near.transmittedFrames().last == .accept)
    _ = near.command(.cancelInvitation(invitation))
    #expect(try near.transmittedFrames().contains(.leave(.cancelled, detail: "")))
    // What the peer has begun as a member by then breaks no rule, and the application hears nothing of it.
    near.receive(
      .accept, .message([1]), .offer(transfer: 0, ResourceOffer(name: [65], size: 10)),
      .openStream(stream: 0, name: "a"))
    #expect(near.census.members == 0 && near.census.links == 1)
    #expect(
      !near.effects.contains { effect in
        switch effect {
        case .deliver(.messagesReceived), .deliver(.offerReceived), .deliver(.streamOpened): true
        default: false
        }
      })
    #expect(near.census.transfersIncoming == 0)
  }

  @Test("an invitation from a peer that we are leaving is declined, even if it was a member")
  func invitationWhileLeaving() throws {
    let near = try AssociatedEngine()
    try near.becomeMember()
    _ = near.command(.leave(near.far, .left))
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    #expect(near.census.links == 1)
    #expect(try near.transmittedFrames().contains(.decline(.left, detail: "")))
  }

  @Test("an invitation that met no answer before the session became full is not sent any more")
  func invitationOfAFullSession() throws {
    var configuration = EngineConfiguration(sessionID: "test", name: "near")
    configuration.capacity = 2
    let near = try AssociatedEngine(configuration)
    let peer = try #require(PeerID(bytes: [UInt8](repeating: 2, count: PeerID.byteCount)))
    let second = NodeID(peer: peer, incarnation: Incarnation(rawValue: 2))
    let sighting = Sighting(
      peer: peer, incarnation: second.incarnation, name: "second", info: [:],
      addresses: [TransportAddress(kind: .tcp, text: "second")])
    near.take(.discoveryReported(source: "test", .seen(sighting)))
    let invitation = invite(near, second)
    // While we dial, the first peer takes the only place.
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = near.command(.answerInvitation(near.far, accept: true, .left))
    near.receive(.admit)
    #expect(near.census.members == 1)
    try near.associate(LinkID(rawValue: 2), second)
    #expect(
      near.effects.contains { effect in
        if case .reply(invitation, .failed(let ending)) = effect { return ending.reason == .full }
        return false
      })
    #expect(near.census.attempts == 0)
    #expect(near.census.members == 1)
  }
}

extension AssociatedEngine {
  fileprivate func replies(to command: CommandID) -> Int {
    effects.count { if case .reply(command, _) = $0 { true } else { false } }
  }
}
