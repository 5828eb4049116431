import Piconet
import Synchronization

/// The program's answer to one invitation, given once. An inviter whose link broke before it had the answer comes back
/// with the same invitation, and gets the same answer.
final class InvitationAnswer: Sendable {
  private enum Phase {
    /// The program is asked; the newest invitation is answered.
    case asking
    case declined(PiconetError.Code)
    case accepting(AsyncStream<Invitation>.Continuation)
    /// The inviter was told the address of this session.
    case accepted(SessionCore)
  }

  private struct State {
    var phase = Phase.asking
    var newest: Invitation
  }

  private let paper: InvitationPaper
  private let conversation: Conversation
  private let state: Mutex<State>
  /// How long an inviter may take to come back after its link broke.
  private static let repeatPatience = Duration.seconds(10)
  /// The longest time for an invitation without an answer, and for its inviter to come back.
  static let longestTime = Duration.seconds(310)

  /// - Parameter conversation: ended once no answer is expected any more.
  init(_ invitation: Invitation, _ paper: InvitationPaper, in conversation: Conversation) {
    self.paper = paper
    self.conversation = conversation
    state = Mutex(State(newest: invitation))
    watch(invitation)
  }

  /// Ends the conversation if the invitation ends before the program answers.
  private func watch(_ invitation: Invitation) {
    Task { [self] in
      let error = await invitation.ended()
      // The inviter does not come back if it has withdrawn the invitation, or if the invitation is too old.
      if let error, error.code != .cancelled, error.code != .timedOut, isAsking(about: invitation) {
        try? await Task.sleep(for: Self.repeatPatience)
      }
      if isAsking(about: invitation) { conversation.end() }
    }
  }

  private func isAsking(about invitation: Invitation) -> Bool {
    state.withLock { state in if case .asking = state.phase { state.newest.id == invitation.id } else { false } }
  }

  /// Takes the program's answer; all but the first are ignored.
  func give(_ isAccepted: Bool, _ session: MCSession?) {
    let core = isAccepted ? session?.core : nil
    let fits = core.map { PeerCard.fit(paper.card.encryption, $0.encryption) }
    let reason: PiconetError.Code? = core == nil ? .declined : fits == false ? .notWanted : nil
    let step: (invitation: Invitation, all: AsyncStream<Invitation>?)? = state.withLock { state in
      guard case .asking = state.phase else { return nil }
      if core != nil, reason == nil { return (state.newest, Self.beginAccepting(state.newest, &state.phase)) }
      state.phase = .declined(reason ?? .declined)
      return (state.newest, nil)
    }
    guard let step else { return }
    if let core, let invitations = step.all { return accept(invitations, for: core) }
    decline(step.invitation, reason ?? .declined)
    if fits == false {
      core?.currentRun().refuse(paper.card.peer, ControlMessage.Refusal.encryption.error(isOurs: true))
    }
  }

  private func decline(_ invitation: Invitation, _ reason: PiconetError.Code) {
    Task { [conversation] in
      await invitation.decline(reason)
      conversation.end()
    }
  }

  /// Notes that the inviter has come back.
  func invited(again invitation: Invitation) {
    enum Step {
      case wait
      case decline(PiconetError.Code)
      case accept(AsyncStream<Invitation>, SessionCore)
    }
    let step: Step? = state.withLock { state in
      state.newest = invitation
      switch state.phase {
      case .asking: return .wait
      case .declined(let reason): return .decline(reason)
      case .accepting(let invitations): invitations.yield(invitation)
      case .accepted(let core): return .accept(Self.beginAccepting(invitation, &state.phase), core)
      }
      return nil
    }
    switch step {
    case .wait: watch(invitation)
    case .decline(let reason): decline(invitation, reason)
    case .accept(let invitations, let core): accept(invitations, for: core)
    case nil: break
    }
  }

  private static func beginAccepting(_ invitation: Invitation, _ phase: inout Phase) -> AsyncStream<Invitation> {
    let (invitations, next) = AsyncStream.makeStream(of: Invitation.self, bufferingPolicy: .bufferingNewest(1))
    next.yield(invitation)
    phase = .accepting(next)
    return invitations
  }

  private func accept(_ invitations: AsyncStream<Invitation>, for core: SessionCore) {
    core.currentRun().accept(paper) { [self] in
      accepted()
    } _: { [self] place in
      defer { state.withLock { $0.phase = .accepted(core) } }
      var failure: PiconetError?
      for await invitation in invitations {
        do throws(PiconetError) {
          let member = try await invitation.accept()
          try await member.send(place.bytes)
          // What was sent arrives before the goodbye.
          return await member.disconnect()
        } catch {
          guard error.code == .linkFailed else {
            // Does nothing to an invitation that has ended; this session may have been left before it was accepted.
            decline(invitation, .declined)
            throw error
          }
          if failure == nil { endLater() }
          failure = error
        }
      }
      if failure == nil { decline(state.withLock { $0.newest }, .declined) }
      throw failure ?? PiconetError(.cancelled, blame: .us)
    }
  }

  /// Ends the wait because the session has answered. If the session was left before it could, the program's answer has
  /// become a no.
  private func accepted() {
    let unanswered: Invitation? = state.withLock { state in
      guard case .accepting = state.phase else { return nil }
      state.phase = .declined(.declined)
      return state.newest
    }
    if let unanswered { decline(unanswered, .declined) } else { conversation.end() }
  }

  /// Ends the conversation later: an inviter that has not come back by then does not come back any more.
  private func endLater() {
    let invitations: AsyncStream<Invitation>.Continuation? = state.withLock { state in
      if case .accepting(let invitations) = state.phase { invitations } else { nil }
    }
    Task {
      try? await Task.sleep(for: Self.repeatPatience)
      invitations?.finish()
    }
  }
}
