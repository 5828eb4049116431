import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A peer that wants us in a session: to be accepted or declined before it expires.
public struct Invitation: Sendable, Identifiable {
  /// Unique within the node: another invitation of the same peer has another one.
  public let id: UInt64
  /// Who invites, proven.
  public let peer: ProvenMember
  /// The inviter's free data: not to be trusted before the peer is.
  public let context: [UInt8]
  /// Codes have to be compared, by the inviter's trust policy or by ours: it can be accepted only once `showCode` has
  /// given its code.
  public let comparesCodes: Bool
  let core: NodeCore
  let state: Watched<InvitationOutcome?>

  /// The six digits to be compared with those on the inviter's screen, such as `042 917`. To be called when the
  /// question is on the screen, and not before: from then on this is one of the few tries that somebody in the middle
  /// has, and counts as a wrong code if nothing comes of it. Returns within about two seconds; called again it gives
  /// the same code.
  /// - Throws: why the invitation has ended meanwhile; `linkFailed` while the peer can't be reached, and the invitation
  ///   stands.
  public func showCode() async throws(PiconetError) -> String {
    switch await answer(to: .showCode(peer.id)) {
    case .success(let code): return code
    case .failure(let ending):
      if case .failed(let error) = state.value { throw error }
      throw PiconetError(ending, peer: peer.id)
    }
  }

  /// About this invitation: the peer may have invited anew since, which is another one. It is looked at on the loop,
  /// where they end.
  private func answer<Answer>(to request: Request<Answer>) async -> Result<Answer, Ending> {
    await core.answer(to: request, if: { core.isOpen(self) }, otherwise: Self.isOver)
  }

  private static let isOver = Ending(.noSuchAssociation, .us, "answered already")

  /// Accepts, and returns once the inviter has kept a place, too: after a round trip, and where its person compares
  /// the codes once that is done. One that never answers fails with `timedOut` after ten seconds; who would not have
  /// others wait for that accepts in a task of its own.
  ///
  /// An inviter that has left again by the time that this returns is given all the same, if it was a member: what it
  /// has sent can be read, and whatever is sent to it throws why it has left.
  /// - Throws: why the invitation has ended meanwhile, `notConnected` if it was answered before, `full`, `identity`
  ///   where the code has to be shown first, `codeMismatch` if the codes differ for the inviter, or the attempt broke
  ///   off.
  public func accept() async throws(PiconetError) -> Member {
    // The peer may have invited anew since, with another context: that is another invitation.
    guard core.isOpen(self) else {
      return try outcome(PiconetError(.notConnected, peer: peer.id, blame: .us, detail: "answered already"))
    }
    switch await answer(to: .accept(invitationOf: peer.id, by: core)) {
    case .success(let member): return member
    case .failure(let ending) where ending.reason == .identity && state.value == nil:
      // It stands.
      throw PiconetError(ending, peer: peer.id)
    case .failure(let ending):
      core.answered(self)
      state.finish()
      return try outcome(PiconetError(ending, peer: peer.id))
    }
  }

  /// What has become of it otherwise: our own invitation may have been the answer.
  private func outcome(_ error: PiconetError) throws(PiconetError) -> Member {
    switch state.value {
    case .joined(let membership): return Member(membership: membership, core: core)
    case .failed(let error): throw error
    case nil: throw error
    }
  }

  /// Declines, with the reason that the inviter is told: `declined`, or `codeMismatch` if the screens show different
  /// codes.
  public func decline(_ code: PiconetError.Code = .declined) async {
    guard core.isOpen(self) else { return }
    _ = await answer(to: .decline(invitationOf: peer.id, code.reason))
    core.answered(self)
    state.finish()
  }

  /// Waits until the invitation ends without an answer of ours: withdrawn, expired, connection lost. Nil if it was
  /// answered here, the task is cancelled or the node stops.
  public func ended() async -> PiconetError? {
    var version: UInt64 = 1
    while let (value, next) = await state.next(after: version, isolation: nil) {
      if case .failed(let error) = value { return error }
      version = next
    }
    return nil
  }
}

/// How an invitation of a peer's has ended, where that was not by an answer of this side's alone.
enum InvitationOutcome: Sendable {
  /// Withdrawn, expired, connection lost.
  case failed(PiconetError)
  /// The peer is a member: by `accept`, or because we have invited it at the same time.
  case joined(Membership)
}
