import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("States that an engine tells")
struct StateChangesTests {
  private func saw(_ one: OneSided, _ addresses: [TransportAddress] = [tcp("far")]) {
    one.side.take(
      .discoveryReported(
        source: "test",
        .seen(
          Sighting(
            peer: one.far.peer, incarnation: one.far.incarnation, name: "far", info: [:], addresses: addresses))))
  }

  private func told(_ one: OneSided) -> [PeerCondition] { one.side.log.conditions(of: one.far) }

  @Test("an invited peer that accepts and leaves", arguments: [true, false])
  func accepted(isSeen: Bool) {
    let one = OneSided()
    if isSeen { saw(one) }
    _ = one.connected()
    one.receive(.leave(.left, detail: ""))
    let end = PeerCondition.disconnected(Ending(.left, .peer))
    #expect(
      told(one) == (isSeen ? [.available] : []) + [.connecting, .connected, end] + (isSeen ? [.available] : []))
  }

  @Test("an invitation that is declined, withdrawn or expires ends the connecting with that reason")
  func endings() {
    let one = OneSided().associated()
    one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(one.far, accept: false, .codeMismatch))
    one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)), .withdraw(.cancelled))
    one.receive(.invite(Invite(timeout: 1_000, commitment: someCommitment)))
    one.side.wait(.seconds(1))
    #expect(
      told(one) == [
        .connecting, .disconnected(Ending(.codeMismatch, .us)), .connecting, .disconnected(Ending(.cancelled, .peer)),
        .connecting, .disconnected(Ending(.timedOut, .us, "nobody answered in time")),
      ])
  }

  @Test("an invitation for which there is no room any more ends as full")
  func full() {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    one.receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    let second = OneSidedLink(one, peer: 2)
    second.connect()
    one.side.command(.answerInvitation(one.far, accept: true, .left))
    guard case .disconnected(let ending)? = told(one).last else {
      Issue.record("\(told(one))")
      return
    }
    #expect(ending.reason == .full && ending.blame == .us)
  }

  @Test("a peer in sight that can't be reached is available again, after the reason with every transport's failure")
  func unreachable() {
    let one = OneSided()
    saw(one)
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(5)), id: 1)
    #expect(told(one) == [.available, .connecting])
    let failure = LinkFailure(.hostDown, "is it on?")
    one.side.take(.dialFailed(DialID(rawValue: 1), failure))
    one.side.wait(InvitationAttempt.lookTime)
    let end = Ending(
      .unreachable, .link, "tcp: is it on?", failures: [TransportFailure(.tcp, failure)])
    #expect(told(one) == [.available, .connecting, .disconnected(end), .available])
  }

  @Test("an invitation by address is connecting as soon as its peer is known")
  func byAddress() {
    let one = OneSided(isSmaller: true)
    one.invite()
    #expect(told(one) == [])
    one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    one.receive(one.hello())
    #expect(told(one) == [.connecting])
    one.receive(.associated(received: 0, begun: 1), .accept)
    #expect(told(one) == [.connecting, .connected])
    // The state comes after the event that it follows from.
    let order = one.side.log.effects.compactMap { effect -> String? in
      switch effect {
      case .deliver(.connected): "event"
      case .deliver(.stateChanged(_, _, .connected)): "state"
      default: nil
      }
    }
    #expect(order == ["event", "state"])
  }

  @Test("shutting down ends what was connecting or connected")
  func shutDown() {
    let one = OneSided().connected()
    one.side.command(.shutDown)
    one.side.take(.linkClosed(one.link, .ended))
    #expect(told(one) == [.connecting, .connected, .disconnected(Ending(.shuttingDown, .nobody))])
  }
}
