import PiconetWire

/// The comparisons of a short code between two members. One asks, both exchange nonces as for an invitation, and both
/// users say whether they see the same code. There is one comparison at a time. This is a machine: it takes facts and
/// returns the steps for its association.
struct Comparisons {
  /// What a comparison needs to know about the remote side, lent for one fact.
  struct Remote {
    let peer: ProvenPeer
    /// The active link.
    let link: LinkID?
    /// Whether we are leaving. In that case nothing is sent any more, and nothing counts.
    let isLeaving: Bool

    var node: NodeID { peer.node }
  }

  /// What the association has to do.
  enum Step: Sendable {
    case send(Comparison)
    /// Both users have seen this code.
    case succeeded(code: String)
  }

  private var current: CodeComparison? { didSet { watch.changed() } }
  /// The steps that this fact has led to so far.
  private var steps: [Step] = []
  /// How long we wait for the remote side's word after our time is up.
  private let grace: Duration
  /// Told of changes to what `nextDeadline` depends on.
  private let watch: DeadlineWatch

  init(_ configuration: EngineConfiguration, _ watch: DeadlineWatch) {
    grace = configuration.leaveTimeout
    self.watch = watch
  }

  /// Whether no comparison is under way and neither side owes a word.
  var isIdle: Bool { current == nil }

  /// Whether an exchange of nonces bound to the link is under way, or its code is on a screen.
  var isOfLink: Bool { current?.exchange?.isTry == true }

  /// Returns whether the driver was asked for something under this number, and its answer still counts.
  func awaits(_ id: CodeID) -> Bool { current?.awaits(id) ?? false }

  /// Returns whether this command waits for the outcome.
  func isWanted(by command: CommandID) -> Bool { current?.command == command }

  /// - Returns: the steps for the association, in this order, and then the request to the engine.
  mutating func handle(
    _ fact: ComparisonFact, _ remote: Remote, _ turn: Turn
  ) -> (steps: [Step], request: ComparisonRequest?) {
    defer { steps = [] }
    do throws(Breach) {
      let displaced = try take(fact, remote, turn)
      return (steps, displaced.map { .displaces($0) })
    } catch {
      return (steps, .breach(error))
    }
  }

  /// - Returns: the node whose question must leave the queue; nil if none must.
  private mutating func take(_ fact: ComparisonFact, _ remote: Remote, _ turn: Turn) throws(Breach) -> NodeID? {
    switch fact {
    case .wanted(let command, let time): want(command, time, remote, turn)
    case .cancelled: end(Ending(.cancelled, .us), remote, turn)
    case .answered(let command, let isSame, let reason): answered(command, isSame: isSame, reason, remote, turn)
    case .nonceDrawn(let id, let nonce): nonceDrawn(id, nonce, remote, turn)
    case .codeDerived(let id, let code): try derived(id, code, remote, turn)
    case .received(let word): if !remote.isLeaving { return try received(word, remote, turn) }
    case .asked: if let current, case .waiting = current.phase, current.ours == nil { beginExchange(remote, turn) }
    case .displaced: end(Ending(.limitExceeded, .us, InvitationBudgets.tooManyWait), remote, turn)
    case .timePassed: timePassed(remote, turn)
    case .linkLost: linkLost(remote, turn)
    case .ended(let ending):
      tellEnd(ending, remote, turn)
      current = nil
    }
    return nil
  }

  private mutating func received(_ word: Comparison, _ remote: Remote, _ turn: Turn) throws(Breach) -> NodeID? {
    switch word {
    case .ask(let timeout, let commitment): return try asked(timeout, commitment, remote, turn)
    case .nonce(let nonce): try receivedNonce(nonce, remote, turn)
    case .reveal(let nonce): try receivedReveal(nonce, remote, turn)
    case .same: try receivedSame(remote, turn)
    case .end(let reason, let detail): try receivedEnd(Ending(reason, .peer, detail), remote, turn)
    }
    return nil
  }

  // MARK: Questions

