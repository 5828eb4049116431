import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Leaving")
struct LeaveTests {
  @Test("everything sent before goes first, then the leave, then the remote side closes")
  func messagesFirst() {
    let one = OneSided().connected()
    let outcome = one.side.take(
      .messageQueued(one.far, bytes(3), .reliable),
      .commanded(CommandID(rawValue: 1), .leave(one.far, .left)))
    #expect(outcome.frames == [.message(bytes(3)), .leave(.left, detail: "")])
    #expect(outcome.replies(to: 1).isEmpty)
    let closed = one.side.take(.linkClosed(one.link, .ended))
    #expect(closed.events == [.disconnected(one.far, Ending(.left, .nobody))])
    #expect(closed.replies(to: 1) == [.done])
  }

  @Test("the leave waits for credit that the messages before it need")
  func waitsForCredit() {
    let one = OneSided().connected { $0.limits.messageWindow = 40 }
    one.side.take(.messageQueued(one.far, bytes(8), .reliable), .messageQueued(one.far, bytes(9), .reliable))
    #expect(one.side.command(.leave(one.far, .left)).frames == [])
    #expect(one.receive(.messageCredit(limit: 81)).frames == [.message(bytes(9)), .leave(.left, detail: "")])
  }

  @Test("a remote side that does not take it is left at the deadline")
  func deadline() {
    let one = OneSided(configuration { $0.leaveTimeout = .seconds(2) }).connected { $0.limits.messageWindow = 0 }
    one.side.take(.messageQueued(one.far, bytes(9), .reliable))
    one.side.command(.leave(one.far, .left), id: 1)
    #expect(one.side.wait(.seconds(2) - .nanoseconds(1)).closedLinks == [])
    let outcome = one.side.wait(.nanoseconds(1))
    #expect(outcome.closeReason == .left && outcome.replies(to: 1) == [.done])
    #expect(one.side.census.associations == 0)
  }

  @Test("messages that came with a leave are delivered before it")
  func messagesBeforeLeave() {
    let one = OneSided().connected()
    let outcome = one.receive(.message([1]), .message([2]), .leave(.left, detail: "bye"))
    #expect(
      outcome.events == [
        .messagesReceived(one.far, [[1], [2]], .reliable), .disconnected(one.far, Ending(.left, .peer, "bye")),
      ])
    #expect(outcome.closedLinks == [one.link])
  }

  @Test("in every order of two leaves and earlier messages, every message arrives and neither side is to blame")
  func bothLeave() {
    let orders = TwoSided.inEveryOrder {
      let two = TwoSided().connected()
      for index in 0...1 {
        let far = two.sides[1 - index].node
        two.scripts[index] = [
          { $0.take(.messageQueued(far, bytes(4), .reliable)) }, { $0.command(.leave(far, .left), id: 1) },
        ]
      }
      return two
    } fault: { two in
      for (index, side) in two.sides.enumerated() {
        if side.census != Side(node(1)).census { return "\(index) holds \(side.census)" }
        if side.log.replies(to: 1) != [.done] { return "\(index) was told \(side.log.replies(to: 1))" }
        let ends = side.log.events.filter { if case .disconnected = $0 { true } else { false } }
        guard ends.count == 1, case .disconnected(_, let ending)? = ends.first, ending.reason == .left else {
          return "\(index) saw \(ends)"
        }
      }
      return two.isBreached ? "a rule was broken" : nil
    }
    #expect(orders >= 10)
  }

  @Test("leaving a stranger, or twice, is done at once")
  func leavingNobody() {
    let one = OneSided().connected()
    #expect(one.side.command(.leave(node(5), .left), id: 1).replies(to: 1) == [.done])
    one.side.command(.leave(one.far, .left), id: 2)
    #expect(one.side.command(.leave(one.far, .left), id: 3).effects == [.reply(CommandID(rawValue: 3), .done)])
  }

  @Test("a message to a peer that we leave gives its budget back")
  func sentTooLate() {
    let one = OneSided().connected()
    one.side.command(.leave(one.far, .left))
    #expect(
      one.side.take(.messageQueued(one.far, bytes(3), .reliable)).effects == [.messagesTaken(one.far, byteCount: 35)])
    guard
      case .failed? = one.side.command(
        .offer(TransferID(rawValue: 1), to: one.far, ResourceOffer(name: [], size: 1)), id: 4
      ).replies(to: 4).first
    else {
      Issue.record("offered")
      return
    }
  }

  @Test("an invitation that waits is declined when its inviter is left, and no deadline stays behind")
  func leavingAnInviter() throws {
    let one = OneSided(configuration { $0.leaveTimeout = .seconds(5) }).associated()
    one.receive(.invite(Invite(timeout: 2_000, commitment: someCommitment)))
    let outcome = one.side.command(.leave(one.far, .left), id: 1)
    #expect(outcome.frames == [.decline(.left, detail: ""), .leave(.left, detail: "")])
    #expect(outcome.events == [.invitationEnded(one.far, Ending(.left, .us))])
    guard
      case .failed? = one.side.command(.answerInvitation(one.far, accept: true, .declined), id: 2)
        .replies(to: 2).first
    else {
      Issue.record("accepted while leaving")
      return
    }
    one.side.wait(.seconds(3))
    #expect(try #require(one.side.nextDeadline) > one.side.now)
  }
}
