import Piconet
import Synchronization

/// Stores what senders offer: several files at once, with a limit for each sender.
final class OfferDesk: Sendable {
  private let node: Node
  private let console: Console
  private let board: TransferBoard
  private let notes: ConnectionNotes
  private let directory: ReceivingDirectory
  private let consents: Consents
  /// nil: no desktop is told.
  private let notices: StoredNotices?
  /// nil: strangers have no limit.
  private let dailyLimit: DailyLimit?
  private let policy: ConflictPolicy
  private let takesAny: Bool
  /// Files that may still be stored; nil: any number.
  private let places: FilePlaces?
  private let limit: Int?
  private let underWay = OffersUnderWay()
  private let sums: SenderSums
  /// For offers that leave nothing behind but a line: without a bound they would fill a log.
  private let failures = Guarded(
    NoticeBudget(ofKey: NoticeBudget.offerBurst, ofAddress: NoticeBudget.offerBurst, ofKnown: NoticeBudget.offerBurst))
  private let repeats = Guarded(NoticeBudget(of: NoticeBudget.repeatBurst))
  /// For offers that are reported before it is known what becomes of them.
  private let offers = Guarded(NoticeBudget(of: NoticeBudget.repeatBurst))
  /// For files that may have replaced others.
  private let overwrites = Guarded(NoticeBudget(of: NoticeBudget.overwriteBurst))
  private let state = Mutex(State())

  private struct State {
    var gates: [NodeID: Gates] = [:]
    var stored = 0
    /// Files that did not arrive whole, and of which a part may be kept that another transfer can go on with.
    var parts: Set<Part> = []
    /// Offers that were refused for their names, and have not come under others.
    var renamings = OffersToRename<IncomingOffer>()
  }

  /// The gates of one sender.
  private struct Gates {
    let large = TaskGate(CommandLineLimits.filesStoredAtOnce)
    let small = TaskGate(CommandLineLimits.smallFilesStoredAtOnce)

    func gate(ofSize size: UInt64) -> TaskGate { size > ReceivingDirectory.largestUnkeptSize ? large : small }
  }

  private struct Part: Hashable {
    let peer: String
    let name: String
  }

  init(
    node: Node, console: Console, board: TransferBoard, notes: ConnectionNotes, directory: ReceivingDirectory,
    consents: Consents, notices: StoredNotices? = nil, arguments: ImageReceiveArguments
  ) {
    self.node = node
    self.console = console
    self.board = board
    self.notes = notes
    self.directory = directory
    self.consents = consents
    self.notices = notices
    dailyLimit = arguments.daily.map { DailyLimit($0) }
    sums = SenderSums(console: console)
    policy = arguments.onConflict
    takesAny = arguments.any
    limit = arguments.count
    places = arguments.count.map { FilePlaces($0, patience: arguments.timeout) }
  }

