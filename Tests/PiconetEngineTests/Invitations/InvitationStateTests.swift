import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What stands between two nodes before membership")
struct InvitationStateTests {
  private func outgoing(_ command: UInt64) -> OutgoingInvitation {
    OutgoingInvitation(
      InvitationAttempt(
        caller: Caller(CommandID(rawValue: command)), node: node(2), expectedPeer: nil, context: [], code: nil,
        formerMemberships: 0, deadline: seconds(30), transports: nil, lookedForUntil: nil,
        race: ConnectRace(addresses: [], preference: [], headStart: .zero))
    )
  }

  private var incoming: IncomingInvitation {
    IncomingInvitation(Invite(timeout: 1, terms: .comparesCodes, commitment: someCommitment), expires: seconds(9))
  }

  /// The peer has invited us and has our nonce.
  private func asked() -> InvitationState {
    var invitations = InvitationState()
    invitations.begin(incoming)
    let exchange = CodeExchange(id: CodeID(rawValue: 1), isInviter: false, phase: .drawing)
    invitations.begin(exchange)
    invitations.gave(someNonce, for: exchange, until: seconds(2))
    return invitations
  }

  @Test("each of our invitations gets one answer, the oldest first, and a withdrawn one gets its own")
  func answers() {
    var invitations = InvitationState()
    for command in 1...UInt64(2) {
      invitations.begin(outgoing(command), .sharing)
      invitations.sent(outgoing(command), [])
      #expect(!invitations.isIdle)
      let isWithdrawn = command == 1 && invitations.withdraw(CommandID(rawValue: 1))
      #expect(isWithdrawn == (command == 1))
    }
    let again = invitations.withdraw(CommandID(rawValue: 1))
    #expect(!again && invitations.unansweredCount == 2)
    let answers = [invitations.takeAnswered(), invitations.takeAnswered(), invitations.takeAnswered()]
    #expect(answers.map { $0?.command } == [nil, CommandID(rawValue: 2), nil])
    #expect(answers.map { $0 == nil } == [false, false, true] && invitations.isIdle)
  }

  @Test("one answer begins once, and not by a code where none was sent")
  func beginsOnce() {
    var invitations = InvitationState()
    let early = invitations.beginAnswer(byCode: false)
    invitations.begin(outgoing(1), .sharing)
    invitations.sent(outgoing(1), [])
    let byCode = invitations.beginAnswer(byCode: true)
    let first = invitations.beginAnswer(byCode: false)
    let second = invitations.beginAnswer(byCode: false)
    #expect([early, byCode, first, second].map { $0 != nil } == [false, false, true, false])
  }

  @Test("a reveal comes once, too late where the exchange is over, and not after another invitation")
  func reveals() throws {
    var invitations = asked()
    let found = try invitations.revealed()
    #expect(found?.commitment == someCommitment && found?.exchange.nonce == someNonce)
    #expect(throws: Breach.self) { try invitations.revealed() }
    var late = asked()
    _ = late.takeExchange()
    let tooLate = try late.revealed()
    #expect(tooLate == nil)
    var former = asked()
    former.forgetFormer()
    #expect(throws: Breach.self) { try former.revealed() }
  }

  @Test("an acceptance is admitted once, and counts while it stands; a crossing invitation is not admitted")
  func admissions() throws {
    var invitations = asked()
    #expect(throws: Breach.self) { try invitations.takeAdmission() }
    invitations.accepted(incoming, .command(CommandID(rawValue: 1)), until: seconds(20))
    let isInTime = try invitations.takeAdmission()
    #expect(isInTime)
    #expect(throws: Breach.self) { try invitations.takeAdmission() }
    var late = asked()
    late.accepted(incoming, .ownInvitation, until: seconds(20))
    _ = late.takeIncoming()
    let isLate = try !late.takeAdmission()
    #expect(isLate)
    var crossing = asked()
    crossing.accepted(incoming, .crossing, until: seconds(20))
    #expect(throws: Breach.self) { try crossing.takeAdmission() }
    #expect(crossing.hasCrossed && crossing.holdsPlace)
  }

  @Test("ours stands behind the peer's if it was sent and has no answer")
  func stands() {
    var sent = InvitationState()
    sent.begin(outgoing(1), .drawing(CodeID(rawValue: 1)))
    let unsent = sent.standsAlone()
    sent.sent(outgoing(1), [])
    sent.yield(outgoing(1))
    #expect(sent.isAnswering)
    let unanswered = sent.standsAlone()
    #expect(!sent.isAnswering)
    _ = sent.takeAnswered()
    sent.yield(outgoing(1))
    let answered = sent.standsAlone()
    #expect([unsent, unanswered, answered] == [false, true, false] && sent.isAnswering)
  }
}
