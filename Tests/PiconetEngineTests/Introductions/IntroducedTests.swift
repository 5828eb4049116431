import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A node that a member introduces")
struct IntroducedTests {
  /// Larger than the engine, which dials at once.
  private let large = node(20)
  /// Smaller.
  private let small = node(5)

  /// An introduced node that is wanted, and dialled.
  private func dialled(_ group: IntroducedEngine, _ subject: NodeID) -> PlayedNode {
    let played = group.played(subject)
    let outcome = group.accept(subject)
    guard let dial = outcome.dials.first else {
      Issue.record("not dialled: \(outcome.effects)")
      return played
    }
    played.associate(dial.id)
    return played
  }

  @Test("is put to the application, with whose word it is and until when")
  func asks() {
    let group = IntroducedEngine()
    let outcome = group.introducer.introduces(large, timeout: 20_000, name: "Ada")
    let expected = IntroducedNode(node: large, name: "Ada", by: group.introducer.far, expires: seconds(21))
    #expect(outcome.introduced == [expected])
    #expect(outcome.dials.isEmpty && outcome.frames == [])
    #expect(group.side.nextDeadline.map { $0 <= seconds(21) } == true)
  }

  /// A node that is wanted has become a member over a relay, by its own invitation.
  private func relayed(_ subject: NodeID, at addresses: [HostAddress]) -> (group: IntroducedEngine, outcome: Outcome) {
    let group = IntroducedEngine { $0.transports = [.tcp, .relay] }
    group.introducer.introduces(subject, at: addresses)
    group.answer(subject)
    group.one.traits = TunnelRoute(remote: subject, relays: [group.introducer.far], relayCount: 1).traits
    let played = group.played(subject)
    var outcome = played.associate(nil, [.removal, .introductions, .resume])
    outcome += played.crosses()
    return (group, outcome)
  }

