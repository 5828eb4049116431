import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Invitations as a machine")
struct InvitationsTests {
  private let turn = Turn(node(9), seed: 1, InvitationBudgets(openQuestions: 8), DeadlineWatch())
  private let command = CommandID(rawValue: 7)
  private let invite = InvitationFrame.invite(Invite(timeout: 1_000, terms: [], commitment: someCommitment))

  private var invitations: Invitations {
    Invitations(configuration(), DeadlineWatch(), provesCodes: true, at: seconds(0))
  }

  private let remote = Invitations.Remote(
    peer: ProvenPeer(
      node: node(1), name: "", traits: someTraits, association: AssociationID(high: 1, low: 2), isKnown: true,
      messageLimit: 1_000),
    judgement: .known, isIntroduced: false, link: LinkID(rawValue: 1), isMember: false, membershipNumber: 0,
    isLeaving: false, yields: nil)

  @Test("one that is accepted asks for a place, keeps it from its accept on, and the node joins once it is admitted")
  func accepted() {
    var invitations = invitations
    let (opened, question) = invitations.handle(.received(invite, hasRoom: true), remote, turn)
    guard opened.isEmpty, case .question(insteadOf: nil)? = question else {
      Issue.record("\(opened), \(String(describing: question))")
      return
    }
    _ = invitations.handle(.asked, remote, turn)
    let (_, place) = invitations.handle(.accepted(command), remote, turn)
    guard case .place(let entry)? = place else {
      Issue.record("\(String(describing: place))")
      return
    }
    #expect(!invitations.holdsPlace)
    let (steps, request) = invitations.handle(.placeFound(entry), remote, turn)
    guard steps.count == 1, case .send(.accept) = steps[0], request == nil else {
      Issue.record("\(steps), \(String(describing: request))")
      return
    }
    #expect(invitations.holdsPlace)
    let (none, admission) = invitations.handle(.received(.admit, hasRoom: false), remote, turn)
    guard none.isEmpty, case .place(.admitted)? = admission else {
      Issue.record("\(none), \(String(describing: admission))")
      return
    }
    let (last, _) = invitations.handle(.placeFound(.admitted), remote, turn)
    guard last.count == 1, case .join(let agreement) = last[0] else {
      Issue.record("\(last)")
      return
    }
    #expect(agreement.accepting == command && agreement.own == nil && invitations.isIdle)
  }

  @Test("one for which there is no room is declined, and the application never hears of it")
  func full() {
    var invitations = invitations
    let (steps, request) = invitations.handle(.received(invite, hasRoom: false), remote, turn)
    guard steps.count == 1, case .send(.decline(.full, _)) = steps[0], request == nil else {
      Issue.record("\(steps), \(String(describing: request))")
      return
    }
    #expect(invitations.isIdle && turn.effects.isEmpty)
  }

  @Test("a frame that breaks a rule comes out as the breach, and changes nothing that waits")
  func breach() {
    var invitations = invitations
    let (steps, request) = invitations.handle(.received(.accept, hasRoom: true), remote, turn)
    guard steps.isEmpty, case .breach(let breach)? = request else {
      Issue.record("\(steps), \(String(describing: request))")
      return
    }
    #expect(breach.reason == .protocolBroken && invitations.isIdle && turn.effects.isEmpty)
  }

  @Test("a peer that accepts when there is no place is told by a withdrawal, and the association goes on")
  func noPlace() {
    var invitations = invitations
    _ = invitations.handle(.invited(ours()), remote, turn)
    guard case .drawing(let id)? = invitations.own?.phase else {
      Issue.record("\(String(describing: invitations.own?.phase))")
      return
    }
    let nonce = CodeNonce(bytes: someNonce, commitment: someCommitment)
    _ = invitations.handle(.nonceDrawn(id, nonce, isFull: false), remote, turn)
    let (none, place) = invitations.handle(.received(.accept, hasRoom: false), remote, turn)
    guard none.isEmpty, case .place(.accepted)? = place else {
      Issue.record("\(none), \(String(describing: place))")
      return
    }
    let (steps, request) = invitations.handle(.noPlaceFound(.accepted), remote, turn)
    guard steps.count == 1, case .send(.withdraw(.full)) = steps[0], request == nil else {
      Issue.record("\(steps), \(String(describing: request))")
      return
    }
    #expect(invitations.isIdle && invitations.own == nil)
  }

  private func ours() -> OutgoingInvitation {
    OutgoingInvitation(
      InvitationAttempt(
        caller: Caller(command), node: node(1), expectedPeer: nil, context: [], code: nil, formerMemberships: 0,
        deadline: seconds(30), transports: nil, lookedForUntil: nil,
        race: ConnectRace(addresses: [], preference: [], headStart: .zero)))
  }
}
