import PiconetWire

/// Invitations: which association each continues on, which nodes get a place in the session, and which are shown to the
/// application.
extension SessionEngine {
  // MARK: Commands

  mutating func invite(
    _ caller: Caller<ResultKind.Connected>, _ target: InvitationTarget, _ context: [UInt8], _ timeout: Duration,
    _ code: TypedCodeID?, _ turn: Turn
  ) {
    let destination = InvitationDestination(target, over: attempts.transports, surroundings, turn)
    // An invitation by the application does not wait for one that an introduction has led to.
    if let node = destination.node, let own = attempts.own(for: node) { withdraw(own, Ending(.inProgress, .us), turn) }
    if let refusal = attempts.refusal(of: destination, context, surroundings, turn) {
      return turn.reply(caller, .failed(refusal))
    }
    goOn(attempts.begin(caller, destination, context, timeout, code, surroundings, turn), turn)
  }

  /// Ends our own invitation before its answer.
  mutating func withdraw(_ command: CommandID, _ ending: Ending, _ turn: Turn) {
    if let association = associations.inviting(by: command) {
      negotiate(.withdrawn(ending), association, turn)
    } else if let link = attempts.withdraw(command, ending, surroundings, turn) {
      end(link, ending, turn)
    }
  }

  /// Cancels our own invitation, or our acceptance of a peer's invitation, by a command.
  mutating func cancelInvitation(_ id: CommandID, _ attempt: CommandID, _ turn: Turn) {
    if let association = associations.accepting(by: attempt) {
      negotiate(.acceptanceCancelled, association, turn)
    } else {
      withdraw(attempt, Ending(.cancelled, .us), turn)
    }
    turn.reply(id, .done)
  }

  // MARK: Attempts

  /// Continues the invitation of an attempt on the association that it has led to.
  mutating func goOn(_ arrival: InvitationAttempts.Arrival?, _ turn: Turn) {
    guard let arrival, turn.introduced.accepts(arrival, turn) else { return }
    negotiate(.invited(arrival.invitation), arrival.association, turn)
  }

  /// Continues the attempt that waits for this node, whose association has begun.
  mutating func associationBegan(_ association: Association, _ turn: Turn) {
    guard let arrival = attempts.associationBegan(association, turn) else {
      return follow(.tryNow(association.node), turn)
    }
    goOn(arrival, turn)
    attempts.failOthers(to: association.node, turn)
  }

  // MARK: Membership

  /// Passes a fact about invitations to an association, and carries out its request.
  mutating func negotiate(_ fact: InvitationFact, _ association: Association, _ turn: Turn) {
    let hadPlace = association.holdsPlace
    let request = association.negotiate(fact, admission.groupView(associations), turn)
    if association.holdsPlace != hadPlace { turn.placesChanged() }
    follow(request, of: association, turn)
  }

  /// Passes a fact about invitations to the association that asked the driver for something under this number.
  mutating func negotiate(_ fact: InvitationFact, awaiting id: CodeID, _ turn: Turn) {
    if let association = associations.awaiting(id) { negotiate(fact, association, turn) }
  }

  /// Carries out the request of an association on the way to membership.
  mutating func follow(_ request: MembershipRequest?, of association: Association, _ turn: Turn) {
    switch request {
    case .place(let entry):
      if make(admission.room(forMember: association.node, associations, turn), turn) {
        negotiate(.placeFound(entry), association, turn)
        if association.isMember { search(.linked, for: association.node, turn) }
      } else {
        negotiate(.noPlaceFound(entry), association, turn)
      }
    case .question(let other):
      // An invitation that waits in the queue has to make room.
      if let other { displace(questionOf: other, turn) }
      // A node whose introduction was accepted is not a question.
      follow(.tryNow(association.node), turn)
      tellQuestions(turn)
    case .breach(let error): if let link = association.link { breach(link, error, turn) }
    case nil: break
    }
  }

  /// Tells the application of the questions whose turn it is. A member has asked to compare codes; any other node has
  /// asked to become a member.
  mutating func tellQuestions(_ turn: Turn) {
    for remote in turn.takeQuestions() {
      guard let association = associations[remote] else { continue }
      if association.isMember { compare(.asked, association, turn) } else { negotiate(.asked, association, turn) }
    }
  }
}
