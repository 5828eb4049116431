import Piconet

/// The way from a peer, or an address, to a member that files can be sent to.
struct PeerConnection: Sendable {
  /// The purpose of the connection.
  enum Purpose: Hashable, Sendable {
    case itself
    /// It relays for others, and events are about those.
    case relay
  }

  enum Place: Sendable {
    case peer(Peer)
    /// With the transports to try, in order of preference.
    case address(DialPlace, [TransportKind])
  }

  /// Most peers answer before this time.
  private static let dialTime = Duration.milliseconds(400)
  private static let hintTime = Duration.milliseconds(700)

  let node: Node
  var place: Place
  let console: Console
  /// nil: no person is asked, and nothing is remembered.
  var contact: FirstContact?
  /// The known peers, and whose keys were confirmed at which addresses.
  var naming = PeerNaming.nobody
  /// The code to prove to the peer.
  var code: TypedCode?
  /// What the peer is told about the files before a person there is asked; nil: nothing.
  var announcement: Announcement?
  /// Whether it was connected to before, and is reported as back.
  var isReturn = false
  /// Whether it is tried again at once, and this is not reported.
  var isAgain = false
  var purpose = Purpose.itself
  /// Nodes of the same key that have everything sent already: if one of them does not answer, no other is asked again.
  var reached: Set<NodeID> = []
  /// Whether one that only passes on what goes to others is left out: it is for sending to all.
  var leavesOutRelays = false
  /// Called as soon as the peer's key is proven, on the node's loop.
  var proven: (@Sendable (ProvenMember) -> Void)?

  /// What a person calls it; may be a peer's own words.
  var text: String {
    switch place {
    case .peer(let peer): peer.name
    case .address(let address, _): address.description
    }
  }

  /// `text`, safe to show.
  var shownText: String {
    switch place {
    case .peer: console.ownWords(text)
    case .address: console.safe(text)
    }
  }

  /// Where it is and what went wrong there, in a sentence that is safe to show.
  func sentence(_ failure: TransferFailure) -> String {
    switch place {
    case .peer: "\(shownText): \(console.safe(failure.message))"
    case .address: "\(shownText): \(console.safe(failure.message(behind: text)))"
    }
  }

  /// The fingerprint of that key.
  var fingerprint: String? { key?.description }

  /// The key that must answer, if it is known.
  var key: PeerID? {
    switch place {
    case .peer(let peer): peer.id.peer
    case .address(let address, _): expected(at: address)
    }
  }

  private func expected(at address: DialPlace) -> PeerID? {
    // A fingerprint that was given is the receiver's.
    if purpose == .relay { return naming.known.entry(at: address.description)?.id }
    return contact?.expected(at: address.description) ?? naming.known.entry(at: address.description)?.id
  }

  /// Why an attempt has failed.
  private struct Refusal: Error {
    let failure: TransferFailure
    /// How long the peer takes no code yet, because wrong ones came before; nil: that is not why.
    var codePause: Duration?
  }

  /// Invites the peer and waits until it has accepted. The short code is shown as soon as there is one, since a person
  /// on the other side compares it before answering. If the peer takes no code just now, because wrong ones came
  /// before, it is invited again when it does, within the time-out.
  func open(timeout: Duration) async throws(TransferFailure) -> Member {
    let (start, patience) = (ContinuousClock.now, CodePatience(limit: timeout))
    let connected = Guarded<PeerID?>(nil)
    var next = self
    while true {
      let refusal: Refusal
      do throws(Refusal) {
        let left = max(timeout - (ContinuousClock.now - start), Self.shortestAttempt)
        return try await next.attempt(timeout: next.isAgain ? left : timeout, connected)
      } catch {
        refusal = error
      }
      guard let pause = refusal.codePause, !Task.isCancelled,
        let wait = patience.wait(for: pause, after: ContinuousClock.now - start)
      else { throw refusal.failure }
      console.note(
        "\(shownText) takes no code for \(HumanFigures.elapsed(wait)), since wrong ones came before: waiting, then "
          + "trying again...")
      try? await ContinuousClock().sleep(for: wait)
      if Task.isCancelled { throw Delivery.interrupted }
      next.isAgain = true
    }
  }

  /// A short time-out is no reason not to try at all once the pause is over.
  private static let shortestAttempt = Duration.seconds(1)

