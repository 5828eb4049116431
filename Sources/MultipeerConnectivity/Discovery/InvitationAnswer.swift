import Piconet
import Synchronization

/// What a program answers to one invitation, once. An inviter whose link broke before it had the answer comes again
/// with the same paper, and is given the same answer.
final class InvitationAnswer: Sendable {
  private enum Phase {
    /// Of the program; the newest invitation is answered.
    case asking(Invitation)
    case declined(PiconetError.Code)
    case accepting(AsyncStream<Invitation>.Continuation)
    /// This session's place was said.
    case accepted(SessionCore)
  }

  private let paper: InvitationPaper
  private let phase: Mutex<Phase>
  /// For an inviter to come again after its link broke.
  private static let repeatPatience = Duration.seconds(10)

  init(_ invitation: Invitation, _ paper: InvitationPaper) {
    self.paper = paper
    phase = Mutex(.asking(invitation))
  }

  /// The program's answer; all but the first are ignored.
  func give(_ isAccepted: Bool, _ session: MCSession?) {
    let core = isAccepted ? session?.core : nil
    let fits = core.map { PeerCard.fit(paper.card.encryption, $0.encryption) }
    let reason: PiconetError.Code? = core == nil ? .declined : fits == false ? .notWanted : nil
    let step: (invitation: Invitation, all: AsyncStream<Invitation>?)? = phase.withLock { phase in
      guard case .asking(let invitation) = phase else { return nil }
      if core != nil, reason == nil { return (invitation, Self.beginAccepting(invitation, &phase)) }
      phase = .declined(reason ?? .declined)
      return (invitation, nil)
    }
    guard let step else { return }
    if let core, let invitations = step.all { return accept(invitations, for: core) }
    Task { await step.invitation.decline(reason ?? .declined) }
    if fits == false {
      core?.currentRun().refuse(paper.card.peer, ControlMessage.Refusal.encryption.error(isOurs: true))
    }
  }

  /// The inviter has come again.
  func invited(again invitation: Invitation) {
    enum Step {
      case decline(PiconetError.Code)
      case accept(AsyncStream<Invitation>, SessionCore)
    }
    let step: Step? = phase.withLock { phase in
      switch phase {
      case .asking: phase = .asking(invitation)
      case .declined(let reason): return .decline(reason)
      case .accepting(let invitations): invitations.yield(invitation)
      case .accepted(let core): return .accept(Self.beginAccepting(invitation, &phase), core)
      }
      return nil
    }
    switch step {
    case .decline(let reason): Task { await invitation.decline(reason) }
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
    core.currentRun().accept(paper) { [self] place in
      defer { phase.withLock { $0 = .accepted(core) } }
      var failure: PiconetError?
      for await invitation in invitations {
        do throws(PiconetError) {
          let member = try await invitation.accept()
          try await member.send(place.bytes)
          // What was sent arrives before the goodbye.
          return await member.disconnect()
        } catch {
          guard error.code == .linkFailed else { throw error }
          if failure == nil { endLater() }
          failure = error
        }
      }
      throw failure ?? PiconetError(.cancelled, blame: .us)
    }
  }

  /// Who has not come again by then does not come any more.
  private func endLater() {
    let invitations: AsyncStream<Invitation>.Continuation? = phase.withLock { phase in
      if case .accepting(let invitations) = phase { invitations } else { nil }
    }
    Task {
      try? await Task.sleep(for: Self.repeatPatience)
      invitations?.finish()
    }
  }
}

/// The newest invitations of an advertiser, each with its answer.
struct KnownInvitations {
  private struct Key: Hashable {
    let inviter: PeerID
    let ticket: Ticket
  }

  static let limit = 256
  private var answers: [Key: InvitationAnswer] = [:]
  private var order: [Key] = []

  /// - Parameter inviter: the key that the inviter has proven; a ticket is nothing to anybody else.
  subscript(_ inviter: PeerID, _ ticket: Ticket) -> InvitationAnswer? {
    get { answers[Key(inviter: inviter, ticket: ticket)] }
    set {
      let key = Key(inviter: inviter, ticket: ticket)
      if answers[key] == nil, newValue != nil { order.append(key) }
      answers[key] = newValue
      if order.count > Self.limit { answers[order.removeFirst()] = nil }
    }
  }
}
