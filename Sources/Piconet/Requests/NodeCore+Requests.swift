import PiconetEngine
import PiconetRuntime
import PiconetWire

/// Requests to the loop, and its answers.
extension NodeCore {
  static let hasLeft = Ending(.noSuchAssociation, .us, "it has left")

  static let taskCancelled = Ending(.cancelled, .us, "the calling task was cancelled")

  /// Submits a command without waiting for its reply.
  func tell(_ command: Command) { submit(.fact(.commanded(makeCommand(), command))) }

  /// Submits a request and waits for its answer.
  func answer<Answer>(to request: Request<Answer>) async -> Result<Answer, Ending> {
    await answer(to: request, if: nil, otherwise: Self.hasLeft)
  }

  /// Submits a request about a member and waits for its answer. The loop refuses it if this membership is over by the
  /// time it takes the request.
  func answer<Answer>(to request: Request<Answer>, of member: Member) async -> Result<Answer, Ending> {
    await answer(to: request, if: { !member.membership.isOver }, otherwise: Self.hasLeft)
  }

  /// - Parameters:
  ///   - isWanted: checked on the loop, where memberships and invitations begin and end. A peer that has left may have
  ///     come back while the request was on its way, and is then another member.
  ///   - refusal: the answer if `isWanted` returns false.
  func answer<Answer>(
    to request: Request<Answer>, if isWanted: (@Sendable () -> Bool)?, otherwise refusal: Ending
  ) async -> Result<Answer, Ending> {
    let outcome = Outcome<Result<Answer, Ending>>()
    if request.isSkippedIfCancelled, Task.isCancelled { return .failure(Self.taskCancelled) }
    let id = hand(over: request, if: isWanted, otherwise: refusal) { outcome.end($0) }
    // The cancellation is queued behind the request, even if the task is cancelled already.
    return await withTaskCancellationHandler {
      guard case .leaving = request.cancellation else { return await outcome.wait() }
      if let result = await outcome.waitUnlessCancelled() { return result }
      _ = withState { $0.requests.take(id) }
      return .failure(Self.taskCancelled)
    } onCancel: {
      switch request.cancellation {
      case .none: break
      case .by(let command), .leaving(let command): tell(command(id))
      }
    }
  }

  /// Submits a request.
  /// - Parameter done: called once: on the loop; or on any thread if the node is ending or has ended.
  @discardableResult
  func hand<Answer>(
    over request: Request<Answer>, if isWanted: (@Sendable () -> Bool)?, otherwise refusal: Ending,
    done: @escaping @Sendable (Result<Answer, Ending>) -> Void
  ) -> CommandID {
    let id = makeCommand()
    let pending = PendingRequests.Pending(
      replied: { done(request.result(of: $0)) }, failed: { done(.failure($0)) }, inviting: request.inviting)
    let isTaken = withState { state in
      if !state.isClosed { state.requests.add(id, pending) }
      return !state.isClosed
    }
    guard isTaken else {
      done(.failure(Ending(.shuttingDown, .us)))
      return id
    }
    let input = request.input(id) { [self] answer in
      if withState({ $0.requests.take(id) }) != nil { done(.success(answer)) }
    }
    if let isWanted {
      submit(.conditional(input, isWanted, refused: { [self] in replied(id, .failed(refusal)) }))
    } else {
      submit(input)
    }
    return id
  }

  func replied(_ command: CommandID, _ reply: Reply) {
    let pending = withState { $0.requests.take(command) }
    pending?.replied(reply)
  }
}
