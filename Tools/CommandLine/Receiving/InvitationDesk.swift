import Piconet
import PiconetTerminal

/// Answers senders that want to connect, one after the other, by the policy.
struct InvitationDesk: Sendable {
  let node: Node
  let console: Console
  let policy: AcceptPolicy
  /// The peers known now, to find names that look like those of known devices.
  let knownNow: @Sendable () -> PeerNaming
  /// What a peer wants, worded for the question.
  let purpose: String
  /// The right that a known peer needs to be let in without a question, as given to `piconet trust allow`.
  let right: String
  /// Where the files that a person has agreed to are noted; nil: what comes are not files.
  let consents: Consents?
  /// How much more can be stored, if files come.
  let freeSpace: @Sendable () -> Int64?
  /// The desktop that asks in place of a terminal; nil: a terminal does.
  let desktop: Desktop?
  /// Shows what files look like; nil: they are not shown.
  let thumbnails: ThumbnailDisplay?
  private let declines = Guarded(NoticeBudget())
  /// Codes that are shown without a question, since a person on the other side may compare as often as they like.
  private let codes = Guarded(NoticeBudget(of: NoticeBudget.memberBurst))
  /// Questions about known devices that did not end in a yes. The engine counts those about strangers.
  private let vain = Guarded(NoticeBudget())
  /// As it was at the last question, so that the table is not read for each thing that comes unasked.
  private let lastNaming: Guarded<PeerNaming>
  /// Peers that the person has said yes to in this run: the next question may come before the table has them. Bounded
  /// by how often a person says yes.
  private let taken = Guarded<[PeerID: String]>([:])

  init(
    node: Node, console: Console, policy: AcceptPolicy, purpose: String = "send files",
    right: String = ProgramEnvironment.imagesRight, consents: Consents? = nil,
    freeSpace: @escaping @Sendable () -> Int64? = { nil }, desktop: Desktop? = nil,
    thumbnails: ThumbnailDisplay? = nil, knownNow: @escaping @Sendable () -> PeerNaming
  ) {
    self.node = node
    self.console = console
    self.policy = policy
    self.knownNow = knownNow
    lastNaming = Guarded(knownNow())
    self.purpose = purpose
    self.right = right
    self.consents = consents
    self.freeSpace = freeSpace
    self.desktop = desktop
    self.thumbnails = thumbnails
  }