  private mutating func want(_ command: CommandID, _ time: Duration, _ remote: Remote, _ turn: Turn) {
    if let refusal = refusal(of: time, remote, turn) { return turn.reply(command, .failed(refusal)) }
    let expires = turn.now + time
    guard var asked = current else {
      current = CodeComparison(phase: .drawing(turn.drawNonce()), command: command, expires: expires)
      return
    }
    // The remote side wants the same. This is our answer to it, and our question does not have to wait.
    asked.command = command
    current = asked
    guard case .waiting = asked.phase else { return }
    turn.budgets.removeQuestion(of: remote.node)
    beginExchange(remote, turn)
  }

  private func refusal(of time: Duration, _ remote: Remote, _ turn: Turn) -> Ending? {
    guard time > .zero, time <= CodeComparison.longestTime else {
      return Ending(.limitExceeded, .us, "codes are compared for at most \(CodeComparison.longestTime.inWords)")
    }
    if let current, current.command != nil || !isAsked || isAnswered(current) {
      return Ending(.inProgress, .us, "a comparison with this peer is under way")
    }
    if remote.link == nil { return Invitations.noLink }
    return turn.budgets.blocked(remote.peer, turn.now).map { Ending(.limitExceeded, .us, $0) }
  }

  /// Returns whether our word is sent, and the comparison is over as far as the application knows.
  private func isAnswered(_ own: CodeComparison) -> Bool {
    switch own.ours {
    case nil: false
    case .same: own.exchange == nil
    case .ended: true
    }
  }

  /// Whether the remote side has asked for the present comparison.
  private var isAsked: Bool { current?.commitment.isEmpty == false }

  /// Handles a question of the remote side.
  private mutating func asked(
    _ timeout: UInt64, _ commitment: [UInt8], _ remote: Remote, _ turn: Turn
  ) throws(Breach) -> NodeID? {
    let time = Duration.milliseconds(Int64(clamping: min(timeout, 86_400_000)))
    let expires = turn.now + min(time, CodeComparison.longestTime)
    if current != nil {
      try crossed(commitment, expires, remote, turn)
      return nil
    }
    current = CodeComparison(phase: .waiting, expires: expires, commitment: commitment)
    // A known key gets no preference here: a peer that asks again and again has to wait.
    switch turn.budgets.ask(
      remote.node, at: remote.peer.traits.remoteHost, isKnown: false, comparesCodes: true, until: expires, turn.now)
    {
    case .taken: return nil
    case .instead(let other): return other
    case .refused(let words):
      end(Ending(.limitExceeded, .us, words), remote, turn)
      return nil
    }
  }

  /// Handles two questions that crossed: the question of the smaller node counts, and the other one is its answer.
  private mutating func crossed(
    _ commitment: [UInt8], _ expires: Instant, _ remote: Remote, _ turn: Turn
  ) throws(Breach) {
    guard var own = current, !isAsked, !own.hasCrossed, own.theirs == nil else {
      throw Breach("asks to compare codes beside another comparison")
    }
    switch own.phase {
    // Our question is not sent, and never will be.
    case .drawing: break
    case .asked:
      own.hasCrossed = true
      if turn.node < remote.node {
        current = own
        return
      }
    case .waiting, .exchanging: throw Breach("asks to compare codes beside another comparison")
    }
    own.commitment = commitment
    own.isNonceDue = false
    own.expires = min(own.expires, expires)
    own.phase = .waiting
    current = own
    if own.ours == nil { beginExchange(remote, turn) }
  }

  // MARK: Nonces

  /// Begins the exchange of nonces. Our question is on the screen as soon as the code is known.
  private mutating func beginExchange(_ remote: Remote, _ turn: Turn) {
    if let words = turn.budgets.refusalOfCode(remote.peer, turn.now) {
      return end(Ending(.limitExceeded, .us, words), remote, turn)
    }
    let exchange = CodeExchange(id: turn.drawNonce(), isInviter: false, phase: .drawing)
    turn.budgets.began(exchange.id, remote.peer)
    current?.phase = .exchanging(exchange)
  }

