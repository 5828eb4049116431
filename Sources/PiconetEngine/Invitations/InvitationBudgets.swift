import PiconetWire

/// Limits what invitations may ask of us, and how often: which are put to the application, pauses after refusals, tries
/// of short codes and of typed ones. One value for all peers, since what they do together is limited too.
struct InvitationBudgets: Sendable {
  private var questions = QuestionQueue()
  /// For strangers whose codes are compared.
  private(set) var strangers = CodeTries()
  /// For the code that is set here.
  private var setCode = TypedCodeTries()
  /// For codes that were typed here.
  private var typedCodes = GivenCodeTries()

  /// - Parameter openQuestions: how many strangers the application is told of at a time.
  init(openQuestions: Int) { questions.limits.open = openQuestions }

  // MARK: Questions

  /// What becomes of an invitation that the application is to be told of.
  enum QuestionVerdict: Equatable, Sendable {
    case taken
    /// It is taken, and the waiting one of this node has to go, because its address has the most that wait.
    case instead(of: NodeID)
    /// It is refused for this reason, in words.
    case refused(String)
  }

  static let tooManyWait = "too many wait for an answer there"

  /// Adds an invitation, which stands until `expires`.
  /// - Parameter comparesCodes: a person compares its code, here or there.
  mutating func ask(
    _ node: NodeID, at host: String, isKnown: Bool, comparesCodes: Bool, until expires: Instant, _ now: Instant
  ) -> QuestionVerdict {
    var notBefore: Instant?
    if !isKnown, let refusal = strangers.refusal(node.peer, at: host, comparesCodes: comparesCodes, now) {
      // Soon after a refusal it waits until the pause is over, if it stands that long.
      guard case .pause(let left) = refusal, now + left < expires else { return .refused(refusal.words) }
      notBefore = now + left
    }
    return switch questions.add(node, at: host, isKnown: isKnown, notBefore: notBefore) {
    case .taken: .taken
    case .instead(let other): .instead(of: other)
    case .refused: .refused(Self.tooManyWait)
    }
  }

  /// The invitation is over, or is no longer before the application.
  mutating func removeQuestion(of node: NodeID) { questions.remove(node) }

  /// Until when the application may take to answer; nil: as long as the invitation stands.
  func questionEnds(of node: NodeID) -> Instant? { questions.deadline(of: node) }

  /// Whether a question may be due.
  var hasQuestions: Bool { questions.hasNews }

  /// Takes out the nodes whose invitations the application is told of now.
  mutating func takeQuestions(at now: Instant) -> [NodeID] { questions.takeNext(at: now) }

  /// When the next pause before a question ends.
  var nextDeadline: Instant? { questions.nextWake }

  /// Time has passed.
  mutating func deadlineReached(at now: Instant) { questions.wake(at: now) }

  // MARK: Short codes

  /// Why no more codes are compared with a stranger, in words; nil: they may be.
  func blocked(_ peer: ProvenPeer, _ now: Instant) -> String? {
    strangers.blocked(peer.node.peer, at: peer.traits.remoteHost, now)?.words
  }

  /// Why no exchange for a code begins with a stranger, in words; nil: it may.
  func refusalOfCode(_ peer: ProvenPeer, _ now: Instant) -> String? {
    strangers.refusalOfCode(peer.node.peer, at: peer.traits.remoteHost, now)?.words
  }

  /// An exchange for a code begins with a stranger. While it is under way it counts as a wrong code.
  mutating func began(_ id: CodeID, _ peer: ProvenPeer) {
    strangers.began(id, peer.node.peer, at: peer.traits.remoteHost)
  }

  /// The exchange is over, however it ended.
  mutating func ended(_ id: CodeID) { strangers.ended(id) }

  /// A question about the peer was answered with no, or not answered.
  mutating func refused(_ peer: ProvenPeer, _ now: Instant) {
    strangers.refused(peer.node.peer, at: peer.traits.remoteHost, now)
  }

  /// An attempt ended without membership after a nonce was given. If the person here said no, that is a refusal and no
  /// try: a guesser gains nothing from a code to which the answer was no.
  /// - Returns: who is refused from now on because of it, in words; nil if that changes nothing.
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

  /// A person here wants strangers to be listened to again, whatever codes were wrong.
  /// - Parameter digits: the first digits of a fingerprint, in lower case; empty: all strangers.
  mutating func forgive(_ digits: String) {
    let isMeant = { (key: PeerID) in key.description.hasPrefix(digits) }
    if digits.isEmpty { strangers.forgiveAll() } else { strangers.forgive(isMeant) }
    setCode.forgive(isMeant)
  }

  /// The same code was on both screens, or the peer has proven the typed one.
  mutating func matched(_ peer: PeerID) { strangers.matched(peer) }

  // MARK: Typed codes

  /// Sets another code by which this node can be invited, or none.
  mutating func set(_ code: TypedCodeID?) { setCode.set(code) }

  /// Whether a code was set: strangers have to prove it, and can't invite us otherwise.
  var isCodeSet: Bool { setCode.isSet }

  /// Counts a try of the code that is set, before anything is sent that shows whether it is right.
  mutating func beginTry(_ peer: ProvenPeer, _ now: Instant) -> Result<TypedCodeTries.Try, TypedCodeTries.Refusal> {
    setCode.begin(peer.node.peer, at: peer.traits.remoteHost, now)
  }

  mutating func wasRight(_ done: TypedCodeTries.Try) { setCode.wasRight(done) }

  /// - Returns: how many tries the code that is set has left.
  mutating func wasWrong(_ done: TypedCodeTries.Try, _ now: Instant) -> Int {
    let isOver = setCode.wasWrong(done, now)
    return isOver ? 0 : setCode.left
  }

  /// Whether a code that was typed here may be given to another peer.
  func allows(_ code: TypedCodeID) -> Bool { typedCodes.allows(code) }

  /// Another peer was wrong about a code that was typed here.
  mutating func wasWrong(_ code: TypedCodeID) { typedCodes.wasWrong(code) }
}
