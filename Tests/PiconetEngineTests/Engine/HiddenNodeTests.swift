import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A node that hides")
struct HiddenNodeTests {
  private func hide(_ side: Side) { side.take(.availabilityChanged(false)) }

  private func opening(_ link: UInt64, of far: NodeID, _ side: Side, dial: DialID? = nil) -> LinkID {
    let id = LinkID(rawValue: link)
    side.take(
      .linkOpened(
        id, LinkOpening(dial: dial, peer: far.peer, traits: someTraits)))
    return id
  }

  private func hello(_ far: NodeID, held: AssociationID? = nil) -> Bytes {
    var hello = Hello(
      incarnation: far.incarnation, name: "far", scope: "test", capabilities: .resume)
    hello.held = held.map { HeldAssociation(id: $0, received: 0) }
    return FrameEncoder.encode(.hello(hello))[...]
  }

  @Test("refuses a stranger that dials it, and says why; one that holds an association learns that it is over")
  func strangers() {
    for held in [nil, AssociationID(high: 7, low: 7)] {
      let side = Side(node(9), configuration())
      hide(side)
      let link = opening(1, of: node(1), side)
      let outcome = side.take(.received(link, hello(node(1), held: held)))
      #expect(outcome.closeReason == (held == nil ? .notAvailable : .noSuchAssociation))
      #expect(side.census.links == 0)
    }
  }

  @Test("lets a member come back whose link was lost")
  func members() {
    let two = TwoSided().connected()
    // The larger node has been dialled; the smaller one has its address.
    hide(two.sides[1])
    two.cutAll(told: [0, 1])
    two.settle()
    for side in two.sides { #expect(side.census.members == 1 && side.census.links == 1) }
    #expect(two.sides[1].log.events.contains { if case .resumed = $0 { true } else { false } })
  }

  @Test("has no place for a member that has forgotten its association")
  func forgotten() {
    let one = OneSided().connected { $0.capabilities = .resume }
    hide(one.side)
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let link = opening(2, of: one.far, one.side)
    one.side.take(.received(link, hello(one.far)))
    let new = one.side.take(
      .received(link, FrameEncoder.encode(.associate(AssociationID(high: 8, low: 8), received: 0))[...]))
    #expect(new.closeReason == .notAvailable)
    #expect(one.side.census.associations == 0 && one.side.census.links == 0)
  }

  @Test("still invites, and is answered by a link either way")
  func invites() {
    let two = TwoSided()
    hide(two.sides[0])
    two.scripts[0] = [two.invite(from: 0, id: 1)]
    two.scripts[1] = [two.invite(from: 1, id: 2)]
    two.settle()
    for side in two.sides { #expect(side.census.members == 1 && side.census.links == 1) }
  }

  @Test("is open again when it shows itself")
  func shown() {
    let two = TwoSided()
    hide(two.sides[1])
    two.scripts[0] = [two.invite(from: 0, id: 1)]
    two.settle()
    guard case .failed(let ending)? = two.sides[0].log.replies(to: 1).first else {
      Issue.record("no refusal")
      return
    }
    #expect(ending.reason == .notAvailable && ending.blame == .peer)
    two.sides[1].take(.availabilityChanged(true))
    two.scripts[0] = [two.invite(from: 0, id: 2)]
    two.settle()
    #expect(two.sides[1].log.events.contains { if case .invitationReceived = $0 { true } else { false } })
  }

  private func expectsMembers(_ one: OneSided) -> Bool { one.side.engine.expectsMembers }

  @Test("expects members as long as it has any that may come back")
  func expectation() {
    let one = OneSided().associated { $0.capabilities = .resume }
    #expect(!expectsMembers(one))
    one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    #expect(expectsMembers(one))
    one.side.take(.linkClosed(one.link, .ended))
    #expect(expectsMembers(one))
    one.side.wait(.seconds(21))
    #expect(!expectsMembers(one))
    #expect(!expectsMembers(OneSided().connected()))
  }
}
