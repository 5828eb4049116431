import Piconet
import Synchronization

/// Stores what senders offer: several at once, of each sender at most so many.
final class OfferDesk: Sendable {
  private let node: Node
  private let console: Console
  private let board: TransferBoard
  private let notes: ConnectionNotes
  private let directory: ReceivingDirectory
  private let policy: ConflictPolicy
  private let takesAny: Bool
  /// Files that may still be stored; nil: any number.
  private let places: FilePlaces?
  private let limit: Int?
  private let underWay = OffersUnderWay()
  /// Offers that leave nothing behind but a line: without a bound they would fill a log.
  private let failures = Guarded(
    NoticeBudget(ofKey: NoticeBudget.offerBurst, ofAddress: NoticeBudget.offerBurst, ofKnown: NoticeBudget.offerBurst))
  private let repeats = Guarded(NoticeBudget(of: NoticeBudget.repeatBurst))
  /// Offers that are told before it is known what becomes of them.
  private let offers = Guarded(NoticeBudget(of: NoticeBudget.repeatBurst))
  /// Files that may have taken the place of others.
  private let overwrites = Guarded(NoticeBudget(of: NoticeBudget.overwriteBurst))
  private let state = Mutex(State())

  private struct State {
    var gates: [NodeID: TaskGate] = [:]
    var stored = 0
    /// Files that did not arrive whole, and of which there may be a part that another transfer goes on with.
    var parts: Set<Part> = []
  }

  private struct Part: Hashable {
    let peer: String
    let name: String
  }

  init(
    node: Node, console: Console, board: TransferBoard, notes: ConnectionNotes, directory: ReceivingDirectory,
    arguments: ImageReceiveArguments
  ) {
    self.node = node
    self.console = console
    self.board = board
    self.notes = notes
    self.directory = directory
    policy = arguments.onConflict
    takesAny = arguments.any
    limit = arguments.count
    places = arguments.count.map { FilePlaces($0, patience: arguments.timeout) }
  }

  /// Until as many files are stored as were asked for, or the task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      // The offers are read by a child too, so that it ends with the others when enough is stored.
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

  /// Whether there were to be more files.
  var lacksFiles: Bool { limit != nil && !isFull }

  private var isFull: Bool { limit.map { limit in state.withLock { $0.stored >= limit } } ?? false }

  /// Forgets a sender that has left.
  func left(_ node: NodeID) { state.withLock { $0.gates[node] = nil } }

  private func take(_ offer: IncomingOffer) async {
    let peer = offer.sender.fingerprint.description
    let folder = offer.rawFolder.isEmpty ? [] : offer.rawFolder + [0x2F]
    let name = String(decoding: folder + offer.rawName, as: UTF8.self)
    let offered = Event.offered(
      Event.Offered(
        peer: peer, file: name, bytes: Int64(clamping: offer.size),
        mediaType: offer.mediaType.isEmpty ? nil : offer.mediaType))
    // Of whom too many have failed, or were here already, the next one is told once it is stored.
    let isTold =
      [failures, repeats].allSatisfy { budget in budget.change { $0.tells(offer.sender) } }
      && offers.change { $0.take(offer.sender) } != nil
    if isTold { console.tell(offered) }
    let late = isTold ? nil : offered
    let gate = state.withLock { state -> TaskGate in
      if let gate = state.gates[offer.sender.id] { return gate }
      let gate = TaskGate(CommandLineLimits.filesStoredAtOnce)
      state.gates[offer.sender.id] = gate
      return gate
    }
    guard await gate.enter() else { return await refuse(offer, name) }
    defer { gate.leave() }
    guard let places else {
      _ = await store(offer, name, peer, nil, late)
      return
    }
    guard let place = await places.enter(peer) else { return await refuse(offer, name) }
    // A place that was used stays used.
    let isStored = await store(offer, name, peer, place, late)
    places.leave(place, isUsed: isStored)
  }

