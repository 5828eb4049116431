import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The invitation of a node that a member introduces")
struct IntroducedInvitationTests {
  /// Smaller than the engine; the engine dials it half a second after the answer.
  private let subject = node(5)

  private func asked(_ judgement: TrustJudgement = .ask) -> (IntroducedEngine, PlayedNode) {
    let group = IntroducedEngine()
    group.side.judgement = judgement
    group.introducer.introduces(subject)
    let played = group.played(subject)
    played.associate()
    return (group, played)
  }

  @Test("waits for the answer to the introduction, and is no question beside that", arguments: [false, true])
  func waits(isKnown: Bool) {
    let (group, played) = asked(isKnown ? .known : .ask)
    let invited = played.invites()
    #expect(!invited.asksAboutInvitation && played.sent(invited) == [])
    #expect(group.side.command(.answerInvitation(subject, accept: true, .declined), id: 5).failure(of: 5) != nil)
    let accepted = group.answer(subject)
    #expect(played.sent(accepted).invites == 1 && accepted.frames.contains(.accept))
    played.receive(.accept)
    #expect(group.side.members.contains(subject) && !group.side.log.asksAboutInvitation)
  }

  @Test("is a question like any other's at once where introductions are only shown; and none if that was accepted")
  func shown() {
    for accepts in [false, true] {
      let group = IntroducedEngine { $0.holdsIntroducedInvitations = false }
      group.side.judgement = .known
      group.introducer.introduces(subject)
      let played = group.played(subject)
      played.associate()
      if accepts { group.answer(subject) }
      #expect(played.invites().asksAboutInvitation == !accepts)
      if accepts { continue }
      group.side.command(.answerInvitation(subject, accept: true, .declined))
      played.receive(.admit)
      #expect(group.side.members.contains(subject))
      #expect(group.introducer.sent(group.side.log).answers == [nil], "and the introduction has its answer")
    }
  }

