import PiconetWire

/// Limits what invitations may ask of us, and how often: which reach the application, pauses after refusals, tries of
/// short codes and of typed ones. There is one value for all peers, since what they do together is limited too.
struct InvitationBudgets: Sendable {
  private var questions = QuestionQueue()
  /// Limits for strangers whose codes are compared.
  private(set) var strangers = CodeTries()
  /// Limits for the code that is set here.
  private var setCode = TypedCodeTries()
  /// Limits for codes that were typed here.
  private var typedCodes = GivenCodeTries()

  /// - Parameter openQuestions: how many strangers the application is told of at a time.
  init(openQuestions: Int) { questions.limits.open = openQuestions }

  // MARK: Questions

  /// The outcome for an invitation that the application should be told of.
  enum QuestionVerdict: Equatable, Sendable {
    case taken
    /// The question is taken. The waiting question of this node must go, because its address has the most waiting ones.
    case instead(of: NodeID)
    /// The question is refused for this reason, in words.
    case refused(String)
  }

  static let tooManyWait = "too many wait for an answer there"

  /// Adds an invitation, which stands until `expires`.
  /// - Parameter comparesCodes: whether a person compares its code, here or there.
  mutating func ask(
    _ node: NodeID, at host: String, isKnown: Bool, comparesCodes: Bool, until expires: Instant, _ now: Instant
  ) -> QuestionVerdict {
    var notBefore: Instant?
    if !isKnown, let refusal = strangers.refusal(node.peer, at: host, comparesCodes: comparesCodes, now) {
      // Soon after a refusal the question waits until the pause is over, if it stands that long.
      guard case .pause(let left) = refusal, now + left < expires else { return .refused(refusal.words) }
      notBefore = now + left
    }
    return switch questions.add(node, at: host, isKnown: isKnown, notBefore: notBefore) {
    case .taken: .taken
    case .instead(let other): .instead(of: other)
    case .refused: .refused(Self.tooManyWait)
    }
  }

  /// Removes an invitation that is over, or is no longer before the application.
  mutating func removeQuestion(of node: NodeID) { questions.remove(node) }

  /// Returns until when the application may take to answer; nil if it may do so as long as the invitation stands.
  func questionEnds(of node: NodeID) -> Instant? { questions.deadline(of: node) }

  /// Whether a question may be due.
  var hasQuestions: Bool { questions.hasNews }

  /// Takes out the nodes whose invitations the application is told of now.
  mutating func takeQuestions(at now: Instant) -> [NodeID] { questions.takeNext(at: now) }

  /// When the next pause before a question ends.
  var nextDeadline: Instant? { questions.nextWake }

  /// Ends the pauses that are over.
  mutating func deadlineReached(at now: Instant) { questions.wake(at: now) }

  // MARK: Short codes

  /// Returns why no more codes are compared with a stranger, in words; nil if they may be compared.
  func blocked(_ peer: ProvenPeer, _ now: Instant) -> String? {
    strangers.blocked(peer.node.peer, at: peer.traits.remoteHost, now)?.words
  }

  /// Returns why no exchange for a code begins with a stranger, in words; nil if it may begin.
  func refusalOfCode(_ peer: ProvenPeer, _ now: Instant) -> String? {
    strangers.refusalOfCode(peer.node.peer, at: peer.traits.remoteHost, now)?.words
  }

  /// Notes that an exchange for a code begins with a stranger. While it is under way it counts as a wrong code.
  mutating func began(_ id: CodeID, _ peer: ProvenPeer) {
    strangers.began(id, peer.node.peer, at: peer.traits.remoteHost)
  }

  /// Notes that the exchange is over, however it ended.
  mutating func ended(_ id: CodeID) { strangers.ended(id) }

  /// Counts a question about the peer that was answered with no, or not answered.
  mutating func refused(_ peer: ProvenPeer, _ now: Instant) {
    strangers.refused(peer.node.peer, at: peer.traits.remoteHost, now)
  }

  /// Counts an attempt that ended without membership after a nonce was given. If the person here rejected it, it counts
  /// as a refusal and not as a try. A guesser gains nothing from a rejected code.
  /// - Returns: who is refused from now on because of it, in words; nil if nothing changes.
  mutating func attemptEnded(_ ending: Ending, _ peer: ProvenPeer, _ now: Instant) -> String? {
    let (key, host) = (peer.node.peer, peer.traits.remoteHost)
    if ending.reason == .declined, ending.blame == .us {
      strangers.refused(key, at: host, now)
      return nil
    }
    let isWrong = (ending.reason == .codeMismatch || ending.reason == .identity) && ending.blame != .link
    let time = strangers.limits.blockTime.spoken
    return switch strangers.failed(key, at: host, isWrong: isWrong, now) {
    case .key(let count): "\(count) codes were wrong or broke off: it is not listened to for \(time)"
    case .address(let count):
      "\(count) codes from its address were wrong or broke off: no stranger there is listened to for \(time)"
    case .all(let count, let left):
      "\(count) codes of strangers were wrong or broke off: no stranger is listened to for \(left.spoken)"
    case nil: nil
    }
  }

  /// Forgives strangers their wrong codes, at the wish of a person here.
  /// - Parameter digits: the first digits of a fingerprint, in lower case; empty for all strangers.
  mutating func forgive(_ digits: String) {
    let isMeant = { (key: PeerID) in key.description.hasPrefix(digits) }
    if digits.isEmpty { strangers.forgiveAll() } else { strangers.forgive(isMeant) }
    setCode.forgive(isMeant)
  }

  /// Clears the peer's record: the same code was on both screens, or the peer has proven the typed one.
  mutating func matched(_ peer: PeerID) { strangers.matched(peer) }

  // MARK: Typed codes

  /// Sets another code by which this node can be invited, or none.
  mutating func set(_ code: TypedCodeID?) { setCode.set(code) }

  /// Whether a code was set. Strangers have to prove it, and can't invite us in any other way.
  var isCodeSet: Bool { setCode.isSet }

  /// Counts a try of the code that is set, before anything is sent that shows whether it is right.
  mutating func beginTry(_ peer: ProvenPeer, _ now: Instant) -> Result<TypedCodeTries.Try, TypedCodeTries.Refusal> {
    setCode.begin(peer.node.peer, at: peer.traits.remoteHost, now)
  }

  mutating func wasRight(_ done: TypedCodeTries.Try) { setCode.wasRight(done) }

  /// - Returns: how many tries are left for the code that is set.
  mutating func wasWrong(_ done: TypedCodeTries.Try, _ now: Instant) -> Int {
    let isOver = setCode.wasWrong(done, now)
    return isOver ? 0 : setCode.left
  }

  /// Returns whether a code that was typed here may be given to another peer.
  func allows(_ code: TypedCodeID) -> Bool { typedCodes.allows(code) }

  /// Counts another peer that was wrong about a code that was typed here.
  mutating func wasWrong(_ code: TypedCodeID) { typedCodes.wasWrong(code) }
}
