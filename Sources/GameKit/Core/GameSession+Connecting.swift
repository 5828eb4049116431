import Foundation
import Piconet
import Synchronization

/// Connecting and disconnecting, and requests of other peers.
extension GameSession {
  /// The default timeout for connecting, and the longest time for which a request stands.
  private static let usualTimeout = 20.0
  private static let longestTimeout = 300.0
  /// The pause between two tries to invite a peer with which another invitation or connection is under way.
  private static let pause = Duration.milliseconds(100)

  func connect(to peerID: String, timeout seconds: TimeInterval) {
    let usable = seconds > 0 ? min(seconds, Self.longestTimeout) : Self.usualTimeout
    let timeout = Duration.milliseconds(Int64((usable * 1_000).rounded(.up)))
    state.withLock { state in
      guard let node = state.book.node(peerID), let entry = state.book[node] else {
        return tell([.failed(peer: peerID, GKSessionError(.peerNotFoundError))])
      }
      switch entry.phase {
      case .connected: break
      case .asking: accept(node, in: &state)
      case .leaving: state.book.again(node, timeout)
      case .connecting:
        // An attempt that was cancelled, and has not ended yet.
        if state.attempts[node]?.task.isCancelled ?? false { state.book.again(node, timeout) }
      case .apart: begin(node, timeout, in: &state)
      }
    }
  }

  private func begin(_ node: NodeID, _ timeout: Duration, in state: inout State) {
    tell(state.book.connecting(node))
    guard let own = state.node, let peer = state.sighted[node] else {
      return tell(state.book.attemptFailed(node, GKSessionError(.connectionFailedError, "The peer is not in sight.")))
    }
    let transports = state.transports
    let end = ContinuousClock.now + timeout
    attempt(node, in: &state) { () throws(PiconetError) in
      while true {
        do throws(PiconetError) {
          _ = try await own.invite(peer, timeout: max(.milliseconds(1), end - .now), transports: transports)
          return
        } catch  where error.code == .inProgress && end - .now > Self.pause {
          // Another member introduces the two at this moment: that succeeds, or leaves room for our attempt.
          guard (try? await ContinuousClock().sleep(for: Self.pause)) != nil else {
            throw PiconetError(.cancelled, blame: .us)
          }
        }
      }
    }
  }

  /// Answers an open request.
  private func accept(_ node: NodeID, in state: inout State) {
    guard let invitation = state.invitations.removeValue(forKey: node) else { return }
    tell(state.book.connecting(node))
    attempt(node, in: &state) { () throws(PiconetError) in _ = try await invitation.accept() }
  }

  private func attempt(
    _ node: NodeID, in state: inout State, _ body: @escaping @Sendable () async throws(PiconetError) -> Void
  ) {
    state.attemptCount += 1
    let number = state.attemptCount
    let task = Task {
      do throws(PiconetError) {
        try await body()
        ended(node, number, nil)
      } catch {
        ended(node, number, error)
      }
    }
    state.attempts[node] = Attempt(number: number, task: task)
  }

  /// - Parameter error: nil: the peer is a member, which the session's events report.
  private func ended(_ node: NodeID, _ number: Int, _ error: PiconetError?) {
    state.withLock { state in
      // The attempt may have made the peer a member that has left again, and another attempt may be under way.
      guard !state.isClosed, state.attempts[node]?.number == number else { return }
      state.attempts[node] = nil
      // The peer is connected by its own request, or another member introduced it. The session's events report it, or
      // have reported it.
      guard let error, error.code != .alreadyConnected else { return }
      tell(state.book.attemptFailed(node, GKSessionError(error)))
      resume(node, in: &state)
    }
  }

  /// Begins a connection that was requested while the previous one was ending.
  func resume(_ node: NodeID, in state: inout State) {
    if let timeout = state.book.takeAgain(node) { begin(node, timeout, in: &state) }
  }

  func cancelConnect(to peerID: String) {
    let attempt = state.withLock { state -> Task<Void, Never>? in
      guard let node = state.book.node(peerID) else { return nil }
      state.book.again(node, nil)
      return state.book[node]?.phase == .connecting ? state.attempts[node]?.task : nil
    }
    attempt?.cancel()
  }

  // MARK: Requests of others

  func invited(_ invitation: Invitation) {
    let node = invitation.peer.id
    state.withLock { state in
      switch state.book[node]?.phase {
      case .connecting:
        // We have invited it as well: that is our answer.
        Task { _ = try? await invitation.accept() }
        return
      case .connected, .leaving:
        // A former membership is over, which the session's events have yet to report. Or this invitation has made the
        // peer a member already, and ends with that.
        state.invitations[node] = invitation
      case .asking, .apart, nil:
        state.invitations[node] = invitation
        ask(about: invitation, in: &state)
      }
    }
    Task {
      let error = await invitation.ended()
      state.withLock { state in
        if state.invitations[node]?.id == invitation.id { state.invitations[node] = nil }
        if let error { tell(state.book.requestEnded(invitation.id, of: node, GKSessionError(error))) }
      }
    }
  }

  func ask(about invitation: Invitation, in state: inout State) {
    let peer = invitation.peer
    let claim = SessionSettings.peerID(String(decoding: peer.greeting, as: UTF8.self))
    tell(state.book.asked(peer.id, name: peer.name, claim: claim, id: invitation.id))
  }

  func accept(from peerID: String) throws {
    try state.withLock { state in
      guard let node = state.book.node(peerID), let entry = state.book[node] else {
        throw state.book.ending(peerID) ?? GKSessionError(.peerNotFoundError)
      }
      switch entry.phase {
      case .asking: accept(node, in: &state)
      case .connected, .connecting: break
      case .apart, .leaving:
        throw entry.ending ?? GKSessionError(.invalidParameterError, "This peer has not asked for a connection.")
      }
    }
  }

  func deny(from peerID: String) {
    let invitation = state.withLock { state -> Invitation? in
      guard let node = state.book.node(peerID), let invitation = state.invitations.removeValue(forKey: node) else {
        return nil
      }
      tell(state.book.denied(node))
      return invitation
    }
    if let invitation { Task { await invitation.decline() } }
  }

  // MARK: Leaving

  func remove(_ peerID: String) {
    let (node, member) = state.withLock { state -> (Node?, Member?) in
      guard let id = state.book.node(peerID), let member = state.members[id] else { return (nil, nil) }
      state.book.leaving(id)
      return (state.node, member)
    }
    guard let node, let member else { return }
    Task {
      await delivered(to: [member.id], within: Self.lastWords)
      try? await node.session.remove(member)
    }
  }

  func leaveAll() {
    let (node, members) = state.withLock { state in
      for id in state.members.keys { state.book.leaving(id) }
      return (state.node, Array(state.members.values))
    }
    guard let node else { return }
    Task {
      await delivered(to: members.map(\.id))
      await node.session.disconnect(members)
    }
  }
}