  @Test("by the application goes where the introducer says that it is, and leaves the introduction open until then")
  func ours() {
    let group = IntroducedEngine { $0.holdsIntroducedInvitations = false }
    group.introducer.introduces(subject)
    let outcome = group.side.command(
      .invite(.node(subject), context: [7], timeout: .seconds(10), code: nil), id: 40)
    let dial = outcome.dials.first
    #expect(dial?.addresses == [somewhereText] && outcome.failure(of: 40) == nil)
    let played = group.played(subject)
    let associated = played.associate(dial?.id)
    #expect(
      played.sent(associated).contains { if case .invite(let invite) = $0 { invite.context == [7] } else { false } })
    #expect(group.introducer.sent(group.side.log).answers == [])
    // No member has introduced this node, and discovery does not see it.
    let nobody = group.side.command(.invite(.node(node(7)), context: [], timeout: .seconds(10), code: nil), id: 41)
    #expect(nobody.failure(of: 41)?.reason == .unreachable)
    // Over other transports than those that its introducer knows it is nowhere.
    let elsewhere = group.side.command(
      .invite(.node(node(8), over: [.l2cap]), context: [], timeout: .seconds(10), code: nil), id: 42)
    #expect(elsewhere.failure(of: 42)?.reason == .unreachable)
  }

  @Test(
    "is a question like any other's when the introduction is declined, withdrawn, or not answered", arguments: 0...2)
  func declined(how: Int) {
    let (group, played) = asked()
    played.invites()
    let outcome =
      switch how {
      case 0: group.answer(subject, accept: false)
      case 1: group.introducer.receive(.withdrawIntroduction(subject, .left))
      default: group.side.wait(.seconds(60))
      }
    #expect(outcome.asksAboutInvitation == (how < 2) && group.side.members == [group.introducer.far])
    if how == 2 { return }
    #expect(played.sent(outcome) == [])
    let answered = group.side.command(.answerInvitation(subject, accept: false, .declined), id: 5)
    #expect(played.sent(answered) == [.decline(.declined, detail: "")])
  }

  @Test("has its turn behind other questions when the introduction is declined, and none where a code has to be proven")
  func declinedInTurn() {
    let group = IntroducedEngine { $0.openInvitations = 1 }
    group.side.judgement = .ask
    group.introducer.introduces(subject)
    let played = group.played(subject)
    played.associate()
    played.invites()
    group.one.traits.remoteAddress = "198.51.100.9:1"
    let stranger = group.played(node(6))
    stranger.associate()
    #expect(stranger.invites().asksAboutInvitation)
    #expect(!group.answer(subject, accept: false).asksAboutInvitation)
    #expect(group.side.command(.answerInvitation(node(6), accept: false, .declined)).asksAboutInvitation)

    let (other, invited) = asked()
    other.side.command(.setCode(TypedCodeID(rawValue: 1)))
    invited.invites()
    let outcome = other.answer(subject, accept: false)
    #expect(invited.sent(outcome) == [.decline(.codeNeeded, detail: "")])
  }

  @Test("of one that has withdrawn it meanwhile is not answered twice")
  func withdrawn() {
    let (group, played) = asked()
    played.invites()
    #expect(played.sent(played.receive(.withdraw(.cancelled))) == [.decline(.cancelled, detail: "")])
    #expect(played.sent(group.answer(subject, accept: false)) == [])
  }

  @Test("waits for the answer also where strangers have to prove a code")
  func codeSet() {
    let (group, played) = asked()
    group.side.command(.setCode(TypedCodeID(rawValue: 1)))
    #expect(played.sent(played.invites()) == [])
    group.answer(subject)
    played.receive(.accept)
    #expect(group.side.members.contains(subject))
  }

  @Test("takes no place among the questions of strangers")
  func questions() {
    let group = IntroducedEngine { $0.openInvitations = 1 }
    group.side.judgement = .ask
    group.introducer.introduces(subject)
    let played = group.played(subject)
    played.associate()
    played.invites()
    group.one.traits.remoteAddress = "198.51.100.9:1"
    let stranger = group.played(node(6))
    stranger.associate()
    #expect(stranger.invites().asksAboutInvitation)
  }

  @Test("that the application was asked about before stays, whatever becomes of the introduction")
  func before() {
    for how in 0...2 {
      let group = IntroducedEngine()
      group.side.judgement = .ask
      let played = group.played(subject)
      played.associate()
      #expect(played.invites().asksAboutInvitation)
      group.introducer.introduces(subject, timeout: 1_000)
      let outcome =
        switch how {
        case 0: group.introducer.receive(.withdrawIntroduction(subject, .left))
        case 1: group.side.wait(.seconds(1))
        default: group.answer(subject, accept: false)
        }
      #expect(outcome.introductionEnds.count == 1)
      #expect(played.sent(outcome) == [], "\(how)")
      group.side.judgement = .known
      let declined = group.side.command(.answerInvitation(subject, accept: false, .declined), id: 5)
      #expect(declined.replies(to: 5) == [.done])
    }
  }

  @Test("that was in the queue before stays there, and its turn comes")
  func queued() {
    let group = IntroducedEngine { $0.openInvitations = 1 }
    group.side.judgement = .ask
    let first = group.played(node(6))
    first.associate()
    first.invites()
    group.one.traits.remoteAddress = "198.51.100.9:1"
    let played = group.played(subject)
    played.associate()
    #expect(!played.invites().asksAboutInvitation)
    group.introducer.introduces(subject)
    let outcome = group.introducer.receive(.withdrawIntroduction(subject, .left))
    #expect(played.sent(outcome) == [])
    let next = group.side.command(.answerInvitation(node(6), accept: false, .declined))
    #expect(next.asksAboutInvitation)
  }

  @Test("of one that is wanted is no question, also while others of the same introducer have their turn")
  func wanted() {
    let group = IntroducedEngine()
    for byte: UInt8 in 100...107 { group.accept(node(byte)) }
    group.accept(subject, at: [])
    let played = group.played(subject)
    var outcome = played.associate()
    outcome += played.crosses()
    for _ in 0..<4 { outcome += group.side.wait(.milliseconds(250)) }
    #expect(!outcome.asksAboutInvitation)
    // Their time is over, and its turn has come.
    outcome = group.side.wait(.seconds(20))
    if !group.side.members.contains(subject) { outcome += played.receive(.accept) }
    #expect(group.side.members.contains(subject) && !group.side.log.asksAboutInvitation)
  }

  @Test("of one that is wanted is answered during a pause, too")
  func inPause() {
    let group = IntroducedEngine()
    group.accept(subject)
    let played = group.played(subject)
    played.associate()
    played.receive(.decline(.inProgress, detail: ""))
    let outcome = played.crosses()
    #expect(!outcome.asksAboutInvitation && group.side.members.contains(subject))
  }
}
