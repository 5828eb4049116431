import CPiconetSystem
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
  let manifests: ManifestExchange
  /// After this long without progress the peer is given up, even if the connection is alive.
  let patience: Duration
  /// Whether the receiver may be found again if it is gone: then files without an outcome go back to the feed.
  var mayGoOn = false
  /// Whether a receiver that may have all bytes of a file, and falls silent, is asked once more: its last word may be
  /// lost.
  var mayAskAgain = false

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
      /// Whether the receiver is asked once more, over another connection.
      var asksAgain = false
      /// Whether a receiver may have kept a part of one of them.
      var keepsPart = false
      var pace = ManifestPace()
      /// Files that are opened or read here.
      var reading: [TransferBoard.Key: Reading] = [:]
      var slowReads: SlowReads<TransferBoard.Key>
      /// Files that were given up since a disk of this side does not answer.
      var unanswered: Set<TransferBoard.Key> = []
    }
    let state: Mutex<State>

    init(patience: Duration) {
      state = Mutex(
        State(patience: DeliveryPatience(limit: patience, at: .now), slowReads: SlowReads(limit: patience)))
    }
  }

  /// A file that is opened or read here.
  private struct Reading: Sendable {
    /// Since when one call has been at it; nil while none is.
    let since: @Sendable () -> ContinuousClock.Instant?
    let giveUp: @Sendable () -> Void
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
    if let end = shared.state.withLock({ $0.end }) {
      if goesOn(after: end, shared) { return end }
      // Those that had no turn. If a person has ended the program, the feed has no more.
      while let file = await files.next() { await leaveUntried(file, end, shared) }
    }
    tellHowToGoOn(shared)
    return nil
  }

  private func hasGone(_ shared: Shared) -> Bool {
    shared.state.withLock { $0.end }.map { goesOn(after: $0, shared) } ?? false
  }

  private func goesOn(after end: TransferFailure, _ shared: Shared) -> Bool {
    let (isStalled, asksAgain) = shared.state.withLock { ($0.isStalled, $0.asksAgain) }
    // Then the tasks of the files are cancelled by `run`.
    if asksAgain { return true }
    return mayGoOn && !isStalled && ReceiverReturn.isPossible(after: end) && !Task.isCancelled
  }

  /// What has ended of what goes on at once.
  private enum Ended: Sendable {
    case file(GatheredFile)
    /// A manifest, with the files that have to be offered.
    case manifest([GatheredFile])
  }

  private func sendAll(_ shared: Shared) async {
    await withTaskGroup(of: Ended.self) { group in
      var underWay = FilesUnderWay(descriptors: Int(clamping: piconet_descriptor_limit()))
      var asked = 0
      // Those that were asked about and are not there come first, and are not asked about again.
      var rest: [GatheredFile] = []
      func end(_ ended: Ended) {
        switch ended {
        case .file(let file): underWay.end(file)
        case .manifest(let files):
          asked -= 1
          rest += files
        }
      }
      while !hasGone(shared) {
        if rest.isEmpty, let count = count(ofManifest: shared) {
          if asked == ManifestExchange.atOnce {
            if let ended = await group.next() { end(ended) }
            continue
          }
          let files = await files.next(atMost: count)
          let (claimed, others) = FilesToClaim.split(files)
          rest += others
          if !claimed.isEmpty {
            asked += 1
            group.addTask { .manifest(await ask(about: claimed, shared)) }
            continue
          }
        }
        var next = rest.popLast()
        if next == nil { next = await files.next() }
        guard let file = next else {
          guard asked > 0, let ended = await group.next() else { break }
          end(ended)
          continue
        }
        while !underWay.admits(file), let ended = await group.next() { end(ended) }
        underWay.begin(file)
        group.addTask {
          await send(file, shared)
          return .file(file)
        }
      }
      while let ended = await group.next() { end(ended) }
      for file in rest { await files.giveBack(file) }
    }
  }

  /// How many files are asked about at once now; nil: they are offered.
  private func count(ofManifest shared: Shared) -> Int? {
    guard manifests.isPossible, !location.mayChangeFiles, !Task.isCancelled else { return nil }
    return shared.state.withLock { $0.end == nil ? $0.pace.count : nil }
  }

  /// - Returns: the files that have to be offered.
  private func ask(about files: [GatheredFile], _ shared: Shared) async -> [GatheredFile] {
    var manifest = manifests.begin()
    var claimed: [GatheredFile] = []
    var others: [GatheredFile] = []
    for (file, digest) in zip(files, await digests(of: files, shared)) {
      let isIn = digest.map { manifest.add(FileManifest.File(name: file.offeredPath, bytes: file.size, digest: $0)) }
      if isIn == true { claimed.append(file) } else { others.append(file) }
    }
    shared.state.withLock { $0.patience.moved(at: .now) }
    guard !claimed.isEmpty, let answer = await manifests.ask(manifest) else { return others + claimed }
    shared.state.withLock { $0.patience.moved(at: .now) }
    var present = 0
    for (index, file) in claimed.enumerated() {
      let path: String
      switch answer.outcomes[index] {
      case .absent:
        others.append(file)
        continue
      case .present: path = file.offeredPath
      case .presentAs(let other): path = other
      }
      present += 1
      tellPresent(file, as: path, manifest.files[index].digest)
    }
    shared.state.withLock { $0.pace.answered(present: present, of: claimed.count) }
    return others
  }

  /// nil for what can't be read now: the offer says why.
  private func digests(of files: [GatheredFile], _ shared: Shared) async -> [SHA256Digest?] {
    shared.state.withLock { $0.patience.beganPreparing() }
    defer { shared.state.withLock { $0.patience.endedPreparing(at: .now) } }
    let atOnce =
      files.allSatisfy { ($0.content ?? $0.path).text != nil }
      ? max(1, files.count) : CommandLineLimits.unreadableNamesAtOnce
    var digests: [SHA256Digest?] = []
    while digests.count < files.count {
      let part = files[digests.count..<min(files.count, digests.count + atOnce)]
      let opened = part.map { try? OpenablePath($0.content ?? $0.path) }
      defer { withExtendedLifetime(opened) {} }
      let paths = zip(part, opened).map { file, opened in
        (path: opened?.text ?? "", size: UInt64(clamping: file.size))
      }
      digests += (try? await member.contentDigests(ofFiles: paths)) ?? part.map { _ in nil }
    }
    return digests
  }

  private func tellPresent(_ file: GatheredFile, as path: String, _ digest: SHA256Digest) {
    gathering.tell(renamed: file)
    let name = file.path.readable
    board.end(board.begin(name, peer: TransferPeer(member.proven), total: file.size))
    console.tell(
      .offered(ProgramEvent.Offered(peer: peer, file: name, bytes: file.size, mediaType: file.kind?.mediaType)))
    present(file, as: path, bytes: file.size, digest, without: [])
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
      let mayBeWhole = board.mayBeWhole(TransferPeer(member.proven))
      let isSuspended = member.transport == nil
      for reading in unanswered(shared) { reading.giveUp() }
      let end = shared.state.withLock { state -> ContinuousClock.Instant? in
        // One that is not heard at all has lost its connection, which ends in the same time, and may come back. Only
        // one that answers, and takes nothing, is stalled; and while a file can't be read, the receiver waits for this
        // side.
        if isSuspended && state.end == nil && !mayBeWhole || state.slowReads.isAny { state.patience.moved(at: .now) }
        let next = min(state.patience.end, .now + state.slowReads.interval)
        guard let failure = state.patience.failure(at: .now) else { return next }
        if state.end == nil {
          state.asksAgain = mayGoOn && mayAskAgain && mayBeWhole
          state.isStalled = !state.asksAgain
        }
        state.end = state.end ?? failure
        return nil
      }
      guard let end else { return }
      try? await ContinuousClock().sleep(until: end)
    }
  }

  /// The files whose disk has not answered for too long. Each fails for itself; the others go on.
  private func unanswered(_ shared: Shared) -> [Reading] {
    shared.state.withLock { state in
      let hanging = state.slowReads.look(state.reading.compactMapValues { $0.since() }, at: .now)
      state.unanswered.formUnion(hanging)
      return hanging.compactMap { state.reading[$0] }
    }
  }

  // MARK: One file

  private func send(_ file: GatheredFile, _ shared: Shared) async {
    if let end = shared.state.withLock({ $0.end }) ?? (Task.isCancelled ? Self.interrupted : nil) {
      return await leaveUntried(file, end, shared)
    }
    gathering.tell(renamed: file)
    let key = board.begin(file.path.readable, peer: TransferPeer(member.proven), total: file.size)
    defer {
      board.end(key)
      shared.state.withLock { state in
        state.reading[key] = nil
        state.unanswered.remove(key)
      }
    }
    let content: Content
    do throws(TransferFailure) {
      content = try await open(file, shared)
    } catch {
      return await failedToOpen(file, error, shared)
    }
    defer { withExtendedLifetime(content) {} }
    let seen = Guarded(Seen())
    do throws(PiconetError) {
      let sent = try await transfer(file, content, key, seen, shared)
      let moved = board.end(key, isStored: !sent.wasAlreadyPresent, resumedFrom: sent.resumedFrom)?.moved ?? 0
      stored(file, sent, transferred: moved, without: content.clean?.takenOut ?? [])
    } catch {
      shared.state.withLock { $0.patience.moved(at: .now) }
      var file = file
      if seen.value.wasOffered { file.former.wasOffered = true }
      if let ended = board.end(key) {
        file.former.transferred.add(bytes: ended.moved)
        let rest = max(0, ended.total - ended.done)
        file.former.unconfirmed = seen.value.isLacked && rest <= CommandLineLimits.bytesAhead ? rest : nil
      }
      if shared.state.withLock({ $0.unanswered.contains(key) }) {
        // Not the receiver's fault, nor that of the other files.
        let message = "it could not be read in time: its disk has not answered for \(HumanFigures.seconds(patience))"
        return failed(file, TransferFailure(word: "source-unreadable", message: message, exitCode: .localFile))
      }
      await ended(file, error, shared)
    }
  }

  /// Nothing more can be sent.
  private func leaveUntried(_ file: GatheredFile, _ end: TransferFailure, _ shared: Shared) async {
    if goesOn(after: end, shared) { return await files.giveBack(file) }
    let isTold = shared.state.withLock { state in
      state.unfinished += 1
      state.untried += 1
      return state.untried <= CommandLineLimits.untriedTold
    }
    // The files that were under way have said why.
    failed(file, end, isTold: isTold && (console.listsFailures || board.areFew))
  }

  /// What is sent of a file: a copy without what it was not to tell, or itself; neither is of a URL.
  private struct Content {
    let clean: CleanFile?
    let opened: OpenablePath?
  }

  private func open(_ file: GatheredFile, _ shared: Shared) async throws(TransferFailure) -> Content {
    let clean = try await prepare(file, shared)
    return Content(
      clean: clean, opened: file.isURL || clean != nil ? nil : try OpenablePath(file.content ?? file.path))
  }

  private func failedToOpen(_ file: GatheredFile, _ failure: TransferFailure, _ shared: Shared) async {
    guard failure == Self.interrupted else { return failed(file, failure) }
    let end = shared.state.withLock { $0.end } ?? failure
    if goesOn(after: end, shared) { return await files.giveBack(file) }
    shared.state.withLock { $0.unfinished += 1 }
    failed(file, end)
  }

  /// What is known of a file's transfer once it has failed.
  private struct Seen: Sendable {
    /// False for a file that could not be read here, or fetched.
    var wasOffered = false
    /// Whether the receiver said that it lacks content of the file.
    var isLacked = false
  }

  /// Sends what was opened, and waits until the receiver has it.
  private func transfer(
    _ file: GatheredFile, _ content: Content, _ key: TransferBoard.Key, _ seen: Guarded<Seen>, _ shared: Shared
  ) async throws(PiconetError) -> SentResource {
    let isFinishing = Mutex(false)
    defer { if isFinishing.withLock({ $0 }) { shared.state.withLock { $0.patience.finished() } } }
    let transfer = try await startSending(file, content, key, shared)
    shared.state.withLock {
      $0.reading[key] = Reading(since: { transfer.readingSince }, giveUp: { transfer.interrupt() })
    }
    seen.change { $0.wasOffered = true }
    defer { seen.change { $0.isLacked = transfer.progress.isLacked } }
    let following = transfer.changes.follow { [board] compared in
      board.compared(key, done: compared)
      shared.state.withLock { $0.patience.moved(at: .now) }
    } stored: { [board, notes, member] progress in
      board.progressed(key, done: progress.stored, resumedFrom: progress.resumedFrom)
      let isWhole =
        progress.stored >= progress.total
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
    let isNear = shared.state.withLock { state in
      state.patience.moved(at: .now)
      state.pace.ended(wasPresent: sent.wasAlreadyPresent)
      return state.pace.isNear
    }
    if isNear { await manifests.probe() }
    return sent
  }

  private func startSending(
    _ file: GatheredFile, _ content: Content, _ key: TransferBoard.Key, _ shared: Shared
  ) async throws(PiconetError) -> OutgoingTransfer {
    let (name, mediaType) = (file.path.readable, file.kind?.mediaType)
    if !file.isURL {
      console.tell(
        .offered(
          ProgramEvent.Offered(
            peer: peer, file: name, bytes: content.clean?.size ?? file.size, mediaType: mediaType)))
    }
    shared.state.withLock { $0.patience.moved(at: .now) }
    guard let path = content.clean?.path ?? content.opened?.text else {
      return try await startSending(url: name, as: file.name, key)
    }
    var resource = Resource.file(path, named: file.name.text, below: file.folder, mediaType: mediaType)
    resource.contentIdentity = content.clean?.identity
    resource.group.paths = file.group.compactMap { String(validating: $0.bytes, as: UTF8.self) }
    resource.group.keepsContent = !location.mayChangeFiles
    let opening = Task { [member, resource] () -> Result<OutgoingTransfer, PiconetError> in
      do throws(PiconetError) {
        return .success(try await member.startSending(resource))
      } catch {
        return .failure(error)
      }
    }
    // It may have to wait for descriptors first.
    let begun = ContinuousClock.now + CommandLineLimits.waitForDescriptors
    shared.state.withLock {
      $0.reading[key] = Reading(since: { .now < begun ? nil : begun }, giveUp: { opening.cancel() })
    }
    return try await withTaskCancellationHandler {
      await opening.value
    } onCancel: {
      opening.cancel()
    }.get()
  }

  /// A file did not arrive.
  private func ended(_ file: GatheredFile, _ error: PiconetError, _ shared: Shared) async {
    if error.code == .exists, error.blame == .peer { return skipped(file.path.readable) }
    if error.code == .nameRefused, error.blame == .peer, let place = file.onCards {
      return await send(file.offered(at: place), shared)
    }
    shared.state.withLock { state in
      // Given up by `watch`, or ended with the link or a program.
      let isInterrupted = error.code == .cancelled && error.blame == .us
      if error.mayGoOn || isInterrupted || state.end?.word == "timed-out" { state.unfinished += 1 }
      if error.mayGoOn, !file.isURL, UInt64(clamping: file.size) > ReceivingDirectory.largestUnkeptSize {
        state.keepsPart = true
      }
    }
    // Only what the end of all has taken along goes back: a file that failed on its own has its outcome.
    if let end = endOfAll(with: error, shared) {
      if goesOn(after: end, shared) { await files.giveBack(file) } else { failed(file, end) }
    } else {
      failed(file, TransferFailure(error, on: .sender))
    }
  }

  /// Why nothing more can be sent, if the file has ended with that. The first failure knows why; the others only know
  /// that it is over.
  private func endOfAll(with error: PiconetError, _ shared: Shared) -> TransferFailure? {
    let failure = TransferFailure(error, on: .sender)
    // A file may time out on its own while the receiver answers. Where it does not, the connection has.
    let endsConnection = failure.endsConnection || error.code == .timedOut && member.transport == nil
    return shared.state.withLock { state in
      if endsConnection {
        if state.end == nil { state.end = failure }
        return state.end
      }
      return error.code == .cancelled && error.blame == .us ? state.end : nil
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

  private func stored(
    _ file: GatheredFile, _ sent: SentResource, transferred: Int64, without takenOut: Set<LocationKind>
  ) {
    let size = Int64(clamping: sent.size)
    var file = file
    let crossed = Int64(clamping: sent.size - min(sent.size, sent.resumedFrom))
    // Without what it was not to tell the file may have another size than was counted.
    file.former.transferred.add(bytes: sent.wasAlreadyPresent ? transferred : crossed)
    if sent.wasAlreadyPresent {
      return present(file, as: sent.storedName, bytes: size, sent.digest, without: takenOut)
    }
    stored(
      file, as: sent.storedName, bytes: size, sent.digest, resumedFrom: Int64(clamping: sent.resumedFrom),
      without: takenOut)
  }

  private func stored(
    _ file: GatheredFile, as storedName: String, bytes: Int64, _ digest: SHA256Digest, resumedFrom: Int64 = 0,
    without takenOut: Set<LocationKind>
  ) {
    let path = file.path.readable
    console.tell(
      .stored(
        ProgramEvent.Stored(
          peer: peer, file: path, path: path, bytes: bytes, sha256: digest.hexadecimal,
          resumedFrom: resumedFrom > 0 ? resumedFrom : nil, transferred: file.former.transferred, takenOut: takenOut)))
    guard listsFiles else { return }
    let before = resumedFrom > 0 ? ", continued from \(HumanFigures.bytes(resumedFrom))" : ""
    console.result(
      sentence: "\(console.safe(path)): stored\(place(of: file, storedName)) on \(console.name(member.proven)), "
        + HumanFigures.bytes(bytes) + before)
  }

  private func present(
    _ file: GatheredFile, as storedName: String, bytes: Int64, _ digest: SHA256Digest,
    without takenOut: Set<LocationKind>
  ) {
    // It was this run that stored it.
    if let unconfirmed = file.former.unconfirmed {
      var file = file
      file.former.transferred.add(bytes: unconfirmed)
      return stored(file, as: storedName, bytes: bytes, digest, without: takenOut)
    }
    let path = file.path.readable
    console.tell(
      .present(
        ProgramEvent.Present(
          peer: peer, file: path, path: path, bytes: bytes, sha256: digest.hexadecimal,
          transferred: file.former.transferred, takenOut: takenOut)))
    guard listsFiles else { return }
    console.result(
      sentence:
        "\(console.safe(path)): already there\(place(of: file, storedName)) on \(console.name(member.proven))")
  }

  /// What the receiver calls it, if that is not what the person calls it.
  private func place(of file: GatheredFile, _ storedName: String) -> String {
    storedName != file.offeredPath || file.renaming != nil ? " as '\(console.safe(storedName))'" : ""
  }

  private func skipped(_ file: String) {
    console.tell(.skipped(ProgramEvent.Skipped(peer: peer, file: file, reason: "exists")))
    guard listsFiles else { return }
    console.result(
      sentence:
        "\(console.safe(file)): skipped, \(console.name(member.proven)) has another file of that name")
  }

  /// - Parameter isTold: whether it goes to standard error; the event is written in any case, and the sum has the
  ///   reason.
  private func failed(_ file: GatheredFile, _ failure: TransferFailure, isTold: Bool = true) {
    let name = file.path.readable
    console.tell(
      .failed(
        ProgramEvent.Failed(
          peer: peer, file: name, reason: failure.word, message: failure.message, exitCode: failure.exitCode,
          transferred: file.former.transferred, wasOffered: file.former.wasOffered)))
    guard isTold, console.listsFailures || console.counts.failed <= CommandLineLimits.fewFiles else { return }
    // What happened on this side has nothing to do with the member.
    let place = failure.exitCode.isOfThisSide ? "" : "\(console.name(member.proven)): "
    console.problem("\(console.safe(name)): \(place)\(console.safe(failure.message))")
  }
}
