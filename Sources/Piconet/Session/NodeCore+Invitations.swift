import PiconetEngine
import PiconetRuntime
import PiconetWire

/// Invitations from others, and their questions to a person.
extension NodeCore {
  /// Whether the invitation waits for its answer.
  func isOpen(_ invitation: Invitation) -> Bool {
    withState { $0.invitations.isOpen(invitation.peer.id, invitation.state) }
  }

  func answered(_ invitation: Invitation) {
    withState { $0.invitations.answered(invitation.peer.id, invitation.state) }
  }

  // MARK: What the loop tells

  func inviting(_ command: CommandID) -> Inviting? { withState { $0.requests.inviting(command) } }

  func invited(_ peer: ProvenPeer, _ context: [UInt8], _ comparesCodes: Bool) {
    let member = proven(peer)
    if case .remembered = configuration.trust, !member.rights.contains(.push) {
      // We may send to it, and nothing more.
      return tell(.answerInvitation(member.id, accept: false, .declined))
    }
    let invitation = Invitation(
      id: makeNumber(), peer: member, context: context, comparesCodes: comparesCodes, core: self, state: Watched(nil))
    withState { $0.invitations.came(from: peer.node, invitation.state) }
    invitations.push(invitation)
  }

  func invitationEnded(_ node: NodeID, _ ending: Ending) {
    guard let invitation = withState({ $0.invitations.take(node) }) else { return }
    invitation.update { $0 = .failed(PiconetError(ending, peer: node)) }
    invitations.remove { $0.state === invitation }
  }

  func confirm(_ member: ProvenMember, _ code: String) {
    guard let ask = configuration.confirm else { return tell(.confirm(member.id, false, .identity)) }
    let number = makeNumber()
    withState { state in
      // Started under the lock, so that the task is noted before it can ask anything.
      let task = Task { [self] in
        let isSame = await ask(member, code)
        let isNo = configuration.isPlainNo?(member.id) ?? false
        tell(.confirm(member.id, isSame, isNo ? .declined : .codeMismatch))
        withState { $0.invitations.hasAsked(number) }
      }
      state.invitations.asks(number, task)
    }
  }
}
