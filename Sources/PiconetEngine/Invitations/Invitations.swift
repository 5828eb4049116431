import PiconetWire

/// The invitations between two nodes, through which they become members of one session. They include the codes that are
/// compared or proven, and every end without membership. This is a machine: it takes facts and returns the steps for
/// its association.
struct Invitations {
  /// What an invitation needs to know about the remote side, lent for one fact.
  struct Remote {
    let peer: ProvenPeer
    /// The judgement of the trust policy on the last link.
    let judgement: TrustJudgement?
    /// Whether a member has introduced the peer. In that case its invitation waits until the application decides
    /// whether it wants the node, and then for our own invitation.
    let isIntroduced: Bool
    /// The active link.
    let link: LinkID?
    let isMember: Bool
    /// The number of its membership in this run.
    let membershipNumber: UInt64
    let isLeaving: Bool
    /// Whether our group yields to the peer's group if there are not enough places for all of both; nil if the peer has
    /// told of no group.
    let yields: Bool?

    var node: NodeID { peer.node }
  }

  /// A step for the association.
  enum Step: Sendable {
    case send(Frame)
    /// The two sides disagree, or may disagree, about whether they are members. Leaving makes them agree.
    case leave(Ending)
    case join(Agreement)
  }

  /// How the node became a member.
  struct Agreement: Sendable {
    /// The application data in the peer's own invitation.
    let context: [UInt8]?
    /// The short code that was on both screens.
    let code: String?
    /// Whether a typed code was proven.
    let isProven: Bool
    /// Our invitation, which has succeeded; nil if we sent none.
    let own: OutgoingInvitation?
    /// The command that accepted the peer's invitation; nil if none did.
    let accepting: CommandID?
  }