  /// Runs until as many files are stored as were asked for, or the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      // The offers are read by a child task as well, so that reading ends with the others when enough is stored.
      group.addTask {
        await withDiscardingTaskGroup { offers in
          for await offer in self.node.session.offers {
            guard self.underWay.begin(offer.sender.id) else {
              await offer.decline(.tooManyTransfers)
              continue
            }
            offers.addTask {
              await self.take(offer)
              self.underWay.end(offer.sender.id)
              if self.isFull { self.enough.finish() }
            }
          }
          offers.cancelAll()
        }
        self.enough.finish()
      }
      group.addTask { await self.places?.watch() }
      for await _ in enoughHappened {}
      group.cancelAll()
    }
  }

  private let (enoughHappened, enough) = AsyncStream<Never>.makeStream()

  /// Whether as many files have been stored as were asked for.
  var isFull: Bool { limit.map { limit in state.withLock { $0.stored >= limit } } ?? false }

  /// Forgets a sender that has left, and says what became of its files.
  func left(_ member: ProvenMember) {
    state.withLock { $0.gates[member.id] = nil }
    consents.forget(member.id)
    tellRefusedNames(of: member.id)
    let sender = TransferPeer(member)
    if sums.left(sender) { over(sender) }
  }

  private func over(_ sender: TransferPeer) {
    board.over(sender)
    notices?.over(sender)
  }

  private func take(_ offer: IncomingOffer) async {
    let sender = TransferPeer(offer.sender)
    sums.begin(sender, offer.sender)
    await take(offer, of: sender)
    let isHere = node.session.members.contains { $0.id == offer.sender.id }
    // It may have left before its offer was read.
    if !isHere {
      state.withLock { $0.gates[offer.sender.id] = nil }
      tellRefusedNames(of: offer.sender.id)
    }
    if sums.end(sender, isHere: isHere) { over(sender) }
  }

  /// They have not come again under other names.
  private func tellRefusedNames(of sender: NodeID?) {
    for held in state.withLock({ $0.renamings.takeAll(of: sender) }) { failed(held.offer, held.name, held.failure) }
  }

  private func take(_ offer: IncomingOffer, of sender: TransferPeer) async {
    state.withLock { $0.renamings.cameAgain(.init(offer)) }
    let peer = sender.fingerprint
    let folder = offer.rawFolder.isEmpty ? [] : offer.rawFolder + [0x2F]
    let name = String(decoding: folder + offer.rawName, as: UTF8.self)
    let offered = ProgramEvent.offered(
      ProgramEvent.Offered(
        peer: peer, file: name, bytes: Int64(clamping: offer.size),
        mediaType: offer.mediaType.isEmpty ? nil : offer.mediaType))
    // If too many of a sender's files have failed, or were here already, the next one is reported only once it is
    // stored.
    let isTold =
      [failures, repeats].allSatisfy { budget in budget.change { $0.tells(offer.sender) } }
      && offers.change { $0.take(offer.sender) } != nil
    sums.record(offered, of: sender)
    if isTold { console.tell(offered) }
    if let refusal = consents.refusal(
      of: name, bytes: offer.size, from: offer.sender.id, hasProvenCode: offer.sender.hasProvenCode)
    {
      return await refuse(offer, name, refusal)
    }
    let late = isTold ? nil : offered
    guard let dailyLimit, await offer.isOfStranger else {
      _ = await takeInTurn(offer, name, of: sender, late, nil)
      return
    }
    let share = await whileOffered(offer) { [directory] in
      await dailyLimit.share(of: DailyShare.Content(offer)) { await offer.keptByteCount(in: directory) }
    }
    guard let share else {
      guard !Task.isCancelled, offer.failure == nil else { return await refuse(offer, name) }
      return await refuse(offer, name, Self.beyondDailyLimit)
    }
    let isStored = await takeInTurn(offer, name, of: sender, late, share) == .stored
    share.end(came: offer.receivedByteCount, isStored: isStored)
  }

  /// Waits only while the offer is open. An offer whose sender has gone must not hold up later ones, nor be kept for as
  /// long as other senders like.
  private func whileOffered<Value: Sendable>(
    _ offer: IncomingOffer, _ wait: @escaping @Sendable () async -> Value
  ) async -> Value {
    let waiting = Task { await wait() }
    let watching = Task { if await offer.hasEnded() { waiting.cancel() } }
    defer { watching.cancel() }
    return await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
  }

  private static let beyondDailyLimit = TransferFailure(
    word: "daily-limit", message: DailyShare.refusal, exitCode: .refused)

  /// What has become of an offer.
  private enum Outcome {
    case stored
    /// The content was here already.
    case present
    case failed
  }

  /// Stores an offer that nothing speaks against.
  private func takeInTurn(
    _ offer: IncomingOffer, _ name: String, of sender: TransferPeer, _ late: ProgramEvent?, _ share: DailyShare?
  ) async -> Outcome {
    let gate = state.withLock { state -> TaskGate in
      let gates = state.gates[offer.sender.id] ?? Gates()
      state.gates[offer.sender.id] = gates
      return gates.gate(ofSize: offer.size)
    }
    guard await whileOffered(offer, { await gate.enter() }) else {
      await refuse(offer, name)
      return .failed
    }
    defer { gate.leave() }
    guard let places else { return await store(offer, name, sender, nil, late, share) }
    guard let place = await whileOffered(offer, { await places.enter(sender.fingerprint) }) else {
      await refuse(offer, name)
      return .failed
    }
    let outcome = await store(offer, name, sender, place, late, share)
    // A place that has been used stays used.
    places.leave(place, isUsed: outcome != .failed)
    return outcome
  }

  /// - Parameters:
  ///   - late: reported before the outcome, unless that is a failure.
  ///   - share: what a stranger's offer has of the day, if strangers have a limit.
  private func store(
    _ offer: IncomingOffer, _ name: String, _ sender: TransferPeer, _ place: FilePlaceTable.Place?,
    _ late: ProgramEvent?,
    _ share: DailyShare?
  ) async -> Outcome {
    // It may have ended just as its turn came: the disk need not make room for it.
    if offer.failure != nil {
      await refuse(offer, name)
      return .failed
    }
    let peer = sender.fingerprint
    let key = board.begin(
      name, peer: sender, total: Int64(clamping: offer.size), isTrusted: offer.sender.rights.contains(.push),
      isTold: late == nil)
    defer { board.end(key) }
    let content: (@Sendable ([UInt8]) -> Bool)? = takesAny ? nil : Self.isImage
    await notes.look(at: offer.sender)
    let following = offer.changes.follow { [board, places] done in
      board.compared(key, done: done)
      // Its speed depends on our disk, not on the sender.
      if let place { places?.compared(place) }
    } stored: { [board, notes, places] progress in
      board.progressed(key, done: progress.stored, resumedFrom: progress.resumedFrom)
      if let place { places?.moved(place, done: progress.stored, of: progress.total) }
      // Now, since a sender leaves when it hears that everything is stored.
      if progress.stored == progress.total { notes.lookSoon(at: offer.sender) }
    }
    defer { following.cancel() }
    do throws(PiconetError) {
      let transfer = try await begin(offer, content, share)
      if let place { places?.whenStanding(place) { transfer.giveUpForNow() } }
      let file = try await transfer.interruptibleResult(behind: following)
      board.end(key, isStored: !file.wasAlreadyPresent, resumedFrom: file.resumedFrom)
      let came = Int64(clamping: offer.receivedByteCount)
      state.withLock { state in
        state.stored += 1
        state.parts.remove(Part(peer: peer, name: name))
      }
      if file.wasAlreadyPresent {
        tellPresent(
          name, at: file.path, bytes: Int64(clamping: file.size), file.digest, transferred: came, of: offer.sender, late
        )
        return .present
      }
      notices?.stored(file.path, bytes: Int64(clamping: file.size), of: sender)
      // A new file matters more than the line about it.
      let suppressed = policy == .overwrite ? overwrites.change { $0.take(offer.sender) } : 0
      if let late, suppressed != nil { console.tell(late) }
      tell(
        .stored(
          ProgramEvent.Stored(
            peer: peer, file: name, path: file.path, bytes: Int64(clamping: file.size), sha256: file.digest.hexadecimal,
            resumedFrom: file.resumedFrom > 0 ? Int64(clamping: file.resumedFrom) : nil, transferred: came,
            suppressed: NoticeBudget.figure(suppressed))),
        of: sender, isWritten: suppressed != nil)
      guard let suppressed, sums.listsFile(of: sender) else { return .stored }
      console.result(path: file.path)
      console.note(
        "\(console.safe(name)) from \(console.name(offer.sender)), \(HumanFigures.bytes(Int64(clamping: file.size)))"
          + NoticeBudget.othersNotTold(suppressed), detail: 1)
      if let time = file.replacedTime { console.note("\(console.safe(name)): \(time.sentence)", detail: 1) }
      return .stored
    } catch {
      board.end(key)
      if error.code == .exists, policy == .skip {
        let suppressed = repeats.change { $0.take(offer.sender) }
        if let late, suppressed != nil { console.tell(late) }
        tell(
          .skipped(
            ProgramEvent.Skipped(
              peer: peer, file: name, reason: "exists", suppressed: NoticeBudget.figure(suppressed))),
          of: sender, isWritten: suppressed != nil)
        guard let suppressed, sums.listsFile(of: sender) else { return .failed }
        console.note(
          "\(console.safe(name)) from \(console.name(offer.sender)): skipped, another file has the name"
            + NoticeBudget.words(suppressed))
      } else {
        let isBeyond = error.code == .declined && share?.isBeyond == true
        let failure = isBeyond ? Self.beyondDailyLimit : TransferFailure(error, on: .receiver)
        // Its sender offers it again at once, under a name that the disk takes.
        let held = OffersToRename.Held(offer: offer, name: name, failure: failure)
        if error.code == .nameRefused, state.withLock({ $0.renamings.hold(.init(offer), held) }) { return .failed }
        failed(offer, name, failure)
        if error.mayGoOn, offer.isResumable {
          state.withLock { state in
            let part = Part(peer: peer, name: name)
            // No more are kept anyway, and one is enough to mention them.
            if state.parts.count < ReceivingDirectory.keptFileLimit { state.parts.insert(part) }
          }
        }
      }
      return .failed
    }
  }

  /// Reports an offer of which nothing had to be sent.
  /// - Parameter late: see `store`.
  private func tellPresent(
    _ name: String, at path: String, bytes: Int64, _ digest: SHA256Digest, transferred: Int64 = 0,
    of member: ProvenMember, _ late: ProgramEvent?
  ) {
    let sender = TransferPeer(member)
    let suppressed = repeats.change { $0.take(member) }
    if let late, suppressed != nil { console.tell(late) }
    tell(
      .present(
        ProgramEvent.Present(
          peer: sender.fingerprint, file: name, path: path, bytes: bytes, sha256: digest.hexadecimal,
          transferred: transferred, suppressed: NoticeBudget.figure(suppressed))),
      of: sender, isWritten: suppressed != nil)
    guard let suppressed, sums.listsFile(of: sender) else { return }
    let remark = "already there" + NoticeBudget.words(suppressed)
    console.result(path: path, remark: remark, note: "\(console.safe(name)) from \(console.name(member)): \(remark)")
  }

  // MARK: Files that a sender asks about

  /// Whether a sender is told which files are here before it offers them. Not where each offer is counted.
  func answersManifests(of member: Member) -> Bool {
    limit == nil && (dailyLimit == nil || member.proven.known != nil || !member.proven.rights.isEmpty)
  }

  /// Takes files that are here as if they had been offered.
  /// - Parameter found: where each is, below the directory and absolute.
  /// - Returns: what the sender is told. What the person has not agreed to is not here: an offer of it is told why.
  func take(
    _ files: [FileManifest.File], _ found: [(relative: String, absolute: String)?], of member: Member
  ) -> [ManifestAnswer.Outcome] {
    let proven = member.proven
    let sender = TransferPeer(proven)
    sums.begin(sender, proven)
    let outcomes = zip(files, found).map { file, path -> ManifestAnswer.Outcome in
      guard let path,
        consents.refusal(
          of: file.name, bytes: UInt64(clamping: file.bytes), from: proven.id, hasProvenCode: proven.hasProvenCode)
          == nil
      else { return .absent }
      let offered = ProgramEvent.offered(
        ProgramEvent.Offered(peer: sender.fingerprint, file: file.name, bytes: file.bytes, mediaType: nil))
      sums.record(offered, of: sender)
      board.end(
        board.begin(
          file.name, peer: sender, total: file.bytes, isTrusted: proven.rights.contains(.push), isTold: false))
      state.withLock { state in
        state.stored += 1
        state.parts.remove(Part(peer: sender.fingerprint, name: file.name))
      }
      tellPresent(file.name, at: path.absolute, bytes: file.bytes, file.digest, of: proven, offered)
      return path.relative == file.name ? .present : .presentAs(path.relative)
    }
    if sums.end(sender, isHere: node.session.members.contains { $0.id == proven.id }) { over(sender) }
    return outcomes
  }

  /// Accepts an offer. One that is refused for its name, before any of it has come, is no file yet.
  private func begin(
    _ offer: IncomingOffer, _ content: (@Sendable ([UInt8]) -> Bool)?, _ share: DailyShare?
  ) async throws(PiconetError) -> IncomingTransfer<ReceivedFile> {
    do throws(PiconetError) {
      return try await offer.startStoring(
        in: directory, onConflict: policy, content: content, unless: { share?.refusal(behind: $0) },
        mayRepeat: { share?.mayRepeat($0) ?? true })
    } catch {
      if error.code == .nameRefused { consents.giveBack(offer.size, of: offer.sender.id) }
      throw error
    }
  }

  /// Also counts it for the sender's sum.
  private func tell(_ event: ProgramEvent, of sender: TransferPeer, isWritten: Bool) {
    sums.record(event, of: sender)
    console.tell(event, isWritten: isWritten)
  }

  /// At the end of the run, for the senders that are still here.
  func tellSums() {
    tellRefusedNames(of: nil)
    sums.tellAll()
  }

  /// At the end of the run.
  func tellParts() {
    guard state.withLock({ !$0.parts.isEmpty }) else { return }
    let days = Int(ReceivingDirectory.keptTime / .seconds(86_400))
    console.note(
      "What has arrived of a large file is kept for \(days) days: receive into the same directory again, and it goes on when it is sent again"
    )
  }

  @Sendable private static func isImage(_ start: [UInt8]) -> Bool { ImageKind(header: start) != nil }

  /// Refuses an offer to which the person has not agreed.
  private func refuse(_ offer: IncomingOffer, _ name: String, _ refusal: Consents.Refusal) async {
    await offer.decline(.declined, detail: refusal.message)
    // That others were chosen is no news to the person, and no fault.
    let isChoice = refusal == .notChosen
    failed(
      offer, name,
      TransferFailure(
        word: refusal.rawValue, message: isChoice ? "not chosen" : refusal.message,
        exitCode: isChoice ? .stored : .refused), isTold: !isChoice)
  }

  private func refuse(_ offer: IncomingOffer, _ name: String, _ failure: TransferFailure) async {
    await offer.decline(.declined, detail: failure.message)
    failed(offer, name, failure)
  }

  /// Nothing more is accepted: enough was stored, or a person has ended the program; or the sender has given up.
  private func refuse(_ offer: IncomingOffer, _ name: String) async {
    if let end = offer.failure { return failed(offer, name, TransferFailure(end, on: .receiver)) }
    let failure: TransferFailure
    if isFull {
      failure = TransferFailure(
        word: "enough", message: "as many files were stored as were asked for", exitCode: .stored)
      await offer.decline(.declined, detail: failure.message)
    } else {
      failure = TransferFailure(PiconetError(.cancelled, blame: .us), on: .receiver)
      await offer.decline(.cancelled)
    }
    failed(offer, name, failure)
  }

  /// - Parameter isTold: whether it has a line on standard error; the event and the sum have it in any case.
  private func failed(_ offer: IncomingOffer, _ name: String, _ failure: TransferFailure, isTold: Bool = true) {
    let sender = TransferPeer(offer.sender)
    let suppressed = failures.change { $0.take(offer.sender) }
    tell(
      .failed(
        ProgramEvent.Failed(
          peer: sender.fingerprint, file: name, reason: failure.word, message: failure.message,
          exitCode: failure.exitCode, transferred: Int64(clamping: offer.receivedByteCount),
          suppressed: NoticeBudget.figure(suppressed))),
      of: sender, isWritten: suppressed != nil)
    guard let suppressed, isTold, sums.listsFailure(of: sender) else { return }
    console.problem(
      "\(console.safe(name)) from \(console.safe(sender.name)): \(console.safe(failure.message))"
        + (suppressed > 0 ? "; so did \(suppressed) more, which were not told" : ""))
  }
}
