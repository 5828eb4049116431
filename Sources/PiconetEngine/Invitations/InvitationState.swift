import PiconetWire

/// What stands between two nodes before they are members of one session: an invitation of each, the exchange of a
/// short code, the proof of a typed one, and which frames about them the peer owes yet. It changes by what has happened
/// alone; what is sent and told then is `Invitations`'.
struct InvitationState: Sendable {
  /// Ours.
  private(set) var own: OutgoingInvitation?
  /// The peer's.
  private(set) var incoming: IncomingInvitation?
  /// The short code of the one or the other.
  private(set) var exchange: CodeExchange?
  /// The peer's proof of our typed code.
  private(set) var proof: CodeProof?
  /// Invitations of ours that have no answer yet, oldest first. Each gets exactly one.
  private var unanswered: [SentInvitation] = []
  /// The peer owes an answer to our nonce.
  private var isRevealDue = false
  /// It owes one to our `accept`.
  private var isAdmissionDue = false
  /// Its confirmation of a typed code may come, if only too late.
  private var isCodeConfirmDue = false

  /// Nobody is invited, but by what we have withdrawn.
  var isIdle: Bool {
    unanswered.allSatisfy { $0.command == nil } && incoming == nil && exchange == nil && proof == nil
  }

  /// The driver has been asked for something by this number, and its answer counts.
  func awaits(_ id: CodeID) -> Bool {
    own?.drawing == id || own?.proof == id || exchange?.id == id || proof?.id == id
  }

  /// The peer may count on what we have said.
  var holdsPlace: Bool {
    if let exchange, exchange.isInviter { return exchange.isConfirmed }
    return incoming?.acceptance != nil
  }

  /// A nonce was given, and the code is not compared yet: an end now is one try of it.
  var isTry: Bool { exchange?.isTry == true }

  /// Ours is about to be sent, and crosses the peer's.
  var isCrossing: Bool { if case .crossing = own?.phase { true } else { false } }

  /// Ours is the acceptance of the peer's, or waits for what comes of it.
  var isAnswering: Bool { own?.phase == .answering }

  /// Ours waits for what comes of the peer's, which the application has accepted.
  var isBesideAcceptance: Bool {
    guard isAnswering, case .command? = incoming?.acceptance else { return false }
    return true
  }

  /// Both have invited, and our `accept` is on its way.
  var hasCrossed: Bool { incoming?.acceptance == .crossing }

  /// A typed code was proven, to us or by us.
  var isProven: Bool { incoming?.isProven == true || own?.phase == .proven }

  // MARK: Ours

  /// Ours goes on here.
  mutating func begin(_ invitation: OutgoingInvitation, _ phase: OutgoingInvitation.Phase, proof: CodeID? = nil) {
    own = invitation
    own?.phase = phase
    own?.proof = proof
  }

  mutating func nonceDrawn(_ nonce: CodeNonce) { own?.nonce = nonce }

  /// The frame with ours was sent.
  mutating func sent(_ terms: InvitationTerms) {
    guard let own else { return }
    self.own?.phase = .invited
    unanswered.append(SentInvitation(command: own.command, terms: terms, code: own.code))
  }

  /// The invited has answered our share, and the driver checks it.
  mutating func answered(left: UInt64) { own?.phase = .proving(left: left) }

  /// The answer was right.
  mutating func proven() { own?.phase = .proven }

  /// The peer's has come before ours was sent.
  mutating func cross() {
    if let id = own?.drawing { own?.phase = .crossing(id) }
  }

  /// The two have crossed, and ours is the one that counts.
  mutating func crossed(_ context: [UInt8]) { own?.crossedContext = context }

  /// The peer's invitation is the one that counts.
  mutating func yield() { own?.phase = .answering }

  /// What ours was the acceptance of is over.
  /// - Returns: whether ours stands, because the peer may answer it yet.
  mutating func standsAlone() -> Bool {
    guard let own, unanswered.contains(where: { $0.command == own.command }) else { return false }
    self.own?.phase = .invited
    return true
  }

  /// Ours is over without membership.
  mutating func takeOwn() -> OutgoingInvitation? {
    defer { own = nil }
    return own
  }

  // MARK: Answers to ours

  var unansweredCount: Int { unanswered.count }
  /// The last that was sent.
  var lastSent: SentInvitation? { unanswered.last }

  /// The peer has answered the oldest.
  mutating func takeAnswered() -> SentInvitation? { unanswered.isEmpty ? nil : unanswered.removeFirst() }

  /// The invited has begun to answer the oldest: it asks for our nonce, or has answered our share.
  /// - Returns: nil where it can't.
  mutating func beginAnswer(byCode: Bool) -> SentInvitation? {
    guard let first = unanswered.first, !first.hasNonce, !byCode || first.code != nil else { return nil }
    unanswered[0].hasNonce = true
    return first
  }

  /// Ours is withdrawn.
  /// - Returns: whether it was sent, and has no answer.
  mutating func withdraw(_ command: CommandID) -> Bool {
    guard let index = unanswered.firstIndex(where: { $0.command == command }) else { return false }
    unanswered[index].command = nil
    return true
  }