  /// Runs until the task is cancelled or the node ends.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      // Alongside the question, which may wait for its answer.
      group.addTask { for await refused in node.refusals { tell(refused) } }
      await answer()
      group.cancelAll()
    }
  }

  /// A peer whose key is not trusted never gets as far as an invitation.
  private func tell(_ refused: RefusedPeer) {
    let failure = TransferFailure(refused.error, on: .receiver).withLifting(of: refused)
    let suppressed = refused.suppressedCount
    console.tell(
      .declined(
        ProgramEvent.Declined(
          peer: refused.fingerprint.description, name: refused.name, reason: failure.word, message: failure.message,
          suppressed: NoticeBudget.figure(suppressed))))
    let known = lastNaming.value.known[refused.fingerprint]
    let other = known?.otherName(refused.name).map { ", calls itself '\(console.safe($0))'" } ?? ""
    let shown = known.map { console.safe($0.nameBeforeDigits) } ?? console.ownWords(refused.name)
    console.problem(
      "\(shown) (\(refused.fingerprint.shortDescription)\(other)) \(console.origin(refused.transport, refused.remoteAddress)) "
        + "was turned away: \(console.safe(failure.message))\(Self.words(suppressed))")
  }

  private func answer() async {
    // Peers that need no question wait neither for those of others nor for a person who compares on the other side.
    let questions = WaitingInvitations<Invitation>(isOpen: { $0.isOpen }, tellGone: { tellGone($0) })
    await withDiscardingTaskGroup { group in
      group.addTask { await ask(about: questions) }
      for await invitation in node.invitations {
        switch policy {
        case .all: group.addTask { await accept(invitation) }
        case .known:
          group.addTask {
            if invitation.peer.rights.contains(.push) { return await accept(invitation) }
            await declineUnasked(invitation)
          }
        // A person has said once that nothing need be asked.
        case .ask where invitation.peer.rights.contains(.push): group.addTask { await accept(invitation) }
        case .ask: questions.append(invitation)
        }
      }
      group.cancelAll()
    }
  }

  /// Asks the person about one after the other, until the task is cancelled.
  private func ask(about questions: WaitingInvitations<Invitation>) async {
    await withDiscardingTaskGroup { group in
      var lastQuestion = AcceptQuestion.Former.none
      while let invitation = await questions.next() {
        if isTooSoon(invitation) {
          await decline(invitation, .limitExceeded, "limit-exceeded", "it was asked about too often just now")
        } else if let desktop, await !desktop.canAsk() {
          // Before there is a code: a stranger that could not be let in has not had a wrong one.
          await declineUnasked(invitation)
        } else if let code = await code(of: invitation, isQuestion: true) {
          let answer = await ask(invitation, code, &lastQuestion)
          let rights = Self.rights(after: answer)
          if rights != nil { taken.change { $0[invitation.peer.fingerprint] = invitation.peer.petname } }
          if rights != nil || answer == .once { group.addTask { await confirm(invitation, remembers: rights) } }
        }
      }
      group.cancelAll()
    }
  }

  /// It ended before the person could be asked about it.
  private func tellGone(_ invitation: Invitation) {
    guard let suppressed = take(invitation) else { return }
    console.note(
      "\(describe(invitation)) wanted to \(purpose), and broke off before you were asked\(Self.words(suppressed))")
  }

  /// Declines an invitation about which no one is asked, and whose peer lacks the right.
  private func declineUnasked(_ invitation: Invitation) async {
    if invitation.peer.known != nil {
      let hint =
        "known, but it may not push: piconet trust allow \(invitation.peer.fingerprint.shortDescription) \(right)"
      return await decline(invitation, .declined, "not-allowed", hint)
    }
    await decline(invitation, .declined, "not-known", "not known; to let it in, \(Self.ways(right))")
  }

  /// A known device is ahead of strangers in the queue: one that asks endlessly must not keep them from their turn.
  private func isTooSoon(_ invitation: Invitation) -> Bool {
    invitation.peer.known != nil && !vain.change { $0.tells(invitation.peer) }
  }

  /// Accepts it without a question. A person on the other side may still want to compare.
  private func accept(_ invitation: Invitation) async {
    if invitation.comparesCodes, await code(of: invitation) == nil { return }
    await finish(invitation)
  }

  /// What the peer may do from now on; nil: it is not remembered.
  private static func rights(after answer: AcceptQuestion.Answer) -> Set<PeerRight.Action>? {
    switch answer {
    case .yes, .some: [.send]
    case .always: [.push, .send]
    case .once, .no, .codesDiffer, .none, .hungUp: nil
    }
  }

  /// Accepts after the person here has said yes. A person on the other side may compare the codes, too: silence would
  /// look as if the program hangs.
  private func confirm(_ invitation: Invitation, remembers rights: Set<PeerRight.Action>?) async {
    let hint = Task {
      try await ContinuousClock().sleep(for: Self.hintTime)
      console.note("Waiting for \(console.name(invitation.peer)) to confirm...")
    }
    await finish(invitation, remembers: rights)
    hint.cancel()
  }

  /// Most peers have confirmed before.
  private static let hintTime = Duration.milliseconds(700)

  private func finish(_ invitation: Invitation, remembers rights: Set<PeerRight.Action>? = nil) async {
    consents?.letIn(invitation.peer.id)
    do throws(PiconetError) {
      // Reported when it joins the session.
      _ = try await invitation.accept()
      // Only now: if the person on the other side finds that the codes differ, this one was mistaken.
      if let rights { await remember(invitation.peer, rights) }
    } catch {
      consents?.forget(invitation.peer.id)
      taken.change { $0[invitation.peer.fingerprint] = nil }
      guard let suppressed = take(invitation) else { return }
      console.note("\(describe(invitation)): \(why(error, invitation))\(Self.words(suppressed))")
    }
  }

  /// Returns the code of an invitation whose turn it is, after reporting it; nil: it has no code, which is reported as
  /// well.
  /// - Parameter isQuestion: whether a person here is asked, and sees the code with the question.
  private func code(of invitation: Invitation, isQuestion: Bool = false) async -> String? {
    do throws(PiconetError) {
      let code = try await invitation.showCode()
      // The number of questions is bounded already.
      guard let suppressed = isQuestion ? 0 : codes.change({ $0.take(invitation.peer) }) else { return code }
      console.tell(
        .code(
          ProgramEvent.Code(
            peer: invitation.peer.fingerprint.description, name: invitation.peer.petname, code: code,
            suppressed: NoticeBudget.figure(suppressed))))
      if !isQuestion {
        console.note(
          "\(describe(invitation)) compares codes. Code: \(code)   The other screen must show the same."
            + NoticeBudget.othersNotTold(suppressed))
      }
      return code
    } catch {
      // If it still stands, the peer can't be reached for the moment, and no one can compare.
      await invitation.decline(.cancelled)
      if let suppressed = take(invitation) {
        console.note(
          "\(describe(invitation)) wanted to \(purpose): \(why(error, invitation))\(Self.words(suppressed))")
      }
      return nil
    }
  }

  /// In words, safe to show; for a stranger whose codes were wrong with what lifts that.
  private func why(_ error: PiconetError, _ invitation: Invitation) -> String {
    let isLockout = error.code == .limitExceeded && error.detail.contains("wrong or broke off")
    let lifting = isLockout ? TransferFailure.lifting(error.detail, of: invitation.peer.fingerprint) : ""
    return console.safe(error.description + lifting)
  }

  /// Returns how many before this one went unreported; nil: this one is not reported either.
  private func take(_ invitation: Invitation) -> Int? { declines.change { $0.take(invitation.peer) } }

  private static func words(_ suppressed: Int) -> String { NoticeBudget.words(suppressed) }

  /// - Parameter isAnswer: whether the person has just said so, and is shown it in any case.
  private func decline(
    _ invitation: Invitation, _ code: PiconetError.Code, _ word: String, _ why: String, isAnswer: Bool = false
  ) async {
    await invitation.decline(code)
    guard let suppressed = isAnswer ? 0 : take(invitation) else { return }
    console.tell(
      .declined(
        ProgramEvent.Declined(
          peer: invitation.peer.fingerprint.description, name: invitation.peer.petname, reason: word,
          suppressed: NoticeBudget.figure(suppressed))))
    console.note("\(describe(invitation)) was declined: \(why)\(Self.words(suppressed))")
  }

  /// Asks the person while the invitation stands.
  /// - Returns: the answer; anything but a yes has been carried out.
  private func ask(
    _ invitation: Invitation, _ code: String, _ former: inout AcceptQuestion.Former
  ) async -> AcceptQuestion.Answer {
    let now = knownNow()
    lastNaming.change { $0 = now }
    let known = invitation.peer.known?.standing ?? (invitation.peer.isKnown ? "known" : "not known yet")
    let announced = consents == nil ? nil : AnnouncedFiles(invitation.context)
    let words = words(announced, from: invitation, known)
    guard let (given, selection) = await answer(invitation, code, words, announced, former) else {
      await decline(invitation, .declined, "declined", "nobody can be asked")
      return .none
    }
    former = given == .none || given == .hungUp ? .takenBack : .answered
    if invitation.peer.known != nil, Self.rights(after: given) == nil, given != .once {
      _ = vain.change { $0.take(invitation.peer) }
    }
    switch given {
    case .yes, .always, .some, .once: consents?.agree(to: selection, of: announced, from: invitation.peer.id)
    case .no: await decline(invitation, .declined, "declined", "you said no", isAnswer: true)
    case .codesDiffer:
      await decline(
        invitation, .codeMismatch, "code-mismatch", "the codes differ: somebody may be in between", isAnswer: true)
    // No person has said no. The program is ending, or the terminal is gone and SIGHUP follows if it is meant for this
    // program.
    case .none, .hungUp: await invitation.decline(.cancelled)
    }
    return given
  }

  /// What a person answers, and of which files; nil: no one can be asked.
  private func answer(
    _ invitation: Invitation, _ code: String, _ words: [String], _ announced: AnnouncedFiles?,
    _ former: AcceptQuestion.Former
  ) async -> (AcceptQuestion.Answer, OfferSelection)? {
    if let desktop {
      let question = DesktopQuestion(words: words, code: code)
      let answer = await whileStanding(invitation) {
        // A click that was meant for the previous question must not hit this one.
        try? await ContinuousClock().sleep(for: former.pause)
        return await desktop.ask(question)
      }
      return answer.map { ($0, .all) }
    }
    guard let question = AcceptQuestion() else { return nil }
    let always = consents == nil ? "lets it in" : "takes its files"
    let pictures = await pictures(announced)
    let rest = [
      "Code: \(code)   The other screen must show the same.",
      (invitation.peer.isKnown ? "" : "'yes' remembers the device, 'once' does not; ")
        + "'always' \(always) unasked from then on.",
    ]
    console.ring()
    console.question(words, pictures: pictures, rest)
    let answer = await whileStanding(invitation, cancel: { question.cancel() }) {
      await onItsOwnThread { Self.ask(question, console, announced, after: former) }
    }
    return answer ?? (.none, .all)
  }

  /// Lines that show what the first files look like.
  private func pictures(_ announced: AnnouncedFiles?) async -> [String] {
    guard let thumbnails, let announced, !console.verbosity.isQuiet else { return [] }
    return await thumbnails.lines(of: announced, unicode: console.unicode, safe: console.safe)
  }

  /// Asks until there is an answer or the invitation has gone, which is said.
  /// - Parameters:
  ///   - cancel: ends the question.
  ///   - ask: ends when its task is cancelled, or by `cancel`.
  private func whileStanding<Answer: Sendable>(
    _ invitation: Invitation, cancel: @escaping @Sendable () -> Void = {},
    _ ask: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    let asking = Task { await ask() }
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // Nil also when we end: then there is nothing more to ask, either.
        let end = await invitation.ended()
        cancel()
        asking.cancel()
        // Not before the prompt is gone: below this line, nothing that is typed answers the question.
        _ = await asking.value
        if let end {
          let why = end.code == .codeMismatch ? TransferFailure(end, on: .receiver).message : end.description
          console.note("\(describe(invitation)) no longer waits for your answer: \(console.safe(why))")
        }
      }
      let answer = await asking.value
      group.cancelAll()
      return answer
    }
  }

  /// Who wants what, and what it has announced.
  private func words(_ announced: AnnouncedFiles?, from invitation: Invitation, _ known: String) -> [String] {
    let start = "\(describe(invitation)), \(known), wants to"
    guard let announced else { return ["\(start) \(purpose)\(consents == nil ? "" : ", and does not say which")."] }
    let room = announced.roomText(free: freeSpace()).map { " \($0)" } ?? ""
    let limit = console.verbosity.detail > 0 ? AnnouncedFiles.fileLimit : AnnouncedFiles.shownFiles
    return ["\(start) send \(announced.text), over \(invitation.peer.transport).\(room)"]
      + announced.lines(atMost: limit, safe: console.safe)
  }

  /// Asks until there is an answer, and for `some` a choice.
  private static func ask(
    _ question: AcceptQuestion, _ console: Console, _ announced: AnnouncedFiles?, after former: AcceptQuestion.Former
  ) -> (AcceptQuestion.Answer, OfferSelection) {
    guard let announced, !announced.first.isEmpty else { return (question.ask(console, .accept, after: former), .all) }
    var former = former
    while true {
      let answer = question.ask(console, .acceptFiles, after: former)
      guard answer == .some else { return (answer, .all) }
      if let selection = question.choose(console, of: announced) { return (.some, selection) }
      former = .answered
    }
  }

  /// The person has compared the codes: the key is its device's.
  private func remember(_ peer: ProvenMember, _ rights: Set<PeerRight.Action>) async {
    do throws(PiconetError) {
      let entry = try await node.remember(peer, confirmed: .code, rights: rights)
      // Otherwise it is called as it was in the question.
      if peer.known == nil, entry.name != peer.name { console.note("Remembered as '\(console.safe(entry.name))'") }
    } catch {
      // The person has said yes, so it still gets in.
      console.tellNotRemembered(peer, error)
    }
  }

  /// How a device becomes known, worded for a person who can be asked, or for one who reads a log.
  /// - Parameter right: the right that it needs here.
  static func ways(_ right: String, isAsking: Bool = AcceptQuestion.isPossible) -> String {
    (isAsking ? "answer 'always' to it with --accept ask, " : "") + "start this program with --code, or say "
      + "'piconet trust add NAME F' and 'piconet trust allow NAME \(right)', with F as 'piconet trust identity' shows it there"
  }

  private func describe(_ invitation: Invitation) -> String {
    let peer = invitation.peer
    return console.describe(peer) + console.notThe(peer.known == nil ? imitated(by: peer) : nil)
  }

  /// The name of a device that is known, or is just becoming known, if a stranger's name looks like it.
  private func imitated(by peer: ProvenMember) -> String? {
    if let name = lastNaming.value.imitated(peer.fingerprint, calledItself: peer.name) { return name }
    let looks = NameSkeleton.all(of: peer.name)
    return taken.value.filter { $0.key != peer.fingerprint && looks.contains(NameSkeleton($0.value)) }.values.min()
  }
}

extension AcceptPolicy {
  /// `ask` needs a person to ask: without a terminal, only known peers are accepted, after saying so.
  /// - Parameters:
  ///   - right: the right that a known peer needs.
  ///   - hasDesktop: whether a desktop may be asked to ask.
  func possible(_ console: Console, right: String, hasDesktop: Bool = false) -> AcceptPolicy {
    guard self == .ask, !AcceptQuestion.isPossible else { return self }
    if hasDesktop {
      console.note("There is no terminal to ask on: the desktop shows who wants to be let in, as a notification.")
      return .ask
    }
    console.note(
      "There is no terminal to ask on: only known peers that may push are accepted, as with --accept known. "
        + "To let in another, \(InvitationDesk.ways(right, isAsking: false)); --accept all lets everybody in.")
    return .known
  }
}