  private mutating func nonceDrawn(_ id: CodeID, _ nonce: CodeNonce?, _ remote: Remote, _ turn: Turn) {
    guard var own = current, own.awaits(id) else { return }
    switch own.phase {
    case .drawing:
      guard let nonce else { return end(Invitations.noRandomBytes, remote, turn) }
      own.phase = .asked(nonce)
      own.isNonceDue = true
      current = own
      let left = UInt64(max(0, (own.expires - turn.now).wholeNanoseconds / 1_000_000))
      steps.append(.send(.ask(timeout: left, commitment: nonce.commitment)))
    case .exchanging(var exchange):
      guard exchange.phase == .drawing else { return }
      guard let nonce, remote.link != nil else {
        return end(nonce == nil ? Invitations.noRandomBytes : Invitations.noLink, remote, turn)
      }
      exchange.nonce = nonce.bytes
      exchange.phase = .awaitingReveal(until: turn.now + CodeExchange.revealTime)
      own.phase = .exchanging(exchange)
      own.isRevealDue = true
      current = own
      steps.append(.send(.nonce(nonce.bytes)))
    case .asked, .waiting: break
    }
  }

  private mutating func receivedNonce(_ nonce: [UInt8], _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard var own = current, own.isNonceDue else { throw Breach("a nonce for no comparison") }
    own.isNonceDue = false
    current = own
    // The comparison was cancelled, as the remote side will soon see.
    guard own.ours == nil, case .asked(let committed) = own.phase, let link = remote.link else { return }
    let exchange = CodeExchange(id: turn.takeCodeID(), isInviter: true, phase: .deriving, nonce: committed.bytes)
    turn.budgets.began(exchange.id, remote.peer)
    current?.phase = .exchanging(exchange)
    steps.append(.send(.reveal(committed.bytes)))
    let inputs = CodeInputs(
      inviter: turn.node.peer, invited: remote.node.peer, inviterNonce: committed.bytes, invitedNonce: nonce,
      commitment: committed.commitment)
    turn.add(.deriveCode(exchange.id, link, inputs))
  }

  private mutating func receivedReveal(_ nonce: [UInt8], _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard var own = current, own.isRevealDue else { throw Breach("reveals a nonce that was not asked for") }
    own.isRevealDue = false
    defer { current = own }
    guard own.ours == nil, var exchange = own.exchange, let link = remote.link else { return }
    exchange.phase = .deriving
    own.phase = .exchanging(exchange)
    let inputs = CodeInputs(
      inviter: remote.node.peer, invited: turn.node.peer, inviterNonce: nonce, invitedNonce: exchange.nonce,
      commitment: own.commitment)
    turn.add(.deriveCode(exchange.id, link, inputs))
  }

  private mutating func derived(_ id: CodeID, _ code: String?, _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard var own = current, var exchange = own.exchange, exchange.id == id, exchange.phase == .deriving else { return }
    guard let code else { throw Breach("the revealed nonce is not the one that was committed to", .identity) }
    exchange.phase = .shown(code)
    own.phase = .exchanging(exchange)
    own.code = code
    current = own
    turn.deliver(.comparisonNeeded(remote.node, code: code))
  }

  // MARK: Words

  private mutating func answered(
    _ command: CommandID, isSame: Bool, _ reason: Reason, _ remote: Remote, _ turn: Turn
  ) {
    guard current?.code != nil, current?.ours == nil, !remote.isLeaving else {
      return turn.reply(command, .failed(Invitations.nothingToConfirm))
    }
    turn.reply(command, .done)
    guard isSame else { return end(Ending(reason, .us), remote, turn) }
    current?.ours = .same
    turn.budgets.removeQuestion(of: remote.node)
    steps.append(.send(.same))
    succeed(remote, turn)
  }

  private mutating func receivedSame(_ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let own = current, own.theirs == nil, own.ours != nil || own.isRevealed else {
      throw Breach("has compared what was not shown")
    }
    current?.theirs = .same
    if own.ours == .ended { current = nil }
    succeed(remote, turn)
  }