  /// - Parameter late: told before the outcome, if that is no failure.
  /// - Returns: whether it was stored.
  private func store(
    _ offer: IncomingOffer, _ name: String, _ peer: String, _ place: FilePlaceTable.Place?, _ late: Event?
  ) async -> Bool {
    let key = board.begin(
      name, peer: peer, total: Int64(clamping: offer.size), isTrusted: offer.sender.rights.contains(.push),
      isTold: late == nil)
    defer { board.end(key) }
    let content: (@Sendable ([UInt8]) -> Bool)? = takesAny ? nil : Self.isImage
    await notes.look(at: offer.sender)
    let following = offer.changes.follow { [board, places] done in
      board.compared(key, done: done)
      // How fast it goes is our disk's doing, not the sender's.
      if let place { places?.compared(place) }
    } stored: { [board, notes, places] done, total in
      board.progressed(key, done: done)
      if let place { places?.moved(place, done: done, of: total) }
      // Now, since a sender leaves when it hears that all is stored.
      if done == total { notes.lookSoon(at: offer.sender) }
    }
    defer { following.cancel() }
    do throws(PiconetError) {
      let transfer = try await offer.startStoring(in: directory, onConflict: policy, content: content)
      if let place { places?.whenStanding(place) { transfer.giveUpForNow() } }
      let file = try await transfer.interruptibleResult(behind: following)
      board.end(key)
      state.withLock { state in
        state.stored += 1
        state.parts.remove(Part(peer: peer, name: name))
      }
      if file.wasThere {
        let suppressed = repeats.change { $0.take(offer.sender) }
        if let late, suppressed != nil { console.tell(late) }
        console.tell(
          .present(
            Event.Present(
              peer: peer, file: name, path: file.path, bytes: Int64(clamping: file.size),
              sha256: file.digest.hexadecimal, suppressed: NoticeBudget.figure(suppressed))),
          isWritten: suppressed != nil)
        guard let suppressed else { return true }
        console.result(path: file.path)
        console.note(
          "\(console.safe(name)) from \(console.safe(offer.sender.petname)): already there"
            + NoticeBudget.words(suppressed))
        return true
      }
      // A file that is new is more than the line about it.
      let suppressed = policy == .overwrite ? overwrites.change { $0.take(offer.sender) } : 0
      if let late, suppressed != nil { console.tell(late) }
      console.tell(
        .stored(
          Event.Stored(
            peer: peer, file: name, path: file.path, bytes: Int64(clamping: file.size), sha256: file.digest.hexadecimal,
            resumedFrom: file.resumedFrom > 0 ? Int64(clamping: file.resumedFrom) : nil,
            suppressed: NoticeBudget.figure(suppressed))),
        isWritten: suppressed != nil)
      guard let suppressed else { return true }
      console.result(path: file.path)
      console.note(
        "\(console.safe(name)) from \(console.safe(offer.sender.petname)), \(HumanFigures.bytes(Int64(clamping: file.size)))"
          + NoticeBudget.othersNotTold(suppressed), detail: 1)
      return true
    } catch {
      board.end(key)
      if error.code == .exists, policy == .skip {
        let suppressed = repeats.change { $0.take(offer.sender) }
        if let late, suppressed != nil { console.tell(late) }
        console.tell(
          .skipped(
            Event.Skipped(
              peer: peer, file: name, reason: "exists", suppressed: NoticeBudget.figure(suppressed))),
          isWritten: suppressed != nil)
        guard let suppressed else { return false }
        console.note(
          "\(console.safe(name)) from \(console.safe(offer.sender.petname)): skipped, another file has the name"
            + NoticeBudget.words(suppressed))
      } else {
        failed(offer, name, TransferFailure(error, on: .receiver))
        if error.mayGoOn, offer.isResumable {
          state.withLock { state in
            // More are not kept anyway, and one is enough to speak of them.
            if state.parts.count < ReceivingDirectory.keptFileLimit { state.parts.insert(Part(peer: peer, name: name)) }
          }
        }
      }
      return false
    }
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

  /// Nothing more is taken: enough was stored, or a person has ended the program.
  private func refuse(_ offer: IncomingOffer, _ name: String) async {
    let failure: TransferFailure
    if isFull {
      failure = TransferFailure(
        word: "enough", message: "as many files were stored as were asked for", exitCode: .stored)
      await offer.decline(.declined, detail: failure.message)
    } else {
      failure = Delivery.interrupted
      await offer.decline(.cancelled)
    }
    failed(offer, name, failure)
  }

  private func failed(_ offer: IncomingOffer, _ name: String, _ failure: TransferFailure) {
    let sender = offer.sender
    let suppressed = failures.change { $0.take(sender) }
    console.tell(
      .failed(
        Event.Failed(
          peer: sender.fingerprint.description, file: name, reason: failure.word, message: failure.message,
          exitCode: failure.exitCode, suppressed: NoticeBudget.figure(suppressed))),
      isWritten: suppressed != nil)
    guard let suppressed else { return }
    console.problem(
      "\(console.safe(name)) from \(console.safe(sender.petname)): \(console.safe(failure.message))"
        + (suppressed > 0 ? "; so did \(suppressed) more, which were not told" : ""))
  }
}
