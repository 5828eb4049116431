import PiconetWire

/// What is under way between two nodes before they are members of one session: an invitation from each, the exchange of
/// a short code, the proof of a typed code, and the frames about them that the peer still owes. It only records what
/// has happened. `Invitations` decides what is sent and reported. A function that changes a part is passed its present
/// value, which the caller has just checked.
struct InvitationState: Sendable {
  /// Our invitation to the peer.
  private(set) var own: OutgoingInvitation?
  /// The peer's invitation to us.
  private(set) var incoming: IncomingInvitation?
  /// The exchange of the short code of either invitation.
  private(set) var exchange: CodeExchange?
  /// The peer's proof of our typed code.
  private(set) var proof: CodeProof?
  /// Our invitations that have no answer yet, oldest first. Each gets exactly one answer.
  private var unanswered: [SentInvitation] = []
  /// Whether the peer owes an answer to our nonce.
  private var isRevealDue = false
  /// Whether the peer owes an answer to our `accept`.
  private var isAdmissionDue = false
  /// Whether the peer's confirmation of a typed code may still come, even if too late.
  private var isCodeConfirmDue = false

  /// Whether no invitation is open, apart from those that we have withdrawn.
  var isIdle: Bool {
    unanswered.allSatisfy { $0.command == nil } && incoming == nil && exchange == nil && proof == nil
  }

  /// Returns whether the driver was asked for something under this number, and its answer still counts.
  func awaits(_ id: CodeID) -> Bool {
    own?.drawing == id || own?.proof == id || exchange?.id == id || proof?.id == id
  }

  /// Whether the peer may rely on a place that we have promised.
  var holdsPlace: Bool {
    if let exchange, exchange.isInviter { return exchange.isConfirmed }
    return incoming?.acceptance != nil
  }

  /// Whether a nonce was given and the code is not compared yet. An end now counts as one try.
  var isTry: Bool { exchange?.isTry == true }

  /// Whether our invitation is about to be sent and will cross the peer's.
  var isCrossing: Bool { if case .crossing = own?.phase { true } else { false } }

  /// Whether our invitation is the acceptance of the peer's, or waits for the outcome of the peer's.
  var isAnswering: Bool { own?.phase == .answering }

  /// Whether our invitation waits for the outcome of the peer's, which the application has accepted.
  var isBesideAcceptance: Bool {
    guard isAnswering, case .command? = incoming?.acceptance else { return false }
    return true
  }

  /// Whether both have invited, and our `accept` is on its way.
  var hasCrossed: Bool { incoming?.acceptance == .crossing }

  /// Whether a typed code was proven, to us or by us.
  var isProven: Bool { incoming?.isProven == true || own?.phase == .proven }

  // MARK: Our invitation

  /// Begins our invitation, in this phase.
  mutating func begin(_ invitation: OutgoingInvitation, _ phase: OutgoingInvitation.Phase, proof: CodeID? = nil) {
    var invitation = invitation
    invitation.phase = phase
    invitation.proof = proof
    own = invitation
  }

  /// Notes that the frame with our invitation was sent.
  /// - Parameter nonce: the nonce of its short code; nil if the invitation proves a typed code.
  mutating func sent(_ own: OutgoingInvitation, _ terms: InvitationTerms, nonce: CodeNonce? = nil) {
    self.own = changed(own) {
      $0.phase = .invited
      $0.nonce = nonce
    }
    unanswered.append(SentInvitation(command: own.command, terms: terms, code: own.code))
  }

  /// Notes that the invited side has answered our share. The driver checks the answer.
  mutating func answered(_ own: OutgoingInvitation, left: UInt64) {
    self.own = changed(own) { $0.phase = .proving(left: left) }
  }

  /// Notes that the invited side's answer was right.
  mutating func proven(_ own: OutgoingInvitation) { self.own = changed(own) { $0.phase = .proven } }

  /// Notes that the peer's invitation has come before ours was sent. Our nonce is being drawn under this
  /// number.
  mutating func cross(_ own: OutgoingInvitation, drawing id: CodeID) {
    self.own = changed(own) { $0.phase = .crossing(id) }
  }

  /// Notes that the two invitations have crossed, and ours is the one that counts.
  mutating func crossed(_ own: OutgoingInvitation, _ context: [UInt8]) {
    self.own = changed(own) { $0.crossedContext = context }
  }