  /// Reports success if both users have seen the same code, even if our application was told that it took too long.
  private mutating func succeed(_ remote: Remote, _ turn: Turn) {
    guard let own = current, own.ours == .same, own.theirs == .same, let code = own.code else { return }
    current = nil
    if let exchange = own.exchange { turn.budgets.ended(exchange.id) }
    turn.budgets.matched(remote.node.peer)
    steps.append(.succeeded(code: code))
    turn.deliver(.codesCompared(remote.node, code: code))
    if let command = own.command { turn.reply(command, .done) }
  }

  private mutating func receivedEnd(_ ending: Ending, _ remote: Remote, _ turn: Turn) throws(Breach) {
    guard let own = current, own.theirs == nil else { throw Breach("ends a comparison that there is not") }
    if case .drawing = own.phase { throw Breach("ends a comparison that there is not") }
    if own.ours == nil { steps.append(.send(.end(ending.reason, detail: ""))) }
    tellEnd(ending, remote, turn)
    current = nil
  }

  // MARK: Endings

  /// Ends the comparison on our side, unless our word is sent: then the remote side has it, or will have it.
  private mutating func end(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    guard let own = current, own.ours != .ended else { return }
    tellEnd(ending, remote, turn)
    if own.ours == .same { return }
    if case .drawing = own.phase {
      current = nil
      return
    }
    steps.append(.send(.end(ending.reason, detail: ending.detail.prefix(utf8: WireLimits.detail))))
    current?.ours = .ended
    if own.theirs != nil { current = nil }
  }

  /// Tells our application that the comparison has failed, unless that was told before.
  private mutating func tellEnd(_ ending: Ending, _ remote: Remote, _ turn: Turn) {
    guard var own = current else { return }
    turn.budgets.removeQuestion(of: remote.node)
    let (exchange, command) = (own.exchange, own.command)
    if exchange != nil { own.phase = .waiting }
    own.command = nil
    current = own
    if let exchange { countEnd(of: exchange, ending, remote, turn) }
    // Nothing is reported twice.
    if exchange?.code != nil { turn.deliver(.comparisonEnded(remote.node, ending)) }
    if let command { turn.reply(command, .failed(ending)) }
  }

  /// Counts the end of an exchange without success. Once a nonce was given, this was one try of the code, unless the
  /// user here said no.
  private func countEnd(of exchange: CodeExchange, _ cause: Ending, _ remote: Remote, _ turn: Turn) {
    turn.budgets.ended(exchange.id)
    guard exchange.isTry, let words = turn.budgets.attemptEnded(cause, remote.peer, turn.now) else { return }
    let ending = Ending(.limitExceeded, .peer, words)
    turn.deliver(.peerRefused(remote.node, name: remote.peer.name, remote.peer.traits, ending, suppressed: 0))
  }

  private mutating func linkLost(_ remote: Remote, _ turn: Turn) {
    guard let own = current, own.ours == nil, own.exchange?.isTry == true else { return }
    end(Ending(.linkFailed, .link, "the connection was lost before both had compared the code"), remote, turn)
  }

  // MARK: Time

  /// Returns the time at which something is due if nothing happens before.
  func nextDeadline(_ remote: NodeID, _ budgets: InvitationBudgets) -> Instant? {
    guard let own = current else { return nil }
    switch own.ours {
    case nil: return [own.expires, budgets.questionEnds(of: remote), own.exchange?.revealEnds].compactMap { $0 }.min()
    // The application waits for the remote side's word.
    case .same: return own.exchange == nil ? nil : own.expires + grace
    case .ended: return nil
    }
  }

  private mutating func timePassed(_ remote: Remote, _ turn: Turn) {
    guard let due = nextDeadline(remote.node, turn.budgets), due <= turn.now else { return }
    if let until = current?.exchange?.revealEnds, until <= turn.now {
      let time = CodeExchange.revealTime.inWords
      let words = "the attempt broke off: the other side did not reveal its part of the code within \(time)"
      return end(Ending(.codeMismatch, .peer, words), remote, turn)
    }
    let isOurs = current?.ours == nil && current?.code != nil
    end(Ending(.timedOut, isOurs ? .us : .peer, "the codes were not compared in time"), remote, turn)
  }
}
