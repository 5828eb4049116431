import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A request to the loop, with the type of its answer. The functions below are the only way to make one. Each chooses a
/// command together with the code that reads the reply, so no caller can pair them wrongly.
///
/// In the engine, too, a reply has the type of its command's result (`Caller`). The two meet by the command's number
/// alone, and no type ensures that they mean the same kind by one command. The simulator therefore compares each reply
/// with its command in every seed, and `result(of:)` checks it once more.
struct Request<Answer: Sendable>: Sendable {
  /// What happens to the request when the waiting task is cancelled.
  enum Cancellation: Sendable {
    /// The task continues to wait.
    case none
    /// This command ends the request; the reply to the request then comes.
    case by(@Sendable (CommandID) -> Command)
    /// Like `by`, but the task does not wait for that reply: the result of the request is dropped.
    case leaving(@Sendable (CommandID) -> Command)
  }

  /// The input to submit under this number. `answer` is for questions to the driver; the engine replies by number.
  let input: @Sendable (CommandID, _ answer: @escaping @Sendable (Answer) -> Void) -> NodeInput
  /// Reads the answer from a reply; nil if the reply is of another command's kind.
  private let answer: @Sendable (Reply) -> Answer?
  var cancellation = Cancellation.none
  /// Whether a request of a task that is cancelled already is not even begun. If false, it is begun and ended, which
  /// some callers rely on: a stream that a cancelled task finishes is given up.
  var isSkippedIfCancelled = false
  /// The callbacks for its progress, if it is an invitation.
  var inviting: Inviting?

  fileprivate init(_ command: Command, _ answer: @escaping @Sendable (Reply) -> Answer?) {
    self.init(input: { id, _ in .fact(.commanded(id, command)) }, answer)
  }

  fileprivate init(
    input: @escaping @Sendable (CommandID, @escaping @Sendable (Answer) -> Void) -> NodeInput,
    _ answer: @escaping @Sendable (Reply) -> Answer?
  ) {
    self.input = input
    self.answer = answer
  }

  func result(of reply: Reply) -> Result<Answer, Ending> {
    if case .failed(let ending) = reply { return .failure(ending) }
    if let answer = answer(reply) { return .success(answer) }
    assertionFailure("\(reply) is no reply to this request")
    return .failure(Ending(.internalError, .us, "the engine's reply is of another command's kind"))
  }
}

/// Callbacks about an invitation of this node; called on the loop.
struct Inviting: Sendable {
  /// The peer is proven and has been asked.
  var proven: (@Sendable (ProvenMember) -> Void)?
  /// The code is on its screen.
  var code: (@Sendable (ProvenMember, String) -> Void)?
}

// MARK: Without a result

extension Request where Answer == Void {
  private init(_ command: Command) { self.init(command, Self.isDone) }

  private static func isDone(_ reply: Reply) -> Void? { if case .done = reply { () } else { nil } }

  static func setCode(_ code: TypedCodeID?) -> Self { Self(.setCode(code)) }
  static func setDisconnectTimeout(_ timeout: Duration) -> Self { Self(.setDisconnectTimeout(timeout)) }
  static func setName(_ name: String) -> Self { Self(.setName(name)) }
  static func shutDown() -> Self { Self(.shutDown) }
  static func expect(_ peer: PeerID, for duration: Duration) -> Self { Self(.expect(peer, for: duration)) }
  static func stopExpecting(_ peer: PeerID) -> Self { Self(.stopExpecting(peer)) }

  static func introduce(_ one: NodeID, to other: NodeID, timeout: Duration) -> Self {
    var request = Self(.introduce(one, to: other, timeout: timeout))
    request.cancellation = .by { .cancelIntroduction($0) }
    request.isSkippedIfCancelled = true
    return request
  }

  static func compareCodes(_ node: NodeID, timeout: Duration) -> Self {
    var request = Self(.compareCodes(node, timeout: timeout))
    request.cancellation = .by { .cancelComparison($0) }
    request.isSkippedIfCancelled = true
    return request
  }