  /// Notes that the peer's invitation is the one that counts.
  mutating func yield(_ own: OutgoingInvitation) { self.own = changed(own) { $0.phase = .answering } }

  /// Notes that the peer's invitation, which ours accepted, is over.
  /// - Returns: whether our invitation stands, because the peer may still answer it.
  mutating func standsAlone() -> Bool {
    guard var own, unanswered.contains(where: { $0.command == own.command }) else { return false }
    own.phase = .invited
    self.own = own
    return true
  }

  /// Takes out our invitation, which is over without membership.
  mutating func takeOwn() -> OutgoingInvitation? {
    defer { own = nil }
    return own
  }

  // MARK: Answers to our invitation

  var unansweredCount: Int { unanswered.count }
  /// The last invitation that was sent.
  var lastSent: SentInvitation? { unanswered.last }

  /// Takes out our oldest invitation, which the peer has answered.
  mutating func takeAnswered() -> SentInvitation? { unanswered.isEmpty ? nil : unanswered.removeFirst() }

  /// Notes that the invited side has begun to answer our oldest invitation: it asks for our nonce, or has answered our
  /// share.
  /// - Returns: that invitation; nil if it can't be answered this way now.
  mutating func beginAnswer(byCode: Bool) -> SentInvitation? {
    guard let first = unanswered.first, !first.hasNonce, !byCode || first.code != nil else { return nil }
    unanswered[0].hasNonce = true
    return first
  }

  /// Withdraws our invitation.
  /// - Returns: whether it was sent and has no answer.
  mutating func withdraw(_ command: CommandID) -> Bool {
    guard let index = unanswered.firstIndex(where: { $0.command == command }) else { return false }
    unanswered[index].command = nil
    return true
  }

  // MARK: The peer's invitation

  /// Forgets a former invitation of the peer, since another one has come. Frames that belong to the former one can't
  /// come any more.
  mutating func forgetFormer() {
    isRevealDue = false
    isAdmissionDue = false
    isCodeConfirmDue = false
  }

  mutating func begin(_ invitation: IncomingInvitation) { incoming = invitation }

  /// Notes that the application was told of the peer's invitation.
  mutating func delivered(_ incoming: IncomingInvitation) {
    self.incoming = changed(incoming) { $0.isDelivered = true }
  }

  /// Notes that the peer's invitation waits for the answer to an introduction.
  mutating func held(_ incoming: IncomingInvitation) { self.incoming = changed(incoming) { $0.isHeld = true } }

  /// Notes that the peer's invitation no longer waits for an introduction.
  mutating func released(_ incoming: IncomingInvitation) { self.incoming = changed(incoming) { $0.isHeld = false } }

  /// Notes that we have accepted the peer's invitation.
  /// - Parameter admission: when the inviter must have admitted us, unless a person there is still comparing.
  mutating func accepted(
    _ incoming: IncomingInvitation, _ acceptance: IncomingInvitation.Acceptance, until admission: Instant
  ) {
    if let exchange { confirmed(exchange) }
    self.incoming = changed(incoming) { incoming in
      incoming.acceptance = acceptance
      if !incoming.terms.contains(.comparesCodes) { incoming.expires = min(incoming.expires, admission) }
    }
    isAdmissionDue = acceptance != .crossing
  }

  /// Notes that the application accepts an invitation that our own has already accepted. An introduction may have led
  /// to our own one without the application's knowledge.
  /// - Returns: whether there was such an invitation.
  mutating func alsoAccepted(by command: CommandID) -> Bool {
    guard let incoming, incoming.isDelivered, incoming.acceptance != nil, incoming.command == nil else { return false }
    self.incoming = changed(incoming) { $0.alsoAccepted = command }
    return true
  }

  /// Extends the time for admission, since the link on which we accepted is gone: the inviter's answer may come over
  /// another one.
  mutating func awaitAdmission(until admission: Instant) {
    guard let incoming, incoming.acceptance != nil, !incoming.terms.contains(.comparesCodes) else { return }
    self.incoming = changed(incoming) { $0.expires = admission }
  }

  /// Notes that we have accepted an invitation of the peer whose typed code was right.
  mutating func acceptedProven(_ context: [UInt8], expires: Instant) {
    incoming = IncomingInvitation(provenWith: context, expires: expires)
    isAdmissionDue = true
  }

