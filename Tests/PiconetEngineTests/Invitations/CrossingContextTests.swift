import PiconetWire
import Testing

@testable import PiconetEngine

/// Both invite at once: each side's application is told what the other side's invitation says, whichever of the two
/// counts.
@Suite("What invitations say that cross")
struct CrossingContextTests {
  /// What the invitation of this side says.
  private func context(of side: Int) -> [UInt8] { [UInt8(side), 7] }

  private func invite(_ two: TwoSided, from index: Int, bySight: Bool) -> (Side) -> Void {
    let far = two.sides[1 - index].node
    let target = bySight ? InvitationTarget.node(far) : .addresses([tcp("far")], expected: nil)
    let context = context(of: index)
    return { side in
      // A side that has a member already has no reason to invite.
      if side.members.isEmpty { side.command(.invite(target, context: context, timeout: .seconds(30)), id: 1) }
    }
  }

  /// Both invite: by sight over an association that they have, by address without one.
  private func crossing(bySight: Bool, asking: [Int] = []) -> TwoSided {
    let two = TwoSided()
    for index in asking { two.sides[index].judgement = .ask }
    if bySight { _ = two.associated() }
    for index in 0...1 {
      two.scripts[index] = [invite(two, from: index, bySight: bySight)]
      guard asking.contains(index) else { continue }
      two.reactions[index] = { _, event in
        guard case .confirmationNeeded(let peer, _) = event else { return nil }
        return .commanded(CommandID(rawValue: 77), .confirm(peer.node, true, .codeMismatch))
      }
    }
    return two
  }

  private func joined(_ side: Side) -> [ProvenPeer] {
    side.log.events.compactMap { if case .connected(let peer) = $0 { peer } else { nil } }
  }

  private func fault(_ two: TwoSided, areContextsSeen: Bool = true) -> String? {
    if two.isBreached { return "a rule was broken" }
    for index in 0...1 {
      let side = two.sides[index]
      let replies = side.log.replies(to: 1)
      guard replies == [.connected(two.sides[1 - index].node)] || (replies.isEmpty && !areContextsSeen) else {
        return "\(index) was told \(replies)"
      }
      guard joined(side).count == 1, side.census.members == 1 else { return "\(index): \(side.log.events)" }
      if areContextsSeen, joined(side).first?.invitationContext != context(of: 1 - index) {
        return "\(index) has seen \(joined(side).first?.invitationContext as Any)"
      }
    }
    return nil
  }

  @Test("by sight, in every order", arguments: [[], [0], [1], [0, 1]])
  func bySight(asking: [Int]) {
    #expect(
      TwoSided.inEveryOrder {
        crossing(bySight: true, asking: asking)
      } fault: {
        fault($0)
      } > 1)
  }

  @Test("by sight, where nonces, codes and trust are answered late", arguments: [[], [0], [1], [0, 1]])
  func lateNonces(asking: [Int]) {
    let orders = TwoSided.inEveryOrder(limit: 100_000) {
      let two = crossing(bySight: true, asking: asking)
      for side in two.sides { side.answersHandshake = false }
      return two
    } fault: {
      fault($0)
    }
    #expect(orders > 1)
  }

  @Test("by address, in every order of the two links' events", .everyOrder, arguments: [[], [0], [1], [0, 1]])
  func byAddress(asking: [Int]) {
    let orders = TwoSided.inEveryOrder(limit: 100_000) {
      crossing(bySight: false, asking: asking)
    } fault: {
      fault($0)
    }
    #expect(orders > 1)
  }

  /// Without an acceptance, this would be the test above.
  @Test(
    "by address, both calls succeed where a program accepts every invitation at once", .everyOrder, arguments: 1...3)
  func acceptingAtOnce(accepting: Int) {
    let orders = TwoSided.inEveryOrder(limit: 100_000) {
      let two = crossing(bySight: false)
      for index in 0...1 where accepting & (1 << index) != 0 {
        two.reactions[index] = { _, event in
          guard case .invitationReceived(let peer, _, _, _) = event else { return nil }
          return .commanded(CommandID(rawValue: 50), .answerInvitation(peer.node, accept: true, .declined))
        }
      }
      return two
    } fault: {
      fault($0, areContextsSeen: false)
    }
    #expect(orders > 1)
  }

  @Test("neither is a member before the user has said that the code is the same", arguments: [[0], [1], [0, 1]])
  func asksAll(asking: [Int]) {
    let orders = TwoSided.inEveryOrder(limit: 100_000) {
      let two = crossing(bySight: true, asking: asking)
      for index in asking { two.reactions[index] = { _, _ in nil } }
      return two
    } fault: { two in
      let asked = two.sides.filter { side in
        side.log.events.contains { if case .confirmationNeeded = $0 { true } else { false } }
      }
      if asked.map(\.node) != asking.map({ two.sides[$0].node }) { return "asked were \(asked.map(\.node))" }
      return two.sides.allSatisfy { joined($0).isEmpty } ? nil : "a member without an answer"
    }
    #expect(orders > 1)
  }
}
