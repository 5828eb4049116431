import PiconetEngine
import PiconetRuntime
import PiconetWire

/// An invitation from a peer to its session: to be accepted or declined before it expires.
public struct Invitation: Sendable, Identifiable {
  /// Unique within the node: another invitation from the same peer has another id.
  public let id: UInt64
  /// The inviter, with its proven key.
  public let peer: ProvenMember
  /// The inviter's free data: not to be trusted before the peer is.
  public let context: [UInt8]
  /// Whether codes have to be compared, by the inviter's trust policy or by ours: such an invitation can be accepted
  /// only after `showCode` has returned its code.
  public let comparesCodes: Bool
  let core: NodeCore
  let state: Watched<InvitationOutcome?>

  /// Whether it waits for its answer.
  package var isOpen: Bool { core.isOpen(self) }

  /// Returns the six digits to be compared with those on the inviter's screen, such as `042 917`. Call it when the
  /// question is on the screen, and not before: it uses up one of the few tries that a man in the middle has, and
  /// counts as a wrong code if nothing comes of it. Returns within about two seconds; a second call returns the same
  /// code.
  /// - Throws: why the invitation has ended meanwhile; `linkFailed` while the peer can't be reached; the invitation
  ///   then stands.
  public func showCode() async throws(PiconetError) -> String {
    switch await answer(to: .showCode(peer.id)) {
    case .success(let code): return code
    case .failure(let ending):
      if case .failed(let error) = state.value { throw error }
      throw PiconetError(ending, peer: peer.id)
    }
  }

  /// Answers this invitation only: the peer may have invited again since, which is another invitation. Checked on the
  /// loop, where invitations end.
  private func answer<Answer>(to request: Request<Answer>) async -> Result<Answer, Ending> {
    await core.answer(to: request, if: { core.isOpen(self) }, otherwise: Self.isOver)
  }

  private static let isOver = Ending(.noSuchAssociation, .us, "answered already")

  /// Accepts, and returns once the inviter has a place for us, too. This takes a round trip or, if a person there
  /// compares the codes, until that is done. If the inviter never answers, this throws `timedOut` after ten seconds; to
  /// keep others from waiting for that, accept in a separate task. If the calling task is cancelled meanwhile, the
  /// inviter is told that we leave.
  ///
  /// An inviter that was a member, but has left again by the time this returns, is still returned. Its messages can be
  /// read, and sending to it throws the reason why it left.
  /// - Throws: why the invitation has ended meanwhile; `notConnected` if it was answered before; `full`; `identity` if
  ///   the code has to be shown first; `codeMismatch` if the inviter's side says that the codes differ, or the attempt
  ///   broke off; `cancelled` if the calling task was.
  @discardableResult
  public func accept() async throws(PiconetError) -> Member {
    // The peer may have invited again since, with another context: that is another invitation.
    guard core.isOpen(self) else {
      return try outcome(PiconetError(.notConnected, peer: peer.id, blame: .us, detail: "answered already"))
    }
    switch await answer(to: .accept(invitationOf: peer.id, by: core)) {
    case .success(let member): return member
    case .failure(let ending) where ending.reason == .identity && state.value == nil:
      // The invitation still stands.
      throw PiconetError(ending, peer: peer.id)
    case .failure(let ending):
      core.answered(self)
      state.finish()
      return try outcome(PiconetError(ending, peer: peer.id))
    }
  }

  /// Returns the member if the invitation ended by other means: our own invitation may have been the answer.
  private func outcome(_ error: PiconetError) throws(PiconetError) -> Member {
    switch state.value {
    case .joined(let membership): return Member(membership: membership, core: core)
    case .failed(let error): throw error
    case nil: throw error
    }
  }

  /// Declines. The inviter's call throws the same code.
  /// - Parameter code: why: `declined`, `codeMismatch` if the screens show different codes, `full` if the session has
  ///   no place, `notWanted`. A code that is not an answer to an invitation, such as `linkFailed`, is sent as
  ///   `declined`.
  public func decline(_ code: PiconetError.Code = .declined) async {
    guard core.isOpen(self) else { return }
    _ = await answer(to: .decline(invitationOf: peer.id, code.reason))
    core.answered(self)
    state.finish()
  }

  /// Renamed to `decline`.
  @available(*, unavailable, renamed: "decline")
  public func reject() async { await decline() }

  /// Waits until the invitation ends without an answer from this side: withdrawn, expired, connection lost. Nil if it
  /// was answered here, the task is cancelled or the node stops.
  public func ended() async -> PiconetError? {
    var version: UInt64 = 1
    while let (value, next) = await state.next(after: version, isolation: nil) {
      if case .failed(let error) = value { return error }
      version = next
    }
    return nil
  }
}

/// How a peer's invitation has ended, if not by this side's answer alone.
enum InvitationOutcome: Sendable {
  /// Withdrawn, expired, connection lost.
  case failed(PiconetError)
  /// The peer is a member: by `accept`, or because we have invited it at the same time.
  case joined(Membership)
}
