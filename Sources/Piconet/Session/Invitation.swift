import PiconetEngine
import PiconetWire

/// A peer that wants us in a session: to be accepted or declined before it expires.
public struct Invitation: Sendable, Identifiable {
  /// Who invites, proven.
  public let peer: ProvenMember
  /// The inviter's free data: not to be trusted before the peer is.
  public let context: [UInt8]
  let core: NodeCore
  let state: Watched<PiconetError?>

  /// The inviter's.
  public var id: NodeID { peer.id }

  /// Accepts.
  /// - Throws: why the invitation has ended meanwhile, `notConnected` if it was answered before, `full`.
  public func accept() async throws(PiconetError) -> Member {
    // The peer may have invited anew since, with another context: that is another invitation.
    guard core.isOpen(self) else {
      // Our own invitation may have been the answer.
      if state.value == nil, let member = core.member(peer.id) { return member }
      throw state.value ?? PiconetError(.notConnected, peer: peer.id, blame: .us, detail: "answered already")
    }
    switch await core.command(.answerInvitation(peer.id, accept: true, .left)) {
    case .failed(let ending):
      core.answered(self)
      state.finish()
      throw state.value ?? PiconetError(ending, peer: peer.id)
    case .done, .connected, .stored, .roundTrip:
      guard let member = core.member(peer.id) else { throw PiconetError(.notConnected, peer: peer.id, blame: .peer) }
      return member
    }
  }

  /// Declines, with the reason that the inviter is told: `declined`, or `codeMismatch` if the screens show different codes.
  public func decline(_ code: PiconetError.Code = .declined) async {
    guard core.isOpen(self) else { return }
    core.answered(self)
    state.finish()
    _ = await core.command(.answerInvitation(peer.id, accept: false, code.reason))
  }

  /// Waits until the invitation ends without an answer of ours: withdrawn, expired, connection lost. Nil if it was answered
  /// here, the task is cancelled or the node stops.
  public func ended() async -> PiconetError? {
    var version: UInt64 = 1
    while let (value, next) = await state.next(after: version, isolation: nil) {
      if let value { return value }
      version = next
    }
    return nil
  }
}
