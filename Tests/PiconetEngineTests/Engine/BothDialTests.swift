import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Both sides dial")
struct BothDialTests {
  private func dialEachOther() -> TwoSided {
    let two = TwoSided()
    two.scripts = [[two.invite(from: 0, id: 1)], [two.invite(from: 1, id: 1)]]
    return two
  }

  /// What is not as it should be: each side has one association, the same one, over the same link, and every invitation
  /// is answered.
  private func fault(_ two: TwoSided, inviting: [Int] = [0, 1]) -> String? {
    for index in 0...1 {
      let side = two.sides[index]
      let census = side.census
      guard census.associations == 1, census.links == 1, census.members == 1 else { return "\(index): \(census)" }
      guard census.attempts == 0, census.dials == 0 else { return "\(index) still tries: \(census)" }
      let replies = side.log.replies(to: 1)
      guard replies == (inviting.contains(index) ? [.connected(two.sides[1 - index].node)] : []) else {
        return "\(index) was told \(replies)"
      }
      guard side.log.events.count(where: { if case .connected = $0 { true } else { false } }) == 1 else {
        return "\(index) did not see one connection: \(side.log.events)"
      }
      guard !side.log.events.contains(where: { if case .disconnected = $0 { true } else { false } }) else {
        return "\(index) was disconnected"
      }
    }
    let associations = two.sides.compactMap { $0.engine.associations.values.first }
    guard associations[0].id == associations[1].id, associations[0].link?.id == associations[1].link?.id else {
      return "two associations"
    }
    return two.isBreached ? "a rule was broken" : nil
  }

  @Test("in every order of the two links' events there is one association, and both invitations succeed")
  func everyOrder() {
    #expect(TwoSided.inEveryOrder(limit: 50_000, of: dialEachOther) { fault($0) } > 100)
  }

  @Test("also where codes and trust are answered late, in orders that seeds draw", arguments: 0..<10 as Range<UInt64>)
  func lateAnswers(seed: UInt64) {
    for round in 0..<10 as Range<UInt64> {
      var random = SeededRandom(seed: seed << 32 | round)
      let two = dialEachOther()
      for side in two.sides { side.answersHandshake = false }
      two.run(&random)
      let fault = fault(two)
      #expect(fault == nil, "seed \(seed), round \(round)")
    }
  }

  @Test(
    "a side that has lost the link dials anew while the other does not know: the association goes on", arguments: 0...1)
  func lostByOneSide(loser: Int) {
    let orders = TwoSided.inEveryOrder {
      let two = TwoSided().associated()
      for id in two.sides[loser].engine.links.keys.sorted() {
        two.sides[loser].take(.linkClosed(id, .failed(LinkFailure(.reset))))
      }
      two.scripts[loser] = [two.invite(from: loser, id: 1)]
      two.reactions[1 - loser] = { _, event in
        guard case .invitationReceived(let peer, _, _, _) = event else { return nil }
        return .commanded(CommandID(rawValue: 50), .answerInvitation(peer.node, accept: true, .declined))
      }
      return two
    } fault: { two in
      // The side that decides asks the dead link for a sign of life, and waits for it.
      two.sides[0].wait(.seconds(2))
      two.settle()
      return fault(two, inviting: [loser])
    }
    #expect(orders >= 1)
  }

  @Test("a link that has waited beside an association which is over does not get the next one")
  func waitedBesideAnother() throws {
    let one = OneSided(isSmaller: true).associated { $0.capabilities = .resume }
    func name() -> AssociationID? { one.side.engine.associations[one.far]?.id }
    func receive(_ frames: Frame..., on link: LinkID) -> Outcome {
      one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
    }
    // By its hello on a second link the remote side holds the association: the first link is asked for a sign of life.
    let former = try #require(name())
    let (second, third) = (LinkID(rawValue: 2), LinkID(rawValue: 3))
    one.side.take(.linkOpened(second, one.opening()))
    _ = receive(
      one.hello {
        $0.capabilities = .resume
        $0.associationsBegun = 1
        $0.held = HeldAssociation(id: former, received: 0)
      }, on: second)
    one.receive(.leave(.left, detail: ""))
    #expect(name() == nil)
    one.side.take(.linkOpened(third, one.opening()))
    _ = receive(
      one.hello {
        $0.capabilities = .resume
        $0.associationsBegun = 1
      }, on: third)
    _ = receive(.associated(received: 0, begun: 2), on: third)
    let next = try #require(name())
    #expect(next != former)
    let outcome = one.side.wait(.seconds(2))
    #expect(outcome.closedLinks == [second] && outcome.closeReason == .duplicateLink)
    #expect(one.side.engine.associations[one.far]?.link?.id == third && name() == next)
  }
}