  // MARK: The peer's

  /// Another invitation of the peer has come: what belonged to an earlier one can't come any more.
  mutating func forgetFormer() {
    isRevealDue = false
    isAdmissionDue = false
    isCodeConfirmDue = false
  }

  mutating func begin(_ invitation: IncomingInvitation) { incoming = invitation }

  /// The application is told of it.
  mutating func delivered() { incoming?.isDelivered = true }

  /// We have accepted it.
  /// - Parameter admission: when the inviter has to have admitted us at the latest, unless its person compares yet.
  mutating func accepted(_ acceptance: IncomingInvitation.Acceptance, until admission: Instant) {
    exchange?.isConfirmed = true
    incoming?.acceptance = acceptance
    if let incoming, !incoming.terms.contains(.comparesCodes) {
      self.incoming?.expires = min(incoming.expires, admission)
    }
    isAdmissionDue = acceptance != .crossing
  }

  /// The link is gone on which we have accepted: the inviter's word may come upon another one.
  mutating func awaitAdmission(until admission: Instant) {
    guard let incoming, incoming.acceptance != nil, !incoming.terms.contains(.comparesCodes) else { return }
    self.incoming?.expires = admission
  }

  /// The same, of one whose typed code was right.
  mutating func acceptedProven(_ context: [UInt8], expires: Instant) {
    incoming = IncomingInvitation(provenWith: context, expires: expires)
    isAdmissionDue = true
  }

  /// It is over without membership. What was to cross it is sent alone.
  mutating func takeIncoming() -> IncomingInvitation? {
    defer { incoming = nil }
    if isCrossing, let id = own?.drawing { own?.phase = .drawing(id) }
    return incoming
  }

  // MARK: Short codes

  mutating func begin(_ exchange: CodeExchange) { self.exchange = exchange }

  /// A command waits for the code.
  mutating func show(to command: CommandID) { exchange?.showing.append(command) }

  /// Our nonce is given; the inviter owes its own until then.
  mutating func gave(_ nonce: [UInt8], until: Instant) {
    exchange?.nonce = nonce
    exchange?.phase = .awaitingReveal(until: until)
    isRevealDue = true
  }

  /// The inviter has revealed its nonce.
  /// - Returns: what the code follows from; nil where it comes too late.
  mutating func revealed() throws(Breach) -> (exchange: CodeExchange, commitment: [UInt8])? {
    guard isRevealDue else { throw Breach("reveals a nonce that was not asked for") }
    isRevealDue = false
    guard let exchange, case .awaitingReveal = exchange.phase, let incoming else { return nil }
    self.exchange?.phase = .deriving
    return (exchange, incoming.commitment)
  }

  /// The code is on our screen.
  /// - Returns: who has waited for it.
  mutating func derived(_ code: String) -> [CommandID] {
    defer { exchange?.showing = [] }
    exchange?.phase = .shown(code)
    return exchange?.showing ?? []
  }

  /// A person of ours has to compare it.
  mutating func compare() { exchange?.isCompared = true }

  /// That person has seen the same code on both screens.
  mutating func confirmed() { exchange?.isConfirmed = true }

  /// The inviter admits us.
  /// - Returns: false where it comes too late.
  mutating func takeAdmission() throws(Breach) -> Bool {
    guard isAdmissionDue else { throw Breach("admits one that has not accepted") }
    isAdmissionDue = false
    return incoming?.acceptance != nil
  }

  /// The peer has accepted.
  mutating func remoteIsDone() { exchange?.isRemoteDone = true }

  /// It is over without membership.
  mutating func takeExchange() -> CodeExchange? {
    defer { exchange = nil }
    return exchange
  }

  // MARK: The peer's proof of our typed code

  mutating func begin(_ proof: CodeProof) { self.proof = proof }

  /// Our answer is made.
  mutating func answerMade() {
    proof?.phase = .awaitingConfirmation
    isCodeConfirmDue = true
  }

  /// The inviter's confirmation has come, and is to be checked.
  /// - Returns: nil where it comes too late.
  mutating func receivedConfirmation() throws(Breach) -> CodeProof? {
    guard isCodeConfirmDue else { throw Breach("confirms a code that was not asked for") }
    isCodeConfirmDue = false
    guard let proof, proof.phase == .awaitingConfirmation else { return nil }
    self.proof?.phase = .checking
    return proof
  }

  /// The inviter has withdrawn: no confirmation comes.
  mutating func withdrawn() { isCodeConfirmDue = false }

  /// It is over, right or wrong.
  mutating func takeProof() -> CodeProof? {
    defer { proof = nil }
    return proof
  }

  // MARK: Membership

  /// What the peer's own invitation says, or has said before it crossed ours.
  var remoteContext: [UInt8]? { incoming?.context ?? own?.crossedContext }

  /// The node is a member, and nothing stands between the two any more.
  mutating func takeAll() -> InvitationState {
    defer { (own, incoming, exchange) = (nil, nil, nil) }
    return self
  }
}
