import Piconet

/// Answers the senders that want to connect, one after the other, by the policy.
struct InvitationDesk: Sendable {
  let node: Node
  let console: Console
  let policy: AcceptPolicy
  /// What a peer is after, for the question.
  var purpose = "send files"

  /// Until the task is cancelled or the node ends.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      // Beside the question, which may wait for its answer.
      group.addTask { for await refused in node.refusals { tell(refused) } }
      await answer()
      group.cancelAll()
    }
  }

  /// Whose key is not to be trusted never gets as far as an invitation.
  private func tell(_ refused: RefusedPeer) {
    let failure = TransferFailure(refused.error, on: .receiver)
    let untold = refused.untoldCount
    console.tell(
      .declined(
        Event.Declined(
          peer: refused.fingerprint.description, name: refused.name, reason: failure.word, message: failure.message,
          untold: untold > 0 ? Int64(untold) : nil)))
    let others = untold > 0 ? "; so were \(untold) before" : ""
    console.problem(
      "\(console.safe(refused.name)) (\(refused.fingerprint.shortDescription)) at \(console.safe(refused.remoteAddress)) "
        + "was turned away: \(console.safe(failure.message))\(others)")
  }

  private func answer() async {
    for await invitation in node.invitations {
      switch policy {
      case .all: await accept(invitation)
      case .known:
        if invitation.peer.isKnown {
          await accept(invitation)
        } else {
          let hint = "not known; accept it once with --accept ask, and it is"
          await decline(invitation, .declined, "not-known", hint)
        }
      case .ask: await ask(invitation)
      }
    }
  }

  private func accept(_ invitation: Invitation) async {
    do throws(PiconetError) {
      // Told when it joins the session.
      _ = try await invitation.accept()
    } catch {
      console.note("\(describe(invitation)): \(console.safe(error.description))")
    }
  }

  private func decline(
    _ invitation: Invitation, _ code: PiconetError.Code, _ word: String, _ why: String
  ) async {
    await invitation.decline(code)
    console.tell(
      .declined(
        Event.Declined(
          peer: invitation.peer.fingerprint.description, name: invitation.peer.name, reason: word)))
    console.note("\(describe(invitation)) was declined: \(why)")
  }

  /// Asks the person, for as long as the invitation stands.
  private func ask(_ invitation: Invitation) async {
    guard let question = AcceptQuestion() else {
      return await decline(invitation, .declined, "declined", "nobody can be asked")
    }
    let known = invitation.peer.isKnown ? "known" : "not known yet"
    console.note(
      """
      \(describe(invitation)), \(known), wants to \(purpose).
      Code: \(invitation.peer.shortCode)   The other screen must show the same.
      """, isQuestion: true)
    let answer = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // Nil also when we end: then there is nothing to ask any more either.
        let end = await invitation.ended()
        if let end { console.note("\(describe(invitation)) has gone: \(console.safe(end.description))") }
        question.cancel()
      }
      let answer = await onItsOwnThread { question.ask(console) }
      group.cancelAll()
      return answer
    }
    switch answer ?? .none {
    case .yes: await accept(invitation)
    case .no: await decline(invitation, .declined, "declined", "you said no")
    case .codesDiffer:
      await decline(
        invitation, .codeMismatch, "code-mismatch", "the codes differ: somebody may be in between")
    // Nobody has said no: we end, or the terminal has gone.
    case .none: await invitation.decline(.cancelled)
    }
  }

  private func describe(_ invitation: Invitation) -> String {
    "\(console.safe(invitation.peer.name)) (\(invitation.peer.fingerprint.shortDescription))"
  }
}

extension AcceptPolicy {
  /// `ask` needs somebody to ask: where there is no terminal, only known peers are accepted, after saying so.
  func possible(_ console: Console) -> AcceptPolicy {
    guard self == .ask, !AcceptQuestion.isPossible else { return self }
    console.note("There is no terminal to ask on: only known peers are accepted. Choose with --accept known or all.")
    return .known
  }
}
