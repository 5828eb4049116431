import PiconetEngine
import PiconetRuntime
import PiconetWire

/// Members, and messages to and from them.
extension NodeCore {
  var members: [Member] {
    let memberships = withState { $0.members.all }
    return memberships.map { Member(membership: $0, core: self) }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
  }

  func member(_ id: NodeID) -> Member? {
    withState { $0.members[id] }.map { Member(membership: $0, core: self) }
  }

  /// Returns the statistics of the connection to a member; nil if it has left.
  func statistics(of member: Member) async -> AssociationStatistics? {
    guard case .success(let statistics) = await answer(to: .inspect(member.id), of: member) else { return nil }
    return statistics
  }

  var peerStates: [NodeID: PeerState] { withState { $0.members.states } }

  // MARK: What the loop tells

  /// Notes that a reader has read all of these messages.
  func consumed(_ batch: MessageBatch) {
    guard batch.mode == .reliable, !batch.sender.isOver else { return }
    submit(.fact(.messagesConsumed(batch.sender.proven.id, byteCount: batch.cost, in: batch.channel)))
  }

  func messagesTaken(_ node: NodeID, cost: Int, in channel: MessageChannel) {
    withState { $0.members[node] }?.budgets[channel].giveBack(cost)
  }

  func connected(_ peer: ProvenPeer) {
    let membership = Membership(
      proven(peer), over: MemberRoute(peer.traits), budgets: MessageBudgets(limit: messageWindow))
    let invitation = withState { state in
      state.members.joined(membership)
      return state.invitations.take(peer.node)
    }
    if let invitation {
      // Answered, by `accept` or by our own invitation, for which nothing has to wait then.
      invitation.update { $0 = .joined(membership) }
      invitation.finish()
      invitations.remove { $0.state === invitation }
    }
    end(introductionOf: peer.node, with: .joined(membership))
    tell(withState { $0.introductionHistory.joined(peer.node) }, of: peer.node)
    log.push(membership, .joined)
  }

  func disconnected(_ node: NodeID, _ ending: Ending) {
    let error = PiconetError(ending, peer: node)
    guard let membership = withState({ $0.members.left(node) }) else { return }
    membership.end(error)
    // Streams that have not been taken go with the member.
    log.removeStreams { $0.member.membership === membership }
    log.push(membership, .left(error))
  }

  func suspended(_ node: NodeID, _ ending: Ending) {
    guard let membership = withState({ $0.members[node] }) else { return }
    membership.isReached(over: nil)
    log.push(membership, .suspended(PiconetError(ending, peer: node)))
  }

  func resumed(_ node: NodeID, over traits: LinkTraits) {
    guard let membership = withState({ $0.members[node] }) else { return }
    let wasSuspended = membership.transport == nil
    membership.isReached(over: MemberRoute(traits))
    log.push(membership, wasSuspended ? .resumed(traits.kind) : .moved(traits.kind))
  }

  func stateChanged(_ node: NodeID, _ name: String, _ condition: PeerCondition) {
    let peerState = PeerState(condition, peer: node)
    withState { $0.members.changed(node, to: peerState) }
    stateChanges.push(PeerStateChange(peer: node, name: name, state: peerState))
  }
}
