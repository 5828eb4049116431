import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The room of a session")
struct CapacityTests {
  private let second = LinkID(rawValue: 2)

  /// A session of two, which is full with us and the remote side; another peer has an association.
  private func full() -> OneSided {
    let one = OneSided(configuration { $0.capacity = 2 }).connected()
    associate(one)
    return one
  }

  private func associate(_ one: OneSided) {
    var opening = one.opening()
    opening.peer = peer(2)
    one.side.take(.linkOpened(second, opening))
    receive(
      one, .hello(Hello(incarnation: Incarnation(rawValue: 2), name: "x", sessionID: "test")))
    receive(one, .associate(AssociationID(high: 3, low: 4), received: 0))
  }

  @discardableResult
  private func receive(_ one: OneSided, _ frame: Frame) -> Outcome {
    one.side.take(.received(second, FrameEncoder.encode(frame)[...]))
  }

  @Test("a full session declines invitations and says so")
  func declines() {
    let one = full()
    guard
      case .decline(.full, _)? = receive(one, .invite(Invite(timeout: 9_000, commitment: someCommitment))).frames.first
    else {
      Issue.record("not declined")
      return
    }
    #expect(one.side.members == [one.far])
  }

  @Test("a full session invites nobody")
  func invitesNobody() {
    let one = full()
    let outcome = one.side.command(.invite(.node(node(2)), context: [], timeout: .seconds(9)), id: 1)
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("no reply")
      return
    }
    #expect(ending.reason == .full && ending.blame == .us)
  }

  @Test("a peer that accepts when the room is gone is told")
  func acceptedTooLate() {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    associate(one)
    one.side.command(.invite(.node(node(2)), context: [], timeout: .seconds(9)), id: 1)
    one.side.command(.invite(.node(one.far), context: [], timeout: .seconds(9)), id: 2)
    #expect(one.receive(.accept).replies(to: 2) == [.connected(one.far)])
    let outcome = receive(one, .accept)
    // It has kept a place and does not take itself for a member: only the invitation is over.
    #expect(outcome.frames == [.withdraw(.full)] && outcome.closeReason == nil)
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("\(outcome.effects)")
      return
    }
    #expect(ending.reason == .full && ending.blame == .us)
    #expect(one.side.members == [one.far])
  }

  @Test("an invitation that waits for our answer finds the room gone")
  func answeredTooLate() {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    associate(one)
    receive(one, .invite(Invite(timeout: 9_000, commitment: someCommitment)))
    one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    // The place is reserved for the peer that we have accepted, before it becomes a member.
    let outcome = one.side.command(.answerInvitation(node(2), accept: true, .declined), id: 3)
    guard case .decline(.full, _)? = outcome.frames.first, case .failed? = outcome.replies(to: 3).first else {
      Issue.record("\(outcome.effects)")
      return
    }
    one.receive(.admit)
    #expect(one.side.members == [one.far])
  }

  @Test("an idle association makes room for another, a used one does not")
  func associationLimit() {
    let idle = OneSided(configuration { $0.associationLimit = 1 }).associated()
    associate(idle)
    #expect(idle.side.census.associations == 1)
    #expect(idle.side.engine.associations[node(2)] != nil)
    let used = OneSided(configuration { $0.associationLimit = 1 }).connected()
    associate(used)
    #expect(used.side.log.closeReason == .full)
    #expect(used.side.members == [used.far])
  }

  @Test("an unused association ends after the idle timeout")
  func idle() {
    let one = OneSided(
      configuration {
        $0.idleTimeout = .seconds(3)
      }
    ).associated()
    #expect(one.side.wait(.seconds(3) - .nanoseconds(1)).closeReason == nil)
    #expect(one.side.wait(.nanoseconds(1)).closeReason == .idle)
  }

  /// The second peer invites and compares codes; we have accepted.
  private func accepted() -> OneSided {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    associate(one)
    receive(one, .invite(Invite(timeout: 9_000, terms: .comparesCodes, commitment: someCommitment)))
    one.side.command(.showCode(node(2)), id: 3)
    receive(one, .codeReveal(someNonce))
    let outcome = one.side.command(.answerInvitation(node(2), accept: true, .declined), id: 4)
    #expect(outcome.frames == [.accept] && one.side.members.isEmpty)
    return one
  }

  @Test("a place is kept for who is accepted and compares codes yet, and is free again if nothing comes of it")
  func keptPlace() {
    let invite = Frame.invite(Invite(timeout: 9_000, commitment: someCommitment))
    let one = accepted()
    guard case .decline(.full, _)? = one.receive(invite).frames.first else {
      Issue.record("the place was given away")
      return
    }
    let outcome = receive(one, .admit)
    #expect(outcome.replies(to: 4) == [.done] && one.side.members == [node(2)])
    let other = accepted()
    receive(other, .withdraw(.codeMismatch))
    other.receive(invite)
    #expect(other.side.command(.answerInvitation(other.far, accept: true, .declined)).frames == [.accept])
  }

  @Test("if the last place is gone when the user has compared, the peer is not told that the code is the same")
  func comparedTooLate() {
    let one = OneSided(configuration { $0.capacity = 2 }).associated()
    one.side.judgement = .ask
    associate(one)
    one.side.command(.invite(.node(node(2)), context: [], timeout: .seconds(9)), id: 1)
    receive(one, .codeNonce(someNonce))
    receive(one, .accept)
    one.receive(.invite(Invite(timeout: 9_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(one.far, accept: true, .declined))
    one.receive(.admit)
    #expect(one.side.members == [one.far])
    let outcome = one.side.command(.confirm(node(2), true, .codeMismatch), id: 2)
    #expect(outcome.frames == [.withdraw(.full)])
    guard case .failed(let ending)? = outcome.replies(to: 1).first else {
      Issue.record("\(outcome.effects)")
      return
    }
    #expect(ending.reason == .full && one.side.census.associations == 2)
  }
}