  /// Takes out the peer's invitation, which is over without membership. Our own invitation that was about to cross it
  /// is sent alone.
  mutating func takeIncoming() -> IncomingInvitation? {
    defer { incoming = nil }
    if let own, case .crossing(let id) = own.phase { self.own = changed(own) { $0.phase = .drawing(id) } }
    return incoming
  }

  // MARK: Short codes

  mutating func begin(_ exchange: CodeExchange) { self.exchange = exchange }

  /// Adds a command that waits for the code.
  mutating func show(_ exchange: CodeExchange, to caller: Caller<ResultKind.Code>) {
    self.exchange = changed(exchange) { $0.showing.append(caller) }
  }

  /// Notes that our nonce is given. The inviter owes its own nonce until the given time.
  mutating func gave(_ nonce: [UInt8], for exchange: CodeExchange, until: Instant) {
    self.exchange = changed(exchange) {
      $0.nonce = nonce
      $0.phase = .awaitingReveal(until: until)
    }
    isRevealDue = true
  }

  /// Takes the nonce that the inviter has revealed.
  /// - Returns: the values from which the code is derived; nil if the nonce comes too late.
  mutating func revealed() throws(Breach) -> (exchange: CodeExchange, commitment: [UInt8])? {
    guard isRevealDue else { throw Breach("reveals a nonce that was not asked for") }
    isRevealDue = false
    guard var exchange, case .awaitingReveal = exchange.phase, let incoming else { return nil }
    exchange.phase = .deriving
    self.exchange = exchange
    return (exchange, incoming.commitment)
  }

  /// Notes that the code is on our screen.
  /// - Returns: the commands that waited for it.
  mutating func derived(_ code: String, of exchange: CodeExchange) -> [Caller<ResultKind.Code>] {
    self.exchange = changed(exchange) {
      $0.phase = .shown(code)
      $0.showing = []
    }
    return exchange.showing
  }

  /// Notes that a person on our side has to compare the code.
  mutating func compare(_ exchange: CodeExchange) { self.exchange = changed(exchange) { $0.isCompared = true } }

  /// Notes that the code counts as the same on both screens.
  mutating func confirmed(_ exchange: CodeExchange) { self.exchange = changed(exchange) { $0.isConfirmed = true } }

  /// Takes the inviter's admission.
  /// - Returns: false if it comes too late.
  mutating func takeAdmission() throws(Breach) -> Bool {
    guard isAdmissionDue else { throw Breach("admits one that has not accepted") }
    isAdmissionDue = false
    return incoming?.acceptance != nil
  }

  /// Notes that the peer has accepted.
  mutating func remoteIsDone(_ exchange: CodeExchange) {
    self.exchange = changed(exchange) { $0.isRemoteDone = true }
  }

  /// Takes out the exchange, which is over without membership.
  mutating func takeExchange() -> CodeExchange? {
    defer { exchange = nil }
    return exchange
  }

  // MARK: The peer's proof of our typed code

  mutating func begin(_ proof: CodeProof) { self.proof = proof }

  /// Notes that our answer was computed and can be sent.
  mutating func answerMade(_ proof: CodeProof) {
    self.proof = changed(proof) { $0.phase = .awaitingConfirmation }
    isCodeConfirmDue = true
  }

  /// Takes the inviter's confirmation, which must be checked.
  /// - Returns: nil if it comes too late.
  mutating func receivedConfirmation() throws(Breach) -> CodeProof? {
    guard isCodeConfirmDue else { throw Breach("confirms a code that was not asked for") }
    isCodeConfirmDue = false
    guard var proof, proof.phase == .awaitingConfirmation else { return nil }
    defer { self.proof = proof }
    proof.phase = .checking
    return proof
  }

  /// Notes that the inviter has withdrawn, so that no confirmation comes.
  mutating func withdrawn() { isCodeConfirmDue = false }

  /// Takes out the proof, which is over, right or wrong.
  mutating func takeProof() -> CodeProof? {
    defer { proof = nil }
    return proof
  }

  // MARK: Membership

  /// The context of the peer's own invitation, even if that invitation has crossed ours and does not count.
  var remoteContext: [UInt8]? { incoming?.context ?? own?.crossedContext }

  /// Takes out everything, because the node is now a member.
  mutating func takeAll() -> InvitationState {
    defer { (own, incoming, exchange) = (nil, nil, nil) }
    return self
  }
}

/// Returns a copy of the value with a change.
private func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}