  /// - Parameter connected: whose key was proven in a former attempt, which has been reported.
  private func attempt(timeout: Duration, _ connected: Guarded<PeerID?>) async throws(Refusal) -> Member {
    if let refusal = contact?.refusal(place, purpose, own: node.id.peer) { throw Refusal(failure: refusal) }
    // Shown by a task of its own: the node's loop, which reports the proof, must not wait for a terminal.
    let (steps, step) = AsyncStream<Step>.makeStream(bufferingPolicy: .bufferingNewest(4))
    let told = Task {
      for await step in steps {
        switch step {
        case .proven(let peer):
          let isNew = connected.change { former in
            defer { former = peer.fingerprint }
            return former != peer.fingerprint
          }
          if isNew { tell(peer) }
        case .code(let peer, let code): tell(peer, code)
        case .dialling: console.note("Connecting to \(shownText)...")
        case .waiting(let peer):
          let what = code == nil ? "to accept" : "to prove the code"
          console.note("Waiting for \(console.name(peer)) \(what)...")
        }
      }
    }
    let hint = Guarded<Task<Void, Never>?>(nil)
    // A person there may be asked, which takes a while: silence would look as if the program hangs.
    let hintSoon: @Sendable (Step, Duration) -> Void = { what, time in
      hint.change {
        $0?.cancel()
        $0 = Task {
          try? await ContinuousClock().sleep(for: time)
          if !Task.isCancelled { step.yield(what) }
        }
      }
    }
    hintSoon(.dialling, Self.dialTime)
    let progress = Guarded(Progress.none)
    let provenNode = Guarded<NodeID?>(nil)
    let unfit = Guarded(Unfit())
    let timer = contact?.mayAsk(place) == true ? AttemptTimer(timeout) : nil
    let attempt = Task {
      await invite(timeout: timer == nil ? timeout : timeout + FirstContact.longestThought) { peer in
        // Before any person is asked, there or here.
        if let reason = misfit(peer) { return unfit.change { $0.found(reason) } }
        provenNode.change { $0 = peer.id }
        proven?(peer)
        progress.change { $0 = .proven }
        step.yield(.proven(peer))
        hintSoon(.waiting(peer), Self.hintTime)
      } code: { peer, code in
        progress.change { $0 = .code }
        hint.change { $0?.cancel() }
        step.yield(.code(peer, code))
      }
    }
    unfit.change { $0.cancel(by: { attempt.cancel() }) }
    timer?.begin { attempt.cancel() }
    let key = contact?.began(
      FirstContact.Attempt(
        place: place, purpose: purpose, proven: { provenNode.value },
        asked: {
          timer?.pause()
          hint.change { $0?.cancel() }
        }
      ) { peer, wants in
        timer?.resume()
        if wants { hintSoon(.waiting(peer), Self.hintTime) }
      })
    let outcome = await withTaskCancellationHandler {
      await attempt.value
    } onCancel: {
      attempt.cancel()
    }
    timer?.end()
    if let key { contact?.ended(key) }
    hint.value?.cancel()
    step.finish()
    told.cancel()
    await told.value
    if let failure = unfit.value.failure {
      if case .success(let member) = outcome { await member.disconnect() }
      throw Refusal(failure: failure)
    }
    let member: Member
    do throws(PiconetError) {
      member = try outcome.get()
    } catch {
      let failure = failure(timer?.isOver == true ? timedOut(error, progress.value) : error)
      let seen = contact?.failed(place, purpose, provenNode.value, failure) ?? failure
      throw Refusal(failure: Task.isCancelled ? Delivery.interrupted : seen, codePause: error.codePause)
    }
    do throws(TransferFailure) {
      try await contact?.settle(member, place, node)
    } catch {
      throw Refusal(failure: error)
    }
    return member
  }

  private static let noRelay = TransferFailure(
    word: "no-relay", message: "it does not relay: 'piconet relay' has to run there", exitCode: .refused)
  /// It is no failure: nothing more is to be sent there.
  static let leftOut = TransferFailure(word: "left-out", message: "nothing is sent there", exitCode: .stored)

  /// Why a peer whose key is proven is not what is looked for; nil if it is.
  private func misfit(_ peer: ProvenMember) -> TransferFailure? {
    if purpose == .relay { return RelayMark.isRelay(peer) ? nil : Self.noRelay }
    if let other = contact?.mismatch(peer, place) { return other }
    return reached.contains(peer.id) || leavesOutRelays && RelayMark.isRelay(peer) ? Self.leftOut : nil
  }

  /// Whether the peer turned out not to be what is looked for, and what ends the attempt then.
  private struct Unfit: Sendable {
    private(set) var failure: TransferFailure?
    private var cancel: (@Sendable () -> Void)?

    mutating func found(_ failure: TransferFailure) {
      self.failure = failure
      cancel?()
    }

    mutating func cancel(by cancel: @escaping @Sendable () -> Void) {
      self.cancel = cancel
      if failure != nil { cancel() }
    }
  }

  private func failure(_ error: PiconetError) -> TransferFailure {
    let failure = TransferFailure(error, on: .sender)
    switch error.code.known {
    // Nothing is wrong with the link: a person there, or the limit on codes, does not let us in now.
    case .limitExceeded:
      return TransferFailure(
        word: failure.word,
        message: error.detail.isEmpty ? failure.message : error.detail + lifting(error), exitCode: .refused)
    // It was found, and says why; a device that hides does not.
    case .notAvailable where code != nil && !error.detail.isEmpty:
      return TransferFailure(
        word: failure.word,
        message: failure.message + " (leave --code away here, or start the program there with --code as well)",
        exitCode: .refused)
    case .identity:
      if let refused = contact?.refused(place, purpose, error) { return refused }
      guard error.blame == .peer else { return failure }
      let (message, names) = naming.withNames(failure.message)
      guard case .address = place, let contact, contact.fingerprint == nil else {
        return TransferFailure(word: failure.word, message: message, exitCode: failure.exitCode)
      }
      // Of the two that are named, the second one answered.
      let advice =
        names.count == 2
        ? "; if '\(names[1])' is meant, give its name with --to"
        : "; if another device is meant now, give its fingerprint with --fingerprint"
      return TransferFailure(word: failure.word, message: message + advice, exitCode: failure.exitCode)
    case .declined, .cancelled, .timedOut, .full, .version, .codeMismatch, .codeNeeded, .wrongCode, .wrongSession,
      .unreachable, .notAvailable, .linkFailed, .protocolBroken, .shuttingDown, .left, .removed, .alreadyConnected,
      .inProgress, .notConnected, .messageTooLarge, .sourceUnreadable, .sourceChanged, .nameRefused, .tooLarge,
      .diskFull, .noPermission, .exists, .digestMismatch, .sizeMismatch, .directoryVanished, .notWanted, .storageFailed,
      .tooManyTransfers, .notSupported, .invalidArgument, .state, .internalError, nil:
      return failure
    }
  }

