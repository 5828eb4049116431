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
      incarnation: far.incarnation, name: "far", sessionID: "test", capabilities: .resume)
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

  /// Two that hide, each of which dials an address of the other: what comes of it is not in their hands.
  private func dialEachOther(expecting: Bool) -> TwoSided {
    let two = TwoSided()
    for (index, side) in two.sides.enumerated() {
      hide(side)
      let expected = expecting ? two.sides[1 - index].node.peer : nil
      two.scripts[index] = [
        { $0.command(.invite(.addresses([tcp("far")], expected: expected), context: [], timeout: .seconds(30)), id: 1) }
      ]
    }
    // A node that has not begun to invite expects no peer.
    for choice in two.choices { two.perform(choice) }
    return two
  }

  @Test("meets another one that hides where both dial each other by address, in every order", arguments: [false, true])
  func dialled(expecting: Bool) {
    let orders = TwoSided.inEveryOrder(limit: 50_000) {
      dialEachOther(expecting: expecting)
    } fault: { two in
      for (index, side) in two.sides.enumerated() {
        let replies = side.log.replies(to: 1)
        guard replies == [.connected(two.sides[1 - index].node)], side.census.members == 1, side.census.links == 1
        else {
          return "\(index) was told \(replies): \(side.census)"
        }
        guard side.engine.admission.undecided.isEmpty else { return "\(index) has not decided" }
      }
      return two.isBreached ? "a rule was broken" : nil
    }
    #expect(orders > 100)
  }

  @Test("lets a stranger wait while it dials an address that may be the stranger's, and refuses it once it is not")
  func undecided() throws {
    let side = Side(node(9), configuration())
    hide(side)
    side.answersHandshake = true
    side.command(.invite(.addresses([tcp("far")], expected: nil), context: [], timeout: .seconds(30)), id: 1)
    let dial = try #require(
      side.log.effects.compactMap { if case .dial(let dial, _, _) = $0 { dial } else { nil } }.last)
    let link = opening(1, of: node(1), side)
    #expect(side.take(.received(link, hello(node(1)))).closedLinks.isEmpty)
    // The stranger stops waiting once the dialled address turns out to be another node's.
    let dialled = LinkID(rawValue: 2)
    let outcome = side.take(
      .linkOpened(dialled, LinkOpening(dial: dial, peer: node(3).peer, traits: someTraits)))
    #expect(outcome.closedLinks == [link] && outcome.closeReason == .notAvailable)
    #expect(side.engine.admission.undecided.isEmpty && side.census.links == 1)
  }

  @Test(
    "lets a stranger that waits go when its handshake has taken too long, or its link is lost",
    arguments: [false, true])
  func undecidedForTooLong(isLost: Bool) {
    let side = Side(node(9), configuration())
    hide(side)
    side.command(.invite(.addresses([tcp("far")], expected: nil), context: [], timeout: .seconds(30)), id: 1)
    let link = opening(1, of: node(1), side)
    side.take(.received(link, hello(node(1))))
    #expect(side.census.links == 1)
    if isLost {
      side.take(.linkClosed(link, .ended))
    } else {
      #expect(side.wait(.seconds(11)).closeReason == .timedOut)
    }
    #expect(side.census.links == 0 && side.engine.admission.undecided.isEmpty)
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
