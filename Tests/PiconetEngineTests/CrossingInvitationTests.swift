import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Invitations that cross")
struct CrossingInvitationTests {
  private func invite(_ near: AssociatedEngine, _ far: NodeID? = nil) -> CommandID {
    near.command(.invite(.node(far ?? near.far), context: [], timeout: .seconds(10)))
  }

  @Test("an accept that crosses our withdrawal, and what follows it, is no fault of the remote side")
  func acceptOfAWithdrawnInvitation() throws {
    let near = try AssociatedEngine()
    let invitation = invite(near)
    _ = near.command(.cancelInvitation(invitation))
    near.receive(
      .accept, .message([1, 2, 3]), .fragment([4]), .message([5]), .unreliableMessage(number: 1, [6]),
      .offer(transfer: 0, ResourceOffer(name: [65], size: 10)))
    #expect(near.census.links == 1)
    #expect(!near.effects.contains { if case .deliver = $0 { true } else { false } })
    #expect(try near.transmittedFrames().contains(.leave(.cancelled, detail: "")))
    near.receive(.leave(.cancelled, detail: ""))
    #expect(near.effects.contains(.closeLink(near.link, flush: true)))
    #expect(near.census.associations == 0)
  }

  @Test("a withdrawal that crosses our accept ends at once what was begun in between, both ways")
  func withdrawalOfAnAcceptedInvitation() throws {
    let near = try AssociatedEngine(capabilities: .streams)
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = near.command(.answerInvitation(near.far, accept: true, .left))
    let ours = TransferID(rawValue: 1)
    let offer = near.command(.offer(ours, to: near.far, ResourceOffer(name: [65], size: 10)))
    let stream = StreamID(rawValue: 1)
    _ = near.command(.openStream(stream, to: near.far, name: "ours"))
    near.receive(.offer(transfer: 0, ResourceOffer(name: [66], size: 10)), .openStream(stream: 0, name: "theirs"))
    let ending = Ending(.cancelled, .peer)
    near.receive(.withdraw(.cancelled))
    #expect(near.effects.contains(.reply(offer, .failed(ending))))
    #expect(near.effects.contains(.closeSource(ours)))
    #expect(near.effects.contains(.deliver(.streamStopped(stream, ending))))
    let theirs = TransferID(rawValue: TransferID.firstIncoming)
    #expect(near.effects.contains(.deliver(.transferEnded(theirs, ending))))
    let streamEnd = Event.streamEnded(StreamID(rawValue: StreamID.firstIncoming), .lost(ending))
    #expect(near.effects.contains(.deliver(streamEnd)))
    #expect(try near.transmittedFrames().contains(.leave(.cancelled, detail: "")))
  }

  @Test("an invitation from a peer that we are leaving is declined, even if it was a member")
  func invitationWhileLeaving() throws {
    let near = try AssociatedEngine()
    near.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    _ = near.command(.answerInvitation(near.far, accept: true, .left))
    near.receive(.withdraw(.cancelled), .invite(Invite(timeout: 1_000, commitment: someCommitment)))
    #expect(near.census.links == 1)
    #expect(try near.transmittedFrames().contains(.decline(.left, detail: "")))
  }

  @Test("an invitation that met no answer before the session became full is not sent any more")
  func invitationOfAFullSession() throws {
    var configuration = EngineConfiguration(scope: "test", name: "near")
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
