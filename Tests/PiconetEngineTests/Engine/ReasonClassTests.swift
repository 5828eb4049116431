import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Both sides end for reasons of one class")
struct ReasonClassTests {
  private func endings(_ side: Side) -> [Ending] {
    side.log.events.compactMap { if case .disconnected(_, let ending) = $0 { ending } else { nil } }
  }

  /// What the two sides say of their ends, unless each has one, and both of one class.
  private func disagreement(_ two: TwoSided) -> String? {
    let endings = two.sides.map(endings)
    guard endings.map(\.count) == [1, 1] else { return "\(endings)" }
    let classes = endings.map { ReasonClass($0[0].reason) }
    return classes[0] == classes[1] ? nil : "\(endings)"
  }

  @Test("of a leave and a removal that cross, the removal counts on both sides, in every order")
  func crossing() {
    for remover in 0...1 {
      let orders = TwoSided.inEveryOrder(
        of: {
          let two = TwoSided().connected()
          let nodes = two.sides.map(\.node)
          two.scripts[remover] = [{ $0.command(.remove(nodes[1 - remover])) }]
          two.scripts[1 - remover] = [{ $0.command(.leave(nodes[remover], .left)) }]
          return two
        },
        fault: disagreement)
      #expect(orders >= 3)
    }
  }

  @Test(
    "of two goodbyes that cross the same one counts on both sides, in every order",
    arguments: [(Reason.left, Reason.full), (.shuttingDown, .full), (.removed, .full), (.full, .timedOut)], [0, 1])
  func crossingGoodbyes(reasons: (counts: Reason, yields: Reason), first: Int) {
    let orders = TwoSided.inEveryOrder(
      of: {
        let two = TwoSided().connected()
        let nodes = two.sides.map(\.node)
        two.scripts[first] = [{ $0.command(.leave(nodes[1 - first], reasons.counts)) }]
        two.scripts[1 - first] = [{ $0.command(.leave(nodes[first], reasons.yields)) }]
        return two
      },
      fault: disagreement)
    #expect(orders >= 3)
  }

  @Test(
    "a node that comes back to a member that has left it meanwhile is told so, and not that the connection broke",
    arguments: [Reason.left, .removed], [0, 1])
  func farewell(reason: Reason, leaver: Int) {
    let two = TwoSided().connected()
    let nodes = two.sides.map(\.node)
    two.scripts[leaver] = [
      { [unowned two] side in
        two.cutAll(told: [leaver])
        side.take(.linkClosed(side.engine.links.keys.min()!, .failed(LinkFailure(.reset))))
        side.command(reason == .left ? .leave(nodes[1 - leaver], .left) : .remove(nodes[1 - leaver]))
      }
    ]
    two.settle()
    #expect(endings(two.sides[leaver]).map(\.reason) == [reason])
    // The other side finds out from the silence and looks for the leaver; if it was the one dialled, it does not know
    // where.
    let other = two.sides[1 - leaver]
    if leaver == 0 {
      let sighting = Sighting(
        peer: nodes[0].peer, incarnation: nodes[0].incarnation, name: "far", info: [:], addresses: [tcp("far")])
      other.take(.discoveryReported(source: "test", .seen(sighting)))
    }
    for _ in 0..<14 {
      other.wait(.seconds(1))
      two.settle()
    }
    #expect(endings(other).map(\.reason) == [reason])
    #expect(endings(other).first?.blame == .peer)
    #expect(other.census.associations == 0)
  }

  @Test("a node that leaves an association before it answers a resume says so")
  func leavesWhileAsked() {
    let one = OneSided().connected { $0.capabilities = .resume }
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let hello = one.hello { $0.capabilities = .resume }
    one.side.take(.received(link, FrameEncoder.encode(hello)[...]))
    one.side.command(.leave(one.far, .left))
    let associate = Frame.associate(AssociationID(high: 1, low: 2), received: 1)
    #expect(one.side.take(.received(link, FrameEncoder.encode(associate)[...])).closeReason == .left)
  }

  @Test("a goodbye that is not confirmed in time is said again to who comes back")
  func unconfirmed() {
    let one = OneSided().connected { $0.capabilities = .resume }
    one.side.command(.leave(one.far, .left))
    one.side.wait(.seconds(6))
    #expect(one.side.census.associations == 0)
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    let hello = one.hello {
      $0.capabilities = .resume
      $0.held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 1)
    }
    #expect(one.side.take(.received(link, FrameEncoder.encode(hello)[...])).closeReason == .left)
  }

  @Test("a removal for another member is told as that one's, even where the goodbye takes too long")
  func removedForAnother() {
    let one = OneSided().connected { $0.capabilities = [.resume, .removal] }
    let third = node(4)
    one.receive(.removed(by: third))
    one.receive(.close(.removed, detail: ""))
    #expect(endings(one.side).map(\.reason) == [.removed])
    #expect(endings(one.side).first?.by == third)
    #expect(endings(one.side).first?.blame == .peer)
    // If the frame that names the remover is lost with its link, the ending names no remover.
    let untold = OneSided().connected { $0.capabilities = [.resume, .removal] }
    untold.receive(.close(.removed, detail: ""))
    #expect(endings(untold.side).map(\.reason) == [.removed] && endings(untold.side).first?.by == nil)
  }

  @Test("a farewell is kept for those that may still come, and within its limit")
  func farewells() {
    var farewells = Farewells()
    let name = AssociationID(high: 1, low: 2)
    for number: UInt8 in 1...5 {
      farewells.note(
        Farewells.Farewell(association: name, reason: .left, until: seconds(UInt64(10 + number))), to: node(number),
        limit: 4, at: seconds(1))
    }
    #expect(farewells.reason(for: node(1), holding: name, at: seconds(2)) == nil)
    #expect(farewells.reason(for: node(2), holding: name, at: seconds(2)) == .left)
    #expect(farewells.reason(for: node(2), holding: AssociationID(high: 3, low: 4), at: seconds(2)) == nil)
    #expect(farewells.reason(for: node(2), holding: nil, at: seconds(2)) == nil)
    #expect(farewells.reason(for: node(2), holding: name, at: seconds(12)) == nil)
  }

  @Test("a lost side agrees with any other, and goodbyes of each side's own, only where something may have been lost")
  func agreement() {
    for one in ReasonClass.allCases {
      for other in ReasonClass.allCases {
        #expect(one.agrees(with: other, isSilenced: false) == (one == other))
        let isLoss = one == .lost || other == .lost
        let isWish = [one, other].allSatisfy { [.left, .removed, .refused].contains($0) }
        #expect(one.agrees(with: other, isSilenced: true) == (one == other || isLoss || isWish))
      }
    }
    #expect(ReasonClass(.timedOut) == ReasonClass(.linkFailed))
    #expect(ReasonClass(.shuttingDown) == ReasonClass(.left))
  }
}
