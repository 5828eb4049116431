import Piconet

/// Answers the senders that want to connect, one after the other, by the policy.
struct InvitationDesk: Sendable {
  let node: Node
  let console: Console
  let policy: AcceptPolicy
  /// As it was when the program began: for names that look like those of known devices.
  let naming: PeerNaming
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
    console.problem(
      "\(console.safe(refused.name)) (\(refused.fingerprint.shortDescription)) at \(console.safe(refused.remoteAddress)) "
        + "was turned away: \(console.safe(failure.message))\(Self.words(untold))")
  }

  private func answer() async {
    var declines = DeclinesToTell()
    for await invitation in node.invitations {
      switch policy {
      case .all: await accept(invitation, &declines)
      case .known:
        if invitation.peer.rights.contains(.push) {
          await accept(invitation, &declines)
        } else if invitation.peer.known != nil {
          let hint =
            "known, but it may not push: piconet trust allow \(invitation.peer.fingerprint.shortDescription) push"
          await decline(invitation, .declined, "not-allowed", hint, &declines)
        } else {
          let hint = "not known; accept it once with --accept ask, and it is"
          await decline(invitation, .declined, "not-known", hint, &declines)
        }
      case .ask: await ask(invitation, &declines)
      }
    }
  }

  private func accept(_ invitation: Invitation, _ declines: inout DeclinesToTell) async {
    do throws(PiconetError) {
      // Told when it joins the session.
      _ = try await invitation.accept()
    } catch {
      guard let untold = Self.take(invitation, &declines) else { return }
      console.note("\(describe(invitation)): \(console.safe(error.description))\(Self.words(untold))")
    }
  }

  /// How many were not told before this one; nil: this one isn't, either.
  private static func take(_ invitation: Invitation, _ declines: inout DeclinesToTell) -> Int? {
    let peer = invitation.peer
    // TCP has a port behind the address, Bluetooth a channel.
    let end = peer.transport == .tcp ? peer.remoteAddress.lastIndex(of: ":") : peer.remoteAddress.firstIndex(of: "/")
    return declines.take(
      peer.fingerprint, at: String(peer.remoteAddress[..<(end ?? peer.remoteAddress.endIndex)]), .now)
  }

  private static func words(_ untold: Int) -> String { untold > 0 ? "; so were \(untold) before" : "" }

  private func decline(
    _ invitation: Invitation, _ code: PiconetError.Code, _ word: String, _ why: String,
    _ declines: inout DeclinesToTell
  ) async {
    await invitation.decline(code)
    guard let untold = Self.take(invitation, &declines) else { return }
    console.tell(
      .declined(
        Event.Declined(
          peer: invitation.peer.fingerprint.description, name: invitation.peer.name, reason: word,
          untold: untold > 0 ? Int64(untold) : nil)))
    console.note("\(describe(invitation)) was declined: \(why)\(Self.words(untold))")
  }

  /// Asks the person, for as long as the invitation stands.
  private func ask(_ invitation: Invitation, _ declines: inout DeclinesToTell) async {
    guard let question = AcceptQuestion() else {
      return await decline(invitation, .declined, "declined", "nobody can be asked", &declines)
    }
    let known = invitation.peer.known?.standing ?? (invitation.peer.isKnown ? "known" : "not known yet")
    console.note(
      """
      \(describe(invitation)), \(known), wants to \(purpose).
      Code: \(invitation.peer.shortCode)   The other screen must show the same. 'yes' remembers it, 'once' does not.
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
    case .yes:
      await remember(invitation.peer)
      await accept(invitation, &declines)
    case .once: await accept(invitation, &declines)
    case .no: await decline(invitation, .declined, "declined", "you said no", &declines)
    case .codesDiffer:
      await decline(
        invitation, .codeMismatch, "code-mismatch", "the codes differ: somebody may be in between", &declines)
    // Nobody has said no: we end, or the terminal has gone.
    case .none: await invitation.decline(.cancelled)
    }
  }

  /// The person has compared the codes: the key is its device's, may come again, and may be sent to.
  private func remember(_ peer: ProvenMember) async {
    do throws(PiconetError) {
      try await node.remember(peer, confirmed: .code, rights: [.push, .send])
    } catch {
      // The person has said yes all the same.
      console.tellNotRemembered(peer, error)
    }
  }

  private func describe(_ invitation: Invitation) -> String {
    let peer = invitation.peer
    let imitated = peer.known == nil ? naming.imitated(peer.fingerprint, calledItself: peer.name) : nil
    return console.describe(peer) + (imitated.map { ", which is not the known '\(console.safe($0))'" } ?? "")
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
