import Piconet
import Synchronization

/// Sends the gathered files to one member, a few at once.
struct Delivery: Sendable {
  let member: Member
  let files: FileFeed
  let console: Console
  let gathering: GatheringNotes
  let location: LocationRule
  let board: TransferBoard
  let notes: ConnectionNotes
  /// After this long without progress the peer is given up, even if the connection is alive.
  let patience: Duration
  /// Whether the receiver may be found again if it is gone: then files without an outcome go back to the feed.
  var mayGoOn = false

  /// What the files' tasks share.
  private final class Shared: Sendable {
    struct State {
      /// Why nothing more can be sent.
      var end: TransferFailure?
      var patience: DeliveryPatience
      /// Files that did not arrive although they were not given up.
      var unfinished = 0
      /// Files that were not even offered, since nothing more can be sent.
      var untried = 0
      /// Whether the receiver is there and takes nothing: another connection to it would change nothing.
      var isStalled = false
      /// Whether a receiver may have kept a part of one of them.
      var keepsPart = false
    }
    let state: Mutex<State>

    init(patience: Duration) { state = Mutex(State(patience: DeliveryPatience(limit: patience, at: .now))) }
  }

  private var peer: String { member.proven.fingerprint.description }

  /// Returns when each file has its outcome, which has been reported, or has gone back to the feed.
  /// - Returns: why the receiver is gone, if files have gone back.
  func run() async -> TransferFailure? {
    let shared = Shared(patience: patience)
    let peer = TransferPeer(member.proven)
    board.open(peer)
    defer { board.over(peer) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await watch(shared) }
      group.addTask { await sendAll(shared) }
      // All have their outcome, or nothing moves any more: then what is under way ends as by a signal, and the receiver
      // keeps what it has of it. If we left at once, the transfers would count as given up.
      await group.next()
      group.cancelAll()
    }
    if let end = shared.state.withLock({ $0.end }), goesOn(after: end, shared) { return end }
    tellHowToGoOn(shared)
    return nil
  }

  private func hasGone(_ shared: Shared) -> Bool {
    shared.state.withLock { $0.end }.map { goesOn(after: $0, shared) } ?? false
  }

  private func goesOn(after end: TransferFailure, _ shared: Shared) -> Bool {
    mayGoOn && !shared.state.withLock({ $0.isStalled }) && ReceiverReturn.isPossible(after: end) && !Task.isCancelled
  }

  private func sendAll(_ shared: Shared) async {
    await withTaskGroup(of: GatheredFile.self) { senders in
      var underWay = FilesUnderWay()
      while !hasGone(shared), let file = await files.next() {
        while !underWay.admits(file), let ended = await senders.next() { underWay.end(ended) }
        underWay.begin(file)
        senders.addTask {
          await send(file, shared)
          return file
        }
      }
    }
  }

  /// A person would not guess that nothing is lost.
  private func tellHowToGoOn(_ shared: Shared) {
    let (unfinished, keepsPart, untried) = shared.state.withLock { ($0.unfinished, $0.keepsPart, $0.untried) }
    if console.listsFailures, untried > CommandLineLimits.untriedTold {
      console.note("not sent either, of files that are not named here: \(untried - CommandLineLimits.untriedTold)")
    }
    guard unfinished > 0 else { return }
    console.note(keepsPart ? Self.howToGoOn : Self.howToRepeat)
  }

  private static let howToRepeat = "Run the same command again: what is stored is not sent again"
  static let howToGoOn = howToRepeat + ", and a large file goes on where it stopped"

  /// Returns when nothing has moved for too long, and says so.
  private func watch(_ shared: Shared) async {
    while !Task.isCancelled {
      let end = shared.state.withLock { state -> ContinuousClock.Instant? in
        guard let failure = state.patience.failure(at: .now) else { return state.patience.end }
        state.isStalled = state.end == nil
        state.end = state.end ?? failure
        return nil
      }
      guard let end else { return }
      try? await ContinuousClock().sleep(until: end)
    }
  }

  private func send(_ file: GatheredFile, _ shared: Shared) async {
    let name = file.path.readable
    let end = shared.state.withLock { $0.end } ?? (Task.isCancelled ? Self.interrupted : nil)
    if let end {
      if goesOn(after: end, shared) { return await files.giveBack(file) }
      let isTold = shared.state.withLock { state in
        state.unfinished += 1
        state.untried += 1
        return state.untried <= CommandLineLimits.untriedTold
      }
      // The files that were under way have said why.
      return failed(name, end, isTold: isTold && (console.listsFailures || board.areFew))
    }
    gathering.tell(renamed: file)
    let mediaType = file.kind?.mediaType
    let key = board.begin(name, peer: TransferPeer(member.proven), total: file.size)
    defer { board.end(key) }
    let clean: CleanFile?
    let opened: OpenablePath?
    do throws(TransferFailure) {
      clean = try await prepare(file, shared)
      opened = file.isURL || clean != nil ? nil : try OpenablePath(file.content ?? file.path)
    } catch {
      guard error == Self.interrupted else { return failed(name, error) }
      let end = shared.state.withLock { $0.end } ?? error
      if goesOn(after: end, shared) { return await files.giveBack(file) }
      shared.state.withLock { $0.unfinished += 1 }
      return failed(name, end)
    }
    defer { withExtendedLifetime((clean, opened)) {} }
    if !file.isURL {
      console.tell(
        .offered(
          ProgramEvent.Offered(peer: peer, file: name, bytes: clean?.size ?? file.size, mediaType: mediaType)))
    }
    let isFinishing = Mutex(false)
    defer { if isFinishing.withLock({ $0 }) { shared.state.withLock { $0.patience.finished() } } }
    shared.state.withLock { $0.patience.moved(at: .now) }
    do throws(PiconetError) {
      let transfer: OutgoingTransfer
      if let path = clean?.path ?? opened?.text {
        var resource = Resource.file(path, named: file.name.text, below: file.folder, mediaType: mediaType)
        resource.contentIdentity = clean?.identity
        transfer = try await member.startSending(resource)
      } else {
        transfer = try await startSending(url: name, as: file.name, key)
      }
      let following = transfer.changes.follow { [board] compared in
        board.compared(key, done: compared)
        shared.state.withLock { $0.patience.moved(at: .now) }
      } stored: { [board, notes, member] stored, total in
        board.progressed(key, done: stored)
        let isWhole =
          stored >= total
          && isFinishing.withLock { flag in
            defer { flag = true }
            return !flag
          }
        shared.state.withLock { state in
          state.patience.moved(at: .now)
          if isWhole { state.patience.beganFinishing() }
        }
        // Now, since a receiver that has enough leaves when everything is stored.
        if isWhole { notes.lookSoon(at: member.proven) }
      }
      let sent = try await transfer.interruptibleResult(behind: following)
      shared.state.withLock { $0.patience.moved(at: .now) }
      board.end(key, isStored: !sent.wasAlreadyPresent)
      stored(file, sent, without: clean?.takenOut ?? [])
    } catch {
      shared.state.withLock { $0.patience.moved(at: .now) }
      board.end(key)
      if error.code == .exists, error.blame == .peer { return skipped(name) }
      if error.code == .nameRefused, error.blame == .peer, let place = file.onCards {
        return await send(file.offered(at: place), shared)
      }
      var failure = TransferFailure(error, on: .sender)
      shared.state.withLock { state in
        // Given up by `watch`, or ended with the link or a program.
        if error.mayGoOn || state.end?.word == "timed-out" { state.unfinished += 1 }
        if error.mayGoOn, !file.isURL, UInt64(clamping: file.size) > ReceivingDirectory.largestUnkeptSize {
          state.keepsPart = true
        }
      }
      // Only what the end of all has taken along goes back: a file that failed on its own has its outcome.
      var endedWithAll = false
      if failure.endsConnection {
        endedWithAll = true
        // The first failure knows why; the others only know that it is over.
        failure = shared.state.withLock { state in
          if state.end == nil { state.end = failure }
          return state.end ?? failure
        }
      } else if error.code == .cancelled, error.blame == .us, let end = shared.state.withLock({ $0.end }) {
        endedWithAll = true
        failure = end
      }
      if endedWithAll, goesOn(after: failure, shared) { return await files.giveBack(file) }
      failed(name, failure)
    }
  }

  /// What is sent in place of the file; nil: itself. The peer is not to blame for the time that this takes.
  private func prepare(_ file: GatheredFile, _ shared: Shared) async throws(TransferFailure) -> CleanFile? {
    guard location.mayChangeFiles else { return nil }
    shared.state.withLock { $0.patience.beganPreparing() }
    defer { shared.state.withLock { $0.patience.endedPreparing(at: .now) } }
    return try await location.content(of: file)
  }

  /// A server's failure is one of this side, and no reason to give up the peer.
  private func startSending(
    url: String, as name: AcceptableName, _ key: TransferBoard.Key
  ) async throws(PiconetError) -> OutgoingTransfer {
    let transfer: OutgoingTransfer
    do throws(PiconetError) {
      transfer = try await member.startSending(.url(url, named: name.text))
    } catch {
      guard let failure = error.underlying as? HTTPFailure, failure.code != .cancelled else { throw error }
      throw PiconetError(.sourceUnreadable, peer: member.id, blame: .us, detail: failure.description)
    }
    let total = transfer.progress.total
    board.begins(key, total: total)
    console.tell(
      .offered(ProgramEvent.Offered(peer: peer, file: url, bytes: Int64(clamping: total), mediaType: nil)))
    return transfer
  }

  static let interrupted = TransferFailure(word: "cancelled", message: "interrupted", exitCode: .interrupted)

  /// If there are many files, each has a line only if that was asked for, or if a reader may rely on it.
  private var listsFiles: Bool { console.listsFiles || board.areFew }

  private func stored(_ file: GatheredFile, _ sent: SentResource, without takenOut: Set<LocationKind>) {
    let path = file.path.readable
    let size = Int64(clamping: sent.size)
    let offered = (file.folder.map { $0.text + "/" } ?? "") + file.name.text
    let isElsewhere = sent.storedName != offered || file.renaming != nil
    let place = isElsewhere ? " as '\(console.safe(sent.storedName))'" : ""
    if sent.wasAlreadyPresent {
      console.tell(
        .present(
          ProgramEvent.Present(
            peer: peer, file: path, path: path, bytes: size, sha256: sent.digest.hexadecimal, takenOut: takenOut)))
      if listsFiles {
        console.result("\(console.safe(path)): already there\(place) on \(console.name(member.proven))")
      }
      return
    }
    console.tell(
      .stored(
        ProgramEvent.Stored(
          peer: peer, file: path, path: path, bytes: size, sha256: sent.digest.hexadecimal,
          resumedFrom: sent.resumedFrom > 0 ? Int64(clamping: sent.resumedFrom) : nil, takenOut: takenOut)))
    guard listsFiles else { return }
    console.result(
      "\(console.safe(path)): stored\(place) on \(console.name(member.proven)), \(HumanFigures.bytes(size))")
  }

  private func skipped(_ file: String) {
    console.tell(.skipped(ProgramEvent.Skipped(peer: peer, file: file, reason: "exists")))
    guard listsFiles else { return }
    console.result(
      "\(console.safe(file)): skipped, \(console.name(member.proven)) has another file of that name")
  }

  /// - Parameter isTold: whether it goes to standard error; the event is written in any case, and the sum has the
  ///   reason.
  private func failed(_ file: String, _ failure: TransferFailure, isTold: Bool = true) {
    console.tell(
      .failed(
        ProgramEvent.Failed(
          peer: peer, file: file, reason: failure.word, message: failure.message, exitCode: failure.exitCode)))
    guard isTold, console.listsFailures || console.counts.failed <= CommandLineLimits.fewFiles else { return }
    // A problem with a file on this side has nothing to do with the member.
    let place = failure.exitCode == .localFile ? "" : "\(console.name(member.proven)): "
    console.problem("\(console.safe(file)): \(place)\(console.safe(failure.message))")
  }
}