  static func answer(introductionOf node: NodeID, accept: Bool, _ reason: Reason) -> Self {
    Self(.answerIntroduction(node, accept: accept, reason))
  }

  static func decline(invitationOf node: NodeID, _ reason: Reason) -> Self {
    Self(.answerInvitation(node, accept: false, reason))
  }

  static func leave(_ node: NodeID) -> Self { Self(.leave(node, .left)) }
  static func remove(_ node: NodeID) -> Self { Self(.remove(node)) }

  static func openStream(_ stream: StreamID, to node: NodeID, name: String) -> Self {
    Self(.openStream(stream, to: node, name: name))
  }

  static func finishStream(_ stream: StreamID) -> Self {
    var request = Self(.finishStream(stream))
    request.cancellation = .by { _ in .cancelStream(stream, .cancelled, detail: "") }
    return request
  }

  static func declineOffer(_ transfer: TransferID, _ reason: Reason, detail: String = "") -> Self {
    Self(.declineOffer(transfer, reason, detail: detail))
  }

  /// Accepts an offer whose first `offset` bytes the store has already.
  static func acceptOffer(_ transfer: TransferID, into store: any ResourceStore, offset: UInt64) -> Self {
    Self(input: { id, _ in .acceptOffer(id, transfer, store, offset: offset) }, isDone)
  }
}

// MARK: With a result

// The member is looked up on the loop when the reply comes, where it certainly is a member. By the time that the caller
// runs it may have left and come back as another one.
extension Request where Answer == Member {
  /// Yields the peer that has accepted.
  static func invite(
    _ target: InvitationTarget, context: [UInt8], timeout: Duration, code: TypedCodeID?, _ inviting: Inviting,
    from core: NodeCore
  ) -> Self {
    var request = Self(.invite(target, context: context, timeout: timeout, code: code)) { reply in
      if case .connected(let node) = reply { core.member(node) } else { nil }
    }
    request.cancellation = .by { .cancelInvitation($0) }
    request.isSkippedIfCancelled = true
    request.inviting = inviting
    return request
  }

  /// Yields the peer that has invited.
  static func accept(invitationOf node: NodeID, by core: NodeCore) -> Self {
    var request = Self(.answerInvitation(node, accept: true, .left)) { reply in
      if case .done = reply { core.member(node) } else { nil }
    }
    request.cancellation = .by { .cancelInvitation($0) }
    return request
  }
}

extension Request where Answer == String {
  /// Yields the short code.
  static func showCode(_ node: NodeID) -> Self {
    Self(.showCode(node)) { reply in if case .code(let code) = reply { code } else { nil } }
  }
}

extension Request where Answer == Duration {
  /// Yields the round trip.
  static func ping(_ node: NodeID, timeout: Duration) -> Self {
    var request = Self(.ping(node, timeout: timeout)) { reply in
      if case .roundTrip(let duration) = reply { duration } else { nil }
    }
    request.cancellation = .leaving { .cancelPing($0) }
    request.isSkippedIfCancelled = true
    return request
  }
}

extension Request where Answer == AssociationStatistics? {
  /// Yields the statistics of the connection to a peer; nil if there is no connection.
  static func inspect(_ node: NodeID) -> Self { Self(input: { .inspect(node, answer: $1) }, { _ in nil }) }
}

extension Request where Answer == StoredResource {
  /// Yields the result on the remote side.
  static func offer(
    _ transfer: TransferID, to node: NodeID, _ offer: ResourceOffer, from source: any ResourceSource
  ) -> Self {
    Self(input: { id, _ in .offer(id, transfer, node, offer, source) }) { reply in
      if case .stored(let name, let wasAlreadyPresent) = reply {
        StoredResource(name: name, wasAlreadyPresent: wasAlreadyPresent)
      } else {
        nil
      }
    }
  }
}