  /// How an invitation ends if there is no place in a session of pairs.
  private let sessionFull: Ending
  let leaveTimeout: Duration
  /// How long an inviter may take to admit a peer that has accepted, if no person compares codes and the link was lost
  /// meanwhile. The association may resume over another link. Without such a loss, the inviter answers at once.
  let admissionTime: Duration
  /// Whether the remote side supports typed codes.
  let provesCodes: Bool
  var state = InvitationState() { didSet { watch.changed() } }
  /// The time since which the peer has been neither a member nor invited.
  private(set) var idleSince: Instant { didSet { watch.changed() } }
  /// The steps that this fact has led to so far.
  private var steps: [Step] = []
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch, provesCodes: Bool, at now: Instant) {
    self.watch = watch
    sessionFull = configuration.full
    leaveTimeout = configuration.leaveTimeout
    admissionTime = min(
      configuration.disconnectTimeout + configuration.leaveTimeout, IncomingInvitation.longestTime)
    self.provesCodes = provesCodes
    idleSince = now
  }

  // MARK: Facts

  /// - Returns: the steps for the association, in this order, and then the request to the engine.
  mutating func handle(
    _ fact: InvitationFact, _ remote: Remote, _ turn: Turn
  ) -> (steps: [Step], request: MembershipRequest?) {
    defer { steps = [] }
    do throws(Breach) {
      let request = try take(fact, remote, turn)
      return (steps, request)
    } catch {
      return (steps, .breach(error))
    }
  }

  private mutating func take(
    _ fact: InvitationFact, _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    switch fact {
    case .invited(let invitation): return invite(invitation, remote, turn)
    case .withdrawn(let ending): withdrawInvitation(ending, remote, turn)
    case .timedOut: ownTimedOut(remote, turn)
    case .asked: ask(remote, turn)
    case .accepted(let command): return accept(command, remote, turn)
    case .declined(let command, let reason): decline(command, reason, remote, turn)
    case .acceptanceCancelled: cancelAcceptance(remote, turn)
    case .showing(let caller): showCode(caller, remote, turn)
    case .compared(let command, let isSame, let reason):
      return confirm(command, isSame: isSame, reason, remote, turn)
    case .nonceDrawn(let id, let nonce, let isFull): return nonceDrawn(id, nonce, isFull: isFull, remote, turn)
    case .codeDerived(let id, let code): return try codeDerived(id, code, remote, turn)
    case .codeProven(let id, let finding, let isFull):
      return try codeProven(id, finding, isFull: isFull, remote, turn)
    case .received(let frame, let hasRoom): return try received(frame, hasRoom: hasRoom, remote, turn)
    case .placeFound(let entry): enter(entry, remote, turn)
    case .noPlaceFound(let entry): findNoPlace(entry, remote, turn)
    case .displaced:
      let ending = Ending(.limitExceeded, .us, InvitationBudgets.tooManyWait)
      breakOff(ending, remote, turn)
      if state.isAnswering { withdrawInvitation(ending, remote, turn) }
    case .introductionEnded: return introductionEnded(remote, turn)
    }
    return nil
  }

  /// - Returns: the steps for the association, in this order.
  mutating func handle(_ cause: InvitationEnd, _ remote: Remote, _ turn: Turn) -> [Step] {
    defer { steps = [] }
    switch cause {
    case .leaving(let reason): drop(reason, remote, turn)
    case .linkLost: linkLost(remote, turn)
    case .associationEnded(let ending): end(ending, remote, turn)
    case .incomingTimedOut: timedOut(remote, turn)
    }
    return steps
  }

  private mutating func received(
    _ frame: InvitationFrame, hasRoom: Bool, _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> MembershipRequest? {
    switch frame {
    case .invite(let invite):
      guard try admits(remote) else { return nil }
      if hasRoom { return try received(invite, remote, turn) }
      // Nothing was tried, so the idle time of the association continues.
      send(.decline(.full, detail: full(remote).detail))
      withdrawCrossedByFull(invite, remote, turn)
    case .inviteByCode(let invite):
      guard try admits(remote) else { return nil }
      if hasRoom { try received(invite, remote, turn) } else { decline(full(remote), turn.now) }
    case .withdraw(let reason): receivedWithdraw(reason, remote, turn)
    case .codeReveal(let nonce): try receivedReveal(nonce, remote, turn)
    case .admit: return try receivedAdmission(remote)
    case .codeConfirm(let confirmation): try receivedProof(confirmation, remote, turn)

    case .accept: return try receivedAccept(remote, turn)
    case .decline(let reason, let detail): try receivedDecline(ended(byPeer: reason, detail, remote), remote, turn)
    case .codeNonce(let nonce): try receivedNonce(nonce, remote, turn)
    case .codeAnswer(let answer): try received(answer, remote, turn)
    }
    return nil
  }

  /// Returns how an invitation ends if there is no place. Of two groups, both sides name the same one as yielding.
  func full(_ remote: Remote) -> Ending {
    remote.yields.map { Ending(.full, $0 ? .us : .peer, Self.tooManyForBoth) } ?? sessionFull
  }

  /// Returns the ending for the peer's word. For `full`, the blame is on the side that yields.
  func ended(byPeer reason: Reason, _ detail: String, _ remote: Remote) -> Ending {
    guard reason == .full, let yields = remote.yields else { return Ending(reason, .peer, detail) }
    return Ending(reason, yields ? .us : .peer, detail)
  }

  private static let tooManyForBoth = "the group has no place for all members of both"

  // MARK: Steps

  mutating func send(_ frame: Frame) { steps.append(.send(frame)) }

  mutating func leave(_ ending: Ending) { steps.append(.leave(ending)) }

  /// Notes that the association is idle from now on if no invitation is left.
  mutating func idle(_ now: Instant) {
    if state.isIdle { idleSince = now }
  }

  // MARK: State for others

  /// Our invitation to the peer; nil if there is no such invitation.
  var own: OutgoingInvitation? { state.own }
  /// Whether the peer's invitation waits for our answer.
  var isInvited: Bool { state.incoming.map { $0.acceptance == nil } ?? false }
  /// Whether no invitation is open, apart from those that we have withdrawn.
  var isIdle: Bool { state.isIdle }
  /// Whether the peer may rely on a place that we have promised.
  var holdsPlace: Bool { state.holdsPlace }
  /// Whether a short code is under way, or on the screen.
  var isComparing: Bool { state.exchange != nil }
  /// The number of our invitations that have no answer yet.
  var unansweredCount: Int { state.unansweredCount }

  /// Returns whether the peer's invitation was accepted by this command, which has no reply yet.
  func isAccepted(by command: CommandID) -> Bool { state.incoming?.acceptance?.command == command }

  /// Returns whether the driver was asked for something under this number, and its answer still counts.
  func awaits(_ id: CodeID) -> Bool { state.awaits(id) }

  // MARK: Membership

  /// Lets the node in, since there is a place for it.
  private mutating func enter(_ entry: MembershipRequest.Entry, _ remote: Remote, _ turn: Turn) {
    switch entry {
    case .accepting(let acceptance): accept(as: acceptance, remote, turn)
    case .proven(let context):
      send(.accept)
      state.acceptedProven(context, expires: turn.now + leaveTimeout)
    case .confirming:
      guard let exchange = state.exchange else { return }
      state.confirmed(exchange)
      if exchange.isRemoteDone { admit(remote, turn) }
    case .accepted: admit(remote, turn)
    case .admitted: becomeMember(remote, turn)
    }
  }

  /// Turns the node away, since there is no place: it does not become a member, and is told.
  private mutating func findNoPlace(_ entry: MembershipRequest.Entry, _ remote: Remote, _ turn: Turn) {
    switch entry {
    case .accepting(.command(let command)): declineFull(command, remote, turn)
    case .accepting(.ownInvitation): if state.isAnswering { withdrawInvitation(full(remote), remote, turn) }
    case .accepting(.crossing):
      send(.decline(.full, detail: full(remote).detail))
      closeInvitation(full(remote), remote, turn)
      withdrawInvitation(full(remote), remote, turn)
    case .proven, .accepting(.code): declineProven(remote, turn)
    // The peer has accepted, and waits for our answer.
    case .confirming, .accepted, .admitted: withdrawInvitation(full(remote), remote, turn)
    }
  }

  private mutating func accept(as acceptance: IncomingInvitation.Acceptance, _ remote: Remote, _ turn: Turn) {
    guard let incoming = state.incoming else { return }
    send(.accept)
    state.accepted(incoming, acceptance, until: turn.now + leaveTimeout)
    // Our invitation, which would have crossed it, waits for its outcome.
    if let own = state.own, state.isCrossing { state.yield(own) }
    // The invitation is no longer before the application. If it does not show its code yet, it never will.
    turn.budgets.removeQuestion(of: remote.node)
    if state.exchange?.code == nil, let exchange = state.takeExchange() { endShowing(of: exchange, turn) }
  }

  /// Ends an exchange that was not a try.
  private func endShowing(of exchange: CodeExchange, _ turn: Turn) {
    turn.budgets.ended(exchange.id)
    for caller in exchange.showing { turn.reply(caller, .failed(Ending(.cancelled, .us, "answered already"))) }
  }

  /// Admits the peer that accepted our invitation. It is a member here, and we are one there.
  private mutating func admit(_ remote: Remote, _ turn: Turn) {
    send(.admit)
    becomeMember(remote, turn)
  }

  private mutating func becomeMember(_ remote: Remote, _ turn: Turn) {
    guard !remote.isMember else { return }
    let former = state.takeAll()
    turn.budgets.removeQuestion(of: remote.node)
    if let exchange = former.exchange {
      if exchange.isConfirmed { turn.budgets.matched(remote.node.peer) }
      endShowing(of: exchange, turn)
    }
    steps.append(
      .join(
        Agreement(
          context: former.remoteContext, code: former.exchange?.code, isProven: former.isProven, own: former.own,
          accepting: former.incoming?.command)))
  }

  // MARK: Endings

  /// Ends all invitations because we are leaving for this reason.
  private mutating func drop(_ reason: Reason, _ remote: Remote, _ turn: Turn) {
    endProof(Ending(reason, .us), remote, turn)
    guard let incoming = state.incoming else { return }
    if incoming.acceptance == nil { send(.decline(reason, detail: "")) }
    closeInvitation(Ending(reason, .us), remote, turn)
  }

  /// Ends all tries over the lost link, even if the association continues.
  private mutating func linkLost(_ remote: Remote, _ turn: Turn) {
    state.awaitAdmission(until: turn.now + admissionTime)
    if state.isTry {
      let ending = Self.brokenOff(Ending(.linkFailed, .link, "the connection was lost"))
      if state.isBesideAcceptance { failInvitation(ending, remote, turn) }
      switch state.own?.phase {
      case .invited, .answering: withdrawInvitation(ending, remote, turn)
      case .drawing, .crossing, .sharing, .proving, .proven, nil: breakOff(ending, remote, turn)
      }
    }
    let ending = Ending(.wrongCode, .link, "the attempt broke off: the connection was lost")
    endProof(ending, remote, turn)
    if state.own?.provesOnLink == true { withdrawInvitation(ending, remote, turn) }
  }

  private mutating func end(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    // Before both sides have compared the code, this counts as one try of it.
    let brokenOff = state.isTry ? Self.brokenOff(ending) : ending
    turn.budgets.removeQuestion(of: remote.node)
    endExchange(brokenOff, remote, turn)
    endProof(Ending(.wrongCode, ending.blame, "the attempt broke off: \(ending)"), isAnswered: false, remote, turn)
    if let incoming = state.takeIncoming() { tellEnd(of: incoming, brokenOff, remote, turn) }
    failInvitation(brokenOff, remote, turn)
  }

  // MARK: Deadlines

  /// Returns when something about invitations is due, if nothing happens before.
  func nextDeadline(_ remote: NodeID, _ budgets: InvitationBudgets) -> Instant? {
    let incoming = nextIncomingDeadline(remote, budgets)
    guard let own = state.own?.deadline else { return incoming }
    return incoming.map { min($0, own) } ?? own
  }

  /// Returns when the time of the peer's invitation, or of its proof, is up.
  func nextIncomingDeadline(_ remote: NodeID, _ budgets: InvitationBudgets) -> Instant? {
    [incomingDeadline(remote, budgets), state.proof?.until].compactMap { $0 }.min()
  }

  private mutating func timedOut(_ remote: Remote, _ turn: Turn) {
    if let proof = state.proof, proof.until <= turn.now {
      let words = "the attempt broke off: the code was not confirmed within \(CodeProof.time.inWords)"
      endProof(Ending(.wrongCode, .peer, words), remote, turn)
    } else {
      incomingTimedOut(remote, turn)
    }
  }
}

extension EngineConfiguration {
  /// How an invitation ends if there is no place.
  var full: Ending { Ending(.full, .us, "the session has \(capacity) members") }
}