  @Test("and that comes over a relay is looked for where its introducer says that it is, which is hearsay, by both")
  func hearsay() throws {
    for subject in [small, large] {
      let (group, joined) = relayed(subject, at: (0..<8).map(place))
      #expect(
        group.side.members.contains(subject)
          && joined.events.contains { if case .connected = $0 { true } else { false } })
      let outcome = group.side.wait(.milliseconds(600))
      #expect(!outcome.dials.isEmpty, "\(subject)")
      let dialled = group.waitWithFailures(.seconds(5), first: outcome).dials.flatMap(\.addresses)
      #expect(dialled.contains("203.0.0.0:4711") && Set(dialled).count == dialled.count, "\(dialled)")
      // This address is not passed on: a node that is introduced to it learns where it was dialled or seen.
      let other = group.played(node(30)).connect()
      let introduced = group.side.command(.introduce(subject, to: other.far, timeout: .seconds(10)))
      let told = other.sent(introduced).compactMap {
        if case .introduce(let frame) = $0 { frame.addresses } else { nil }
      }
      #expect(told == [[]] || subject == large, "\(told)")
    }
  }

  @Test("waits for 300 s at most")
  func longest() {
    for timeout in [300_001, 86_400_001, UInt64(1) << 61] {
      let group = IntroducedEngine()
      #expect(group.introducer.introduces(large, timeout: timeout).introduced.first?.expires == seconds(301))
    }
  }

  @Test("is dialled and invited once it is wanted, and a member when its own invitation has crossed ours")
  func crosses() {
    let group = IntroducedEngine()
    group.introducer.introduces(large)
    let accepted = group.answer(large)
    #expect(accepted.replies(to: 77) == [.done])
    #expect(accepted.dials.map(\.addresses) == [[somewhereText]])
    let played = group.played(large)
    let invited = played.associate(accepted.dials.first?.id)
    guard case .invite(let invite)? = played.sent(invited).last else {
      Issue.record("not invited: \(invited.frames)")
      return
    }
    #expect(invite.terms == [] && invite.context.isEmpty && !invited.asksAboutInvitation)
    #expect(played.sent(played.invites()) == [.accept])
    let outcome = played.receive(.accept)
    #expect(group.side.members == [group.introducer.far, large])
    #expect(group.introducer.sent(outcome) == [.introduced(large)])
    for case .connected(let peer) in outcome.events { #expect(peer.introducedBy == group.introducer.far) }
    #expect(group.introductions.isEmpty)
    #expect(!group.side.log.asksAboutInvitation && group.side.log.introductionEnds.isEmpty)
  }

  @Test("is no stranger whose code is compared, and none that needs the code that is set")
  func withoutCodes() {
    let group = IntroducedEngine()
    group.side.judgement = .ask
    let code = TypedCodeID(rawValue: 1)
    group.side.command(.setCode(code))
    let played = dialled(group, large)
    #expect(played.crosses().closeReason == nil)
    #expect(group.side.members == [group.introducer.far, large])
    for case .connected(let peer) in group.side.log.events { #expect(!peer.isKnown && peer.code == nil) }
  }

  @Test("no command of the engine's own is seen by the application, whatever the node does")
  func ownCommands() {
    for subject in [large, small] {
      for terms: InvitationTerms in [[], .comparesCodes] {
        for judgement in [TrustJudgement.known, .ask] {
          let group = IntroducedEngine()
          group.side.judgement = judgement
          let played = group.played(subject)
          group.accept(subject)
          played.associate()
          played.invites(terms)
          played.receive(.codeReveal(someNonce))
          played.receive(.accept)
          played.receive(.admit)
          for effect in group.side.log.effects {
            switch effect {
            case .reply(let command, _), .deliver(.codeShown(let command, _, _)),
              .deliver(.invitationSent(let command, _)):
              #expect(!command.isOwn, "\(effect)")
            case .deliver(.confirmationNeeded): Issue.record("asks for a comparison: \(effect)")
            default: break
            }
          }
        }
      }
    }
  }

  @Test("is answered for at once where it is a member already")
  func isMember() {
    let group = IntroducedEngine(members: 2)
    let outcome = group.introducer.introduces(group.members[1].far)
    #expect(outcome.introduced.isEmpty && group.introducer.sent(outcome).answers == [nil])
  }

  @Test("is refused where the session is full")
  func full() {
    let group = IntroducedEngine(members: 2) { $0.capacity = 3 }
    let outcome = group.introducer.introduces(large)
    #expect(outcome.introduced.isEmpty && group.introducer.sent(outcome).answers == [.full])
  }

  @Test("becomes none where the session fills up meanwhile")
  func fillsUp() {
    let group = IntroducedEngine { $0.capacity = 3 }
    let played = dialled(group, large)
    group.played(node(7)).connect()
    let outcome = played.crosses()
    #expect(group.side.members == [group.introducer.far, node(7)])
    #expect(group.introducer.sent(outcome).answers == [.full] && outcome.introductionEnds.map(\.reason) == [.full])
  }

  @Test("is declined: the introducer hears it, and the application that it is over")
  func declined() {
    let group = IntroducedEngine()
    group.introducer.introduces(large)
    let outcome = group.answer(large, accept: false)
    #expect(outcome.replies(to: 77) == [.done] && outcome.introductionEnds == [Ending(.declined, .us)])
    #expect(group.introducer.sent(outcome).answers == [.declined])
    #expect(group.answer(large).failure(of: 77)?.reason == .noSuchAssociation)
  }

  @Test("can be answered once")
  func answeredOnce() {
    let group = IntroducedEngine()
    #expect(group.answer(large).failure(of: 77)?.reason == .noSuchAssociation)
    group.accept(large)
    for accept in [true, false] {
      #expect(group.answer(large, accept: accept).failure(of: 77)?.reason == .noSuchAssociation)
    }
  }

  @Test("is forgotten if the application does not say in time whether it is wanted")
  func timesOut() {
    let group = IntroducedEngine()
    group.introducer.introduces(large, timeout: 5_000)
    #expect(group.side.wait(.milliseconds(4_999)).frames.answers.isEmpty)
    let outcome = group.side.wait(.milliseconds(1))
    #expect(group.introducer.sent(outcome).answers == [.timedOut])
    #expect(outcome.introductionEnds.map(\.reason) == [.timedOut])
    #expect(group.introductions.nextDeadline == nil)
  }

  @Test("is forgotten when its time is over while it is invited, which is told")
  func timesOutInvited() {
    let group = IntroducedEngine()
    let played = group.played(large)
    played.associate(group.accept(large, timeout: 5_000).dials.first?.id)
    let outcome = group.side.wait(.seconds(5))
    #expect(group.introducer.sent(outcome).answers == [.timedOut])
    #expect(played.sent(outcome).first == .withdraw(.timedOut))
    #expect(group.side.census.attempts == 0)
    // It accepts too late.
    #expect(played.receive(.accept).closeReason == nil)
    #expect(group.side.members == [group.introducer.far])
  }

  @Test("is forgotten when the introducer takes it back, asked or wanted", arguments: [false, true])
  func withdrawn(isWanted: Bool) {
    let group = IntroducedEngine()
    group.introducer.introduces(large)
    if isWanted { group.answer(large) }
    let outcome = group.introducer.receive(.withdrawIntroduction(large, .declined))
    #expect(group.introducer.sent(outcome).answers == [.declined])
    #expect(outcome.introductionEnds.map(\.reason) == [.declined])
    #expect(group.side.census.attempts == 0 && group.side.census.dials == 0)
    // One that has crossed our answer is ignored, and the node can be introduced again.
    #expect(group.introducer.receive(.withdrawIntroduction(large, .declined)).effects == [])
    #expect(group.introducer.introduces(large).introduced.count == 1)
  }

  @Test("of two introducers each gets its answer")
  func twoIntroducers() {
    for isJoined in [true, false] {
      let group = IntroducedEngine(members: 2)
      group.introducer.introduces(large)
      #expect(group.members[1].introduces(large).introduced.isEmpty)
      var outcome = group.answer(large, accept: isJoined)
      if isJoined {
        let played = group.played(large)
        played.associate(outcome.dials.first?.id)
        outcome = played.crosses()
      }
      let answer: Reason? = isJoined ? nil : .declined
      for member in group.members { #expect(member.sent(outcome).answers == [answer]) }
    }
  }

  @Test("of two introducers each has its own time, and one that takes it back leaves it to the other")
  func otherIntroducer() {
    let group = IntroducedEngine(members: 3)
    group.introducer.introduces(large, timeout: 5_000)
    group.members[1].introduces(large, timeout: 60_000)
    group.members[2].introduces(large, timeout: 20_000)
    let over = group.side.wait(.seconds(5))
    #expect(group.introducer.sent(over).answers == [.timedOut] && over.introductionEnds.isEmpty)
    let withdrawn = group.members[1].receive(.withdrawIntroduction(large, .left))
    #expect(group.members[1].sent(withdrawn).answers == [.left] && withdrawn.introductionEnds.isEmpty)
    // What was taken back keeps nothing open beyond the word of those that stand by it.
    let end = group.side.wait(.seconds(15))
    #expect(group.members[2].sent(end).answers == [.timedOut] && end.introductionEnds.count == 1)
  }

  @Test("is a member by the word of one that stands by it")
  func standingIntroducer() {
    let group = IntroducedEngine(members: 2)
    group.introducer.introduces(large)
    group.members[1].introduces(large, at: [])
    let dial = group.answer(large).dials.first
    group.introducer.receive(.withdrawIntroduction(large, .left))
    let played = group.played(large)
    played.associate(dial?.id)
    let outcome = played.crosses()
    for case .connected(let peer) in outcome.events { #expect(peer.introducedBy == group.members[1].far) }
    #expect(group.side.members.contains(large))
  }

  @Test("is over when its only introducer leaves before the application has answered")
  func introducerLeaves() {
    let group = IntroducedEngine()
    group.introducer.introduces(large)
    var outcome = group.introducer.receive(.leave(.left, detail: ""))
    outcome += group.side.take(.linkClosed(group.introducer.link, .ended))
    #expect(outcome.introductionEnds.map(\.reason) == [.left])
    #expect(group.introductions.isEmpty)
  }

  @Test("goes on when its introducer leaves after the application has accepted")
  func introducerLeft() {
    let group = IntroducedEngine()
    let played = dialled(group, large)
    group.introducer.receive(.leave(.left, detail: ""))
    group.side.take(.linkClosed(group.introducer.link, .ended))
    let outcome = played.crosses()
    #expect(group.side.members == [large] && outcome.closeReason == nil)
    for case .connected(let peer) in outcome.events { #expect(peer.introducedBy == group.introducer.far) }
  }

  @Test("reaches a hidden node once it is wanted, and no other node does")
  func hidden() {
    let group = IntroducedEngine()
    group.side.take(.availabilityChanged(false))
    group.introducer.introduces(large, at: [])
    #expect(!group.expectsPeers)
    #expect(group.played(large).open().closeReason == .notAvailable)
    group.answer(large)
    #expect(group.expectsPeers)
    let other = NodeID(peer: large.peer, incarnation: Incarnation(rawValue: 99))
    #expect(group.played(other).open().closeReason == .notAvailable)
    #expect(group.played(node(21)).open().closeReason == .notAvailable)
    let played = group.played(large)
    #expect(played.sent(played.associate()).invites == 1)
    played.crosses()
    #expect(group.side.members.contains(large))
  }

  @Test("does not come to a hidden node any more when its time is over")
  func hiddenLate() {
    let group = IntroducedEngine()
    group.side.take(.availabilityChanged(false))
    group.accept(large, timeout: 5_000, at: [])
    group.side.wait(.seconds(5))
    #expect(!group.expectsPeers)
    #expect(group.played(large).open().closeReason == .notAvailable)
  }

  @Test("shutting down answers all introducers, and the application hears the end of all")
  func shutDown() {
    let group = IntroducedEngine(members: 2)
    group.introducer.introduces(large)
    group.members[1].introduces(small)
    group.answer(small)
    let outcome = group.side.command(.shutDown)
    #expect(outcome.introductionEnds.map(\.reason) == [.shuttingDown, .shuttingDown])
    for member in group.members { #expect(member.sent(outcome).answers == [.shuttingDown]) }
    // Nothing new begins.
    let late = group.introducer.introduces(node(30))
    #expect(late.introduced.isEmpty && group.introducer.sent(late).answers == [.shuttingDown])
    for member in group.members { group.side.take(.linkClosed(member.link, .ended)) }
    #expect(group.introductions.isEmpty && group.side.census.nextDeadline == nil)
  }

  @Test("that is a member, but on its way out, is neither taken for one nor asked about")
  func leavingMember() {
    let group = IntroducedEngine(members: 2)
    let leaving = group.members[1]
    group.side.command(.leave(leaving.far, .left))
    let asked = group.introducer.introduces(leaving.far, at: [])
    #expect(asked.introduced.isEmpty && group.introducer.sent(asked).answers == [.inProgress])
  }

  @Test("is no member if it declines because it takes us for one, and the introducer and the application are told")
  func pretends() {
    let group = IntroducedEngine()
    let played = dialled(group, large)
    let outcome = played.receive(.decline(.alreadyConnected, detail: ""))
    #expect(group.introducer.sent(outcome).answers != [nil])
    #expect(outcome.introductionEnds.count == 1)
  }
}