  /// What lifts the limit on codes, and where.
  private func lifting(_ error: PiconetError) -> String {
    guard error.detail.hasPrefix("too many codes"), error.blame == .peer else { return "" }
    return "; at once after 'piconet trust forgive' there"
  }

  /// As the node reports it if the time limit is its own.
  private func timedOut(_ error: PiconetError, _ progress: Progress) -> PiconetError {
    guard progress == .none else {
      // This counts as a wrong code.
      let detail = progress == .code ? "the attempt broke off before both sides had compared the code" : ""
      return PiconetError(.timedOut, peer: error.peer, blame: .peer, detail: detail)
    }
    let kinds =
      switch place {
      case .peer(let peer): peer.transports
      case .address(_, let kinds): kinds
      }
    let silent = kinds.filter { kind in !error.failures.contains { $0.transport == kind } }.map { kind in
      "\(kind): " + (kind.usesBluetooth ? "the device does not answer: is it on and near?" : "no answer in time")
    }
    let reasons = error.failures.map { "\($0.transport): \($0.failure)" } + silent
    return PiconetError(.timedOut, peer: error.peer, blame: .peer, detail: reasons.joined(separator: "; "))
  }

  /// How far an attempt has come.
  private enum Progress: Sendable {
    case none, proven, code
  }

  private enum Step: Sendable {
    /// There is no answer yet.
    case dialling
    case proven(ProvenMember)
    /// A person there may be asked.
    case waiting(ProvenMember)
    /// A person there is asked, and sees this code.
    case code(ProvenMember, String)
  }

  private func tell(_ peer: ProvenMember, _ code: String) {
    if purpose == .itself {
      console.tell(.code(ProgramEvent.Code(peer: peer.fingerprint.description, name: peer.petname, code: code)))
    }
    // If a person here is asked, too, the question shows it.
    if contact?.asks == true, !peer.isKnown { return }
    console.note("\(console.name(peer)) is asked. Code: \(code)   The other screen must show the same.")
  }

  private func tell(_ peer: ProvenMember) {
    guard purpose == .itself else { return console.noteConnected(peer, naming) }
    let fingerprint = peer.fingerprint.description
    let transport = "\(peer.transport)"
    console.tell(
      .connected(
        ProgramEvent.Connected(
          peer: fingerprint, name: peer.petname, transport: transport, relays: peer.route.relayFingerprints,
          fingerprint: fingerprint, code: nil)))
    console.noteConnected(peer, naming)
  }

  private func invite(
    timeout: Duration, proven: @escaping @Sendable (ProvenMember) -> Void,
    code: @escaping @Sendable (ProvenMember, String) -> Void
  ) async -> Result<Member, PiconetError> {
    let files = await announcement?.told()
    // The invitation goes before anyone here has compared codes, or the peer has proven one.
    let context = (contact?.isConfirmed(place) == true ? files : files?.withoutNames)?.encoded ?? []
    do throws(PiconetError) {
      switch place {
      case .peer(let peer):
        if !isReturn, !isAgain, purpose == .itself {
          console.tell(
            .connecting(
              ProgramEvent.Connecting(
                peer: fingerprint, name: peer.name, transports: peer.transports.map { "\($0)" },
                address: peer.addresses.first?.text)))
        }
        if let typed = self.code {
          return .success(
            try await node.invite(peer, proving: typed, context: context, timeout: timeout, proven: proven))
        }
        return .success(try await node.invite(peer, context: context, timeout: timeout, proven: proven, code: code))
      case .address(let address, let kinds):
        if !isReturn, !isAgain, purpose == .itself {
          console.tell(
            .connecting(
              ProgramEvent.Connecting(
                peer: nil, name: nil, transports: kinds.map { "\($0)" }, address: address.description)))
        }
        if let typed = self.code {
          return .success(
            try await node.invite(
              at: address.description, proving: typed, expecting: expected(at: address), context: context,
              timeout: timeout,
              proven: proven))
        }
        return .success(
          try await node.invite(
            at: address.description, expecting: expected(at: address), context: context, timeout: timeout,
            proven: proven, code: code))
      }
    } catch {
      return .failure(error)
    }
  }
}
