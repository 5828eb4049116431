import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire
import Synchronization

/// Incoming resources: a store is opened on the disk thread, then the offer is accepted.
extension NodeCore {
  func store(
    _ offer: IncomingOffer, in directory: ReceivingDirectory, as name: String?, onConflict policy: ConflictPolicy,
    content: (@Sendable ([UInt8]) -> Bool)?, unless refusal: @escaping @Sendable (UInt64) -> String? = { _ in nil }
  ) async throws(PiconetError) -> IncomingTransfer<ReceivedFile> {
    if let name { try Self.check(name) }
    try await claim(offer)
    let place = await OpenFiles.ofProcess.place(for: .store)
    let sender = offer.sender.id
    let wish = FileStore.Wish(
      rawName: name.map { Array($0.utf8) } ?? offer.rawName, rawFolder: name == nil ? offer.rawFolder : [],
      size: offer.size, policy: policy, modified: offer.modificationTime,
      key: await offer.resumptionKey, rawGroup: name == nil ? offer.group : [], refusal: refusal)
    let store: FileStore
    do throws(PiconetError) {
      store = try await onDisk { () throws(FileFailure) in
        let place = try directory.place()
        return try FileStore(in: place.directory, wish, of: place.traces.files(of: sender), content: content)
      }
      try await compare(store, offer)
      if !store.claimsAll, let detail = refusal(store.offset) {
        try await onDisk { () throws(FileFailure) in store.keep() }
        throw PiconetError(.declined, blame: .us, detail: detail)
      }
    } catch {
      let told = (error.underlying as? FileFailure)?.toldSender ?? Self.told(error)
      _ = await answer(to: .declineOffer(offer.transfer, told.reason, detail: told.detail))
      throw PiconetError(
        error.code, peer: offer.sender.id, blame: error.blame, detail: error.detail, underlying: error.underlying)
    }
    let offset = store.offset
    if !store.claimsAll, offset > 0 { offer.state.resumed(offset) }
    let transfer = IncomingTransfer<ReceivedFile>(
      offer, received: { store.stored.withLock { $0 } }, failure: { store.failure.withLock { $0 } })
    await accept(offer, into: store, offset: offset)
    if let place { Task { await offer.state.keep(place) } }
    return transfer
  }

  /// Returns what the sender is told of an error that no file has caused: that we refused, that the task was cancelled,
  /// or nothing more precise.
  private static func told(_ error: PiconetError) -> ResourceFailure {
    if error.code == .declined { return ResourceFailure(.declined, error.detail) }
    return ResourceFailure(error.code == .cancelled ? .cancelled : .internalError, "")
  }

  /// Returns how many bytes an earlier transfer of the same content has left behind, in whole blocks; a transfer
  /// resumes after most of them.
  func keptByteCount(of offer: IncomingOffer, in directory: ReceivingDirectory) async -> UInt64 {
    guard let key = await offer.resumptionKey else { return 0 }
    let kept = try? await onDisk { () throws(FileFailure) in directory.directory.keptByteCount(under: key) }
    return min(offer.size, (kept ?? 0) / BlockJournal.blockByteCount * BlockJournal.blockByteCount)
  }

  /// Checks a name that this side has chosen; if it is not valid, the offer stands.
  private static func check(_ name: String) throws(PiconetError) {
    do throws(FileNameRefusal) {
      _ = try SafeFileName(name)
    } catch {
      let failure = FileFailure(error, name: Array(name.utf8), blame: .local)
      throw PiconetError(.nameRefused, blame: .us, detail: failure.sentence, underlying: failure)
    }
  }

  /// Reads a file that may be the same, in steps. Between them other transfers get at the disk and the sender is told.
  private func compare(_ store: FileStore, _ offer: IncomingOffer) async throws(PiconetError) {
    // Once the transfer has ended, there is no reason to compare.
    while store.isComparing, offer.state.outcome == nil {
      if Task.isCancelled { throw PiconetError(.cancelled, blame: .us) }
      let compared = try await onDisk { () throws(FileFailure) in store.compare() }
      guard store.isComparing else { return }
      tell(.tellCompared(offer.transfer, byteCount: compared))
      offer.state.compared(compared)
    }
  }

  func receive(
    _ offer: IncomingOffer, upTo limit: UInt64
  ) async throws(PiconetError) -> IncomingTransfer<ReceivedData> {
    try await claim(offer)
    guard offer.size <= limit else {
      let detail = "\(offer.size) bytes; at most \(limit) are taken here"
      _ = await answer(to: .declineOffer(offer.transfer, .tooLarge, detail: detail))
      throw PiconetError(.tooLarge, peer: offer.sender.id, blame: .peer, detail: detail)
    }
    guard let store = MemoryStore(size: offer.size) else {
      _ = await answer(to: .declineOffer(offer.transfer, .internalError))
      throw PiconetError(.internalError, peer: offer.sender.id, blame: .us, detail: "no SHA-256")
    }
    let transfer = IncomingTransfer<ReceivedData>(
      offer, received: { store.stored.withLock { $0 } }, failure: { nil })
    await accept(offer, into: store, offset: 0)
    return transfer
  }

  /// Waits for the end; cancelling the task cancels the transfer.
  func finish<Received>(_ transfer: IncomingTransfer<Received>) async throws(PiconetError) -> Received {
    let result: Result<Received, PiconetError> = await withTaskCancellationHandler {
      do throws(PiconetError) {
        return .success(try await transfer.end)
      } catch {
        return .failure(error)
      }
    } onCancel: {
      transfer.cancel()
    }
    return try result.get()
  }

  private func claim(_ offer: IncomingOffer) async throws(PiconetError) {
    guard offer.state.claim() else {
      throw PiconetError(.inProgress, peer: offer.sender.id, blame: .us, detail: "the file is stored by another task")
    }
    // A short file might arrive before its cancellation does.
    if Task.isCancelled {
      _ = await answer(to: .declineOffer(offer.transfer, .cancelled))
      throw PiconetError(.cancelled, peer: offer.sender.id, blame: .us)
    }
  }

  private func accept(_ offer: IncomingOffer, into store: any ResourceStore, offset: UInt64) async {
    if case .failure(let ending) = await answer(to: .acceptOffer(offer.transfer, into: store, offset: offset)) {
      // The reason why the offer ended says more than the fact that it ended. If an end was already reported, that one
      // counts.
      offer.state.end(ending)
    }
  }

  // MARK: What the loop tells

  func offered(_ transfer: TransferID, _ node: NodeID, _ offer: ResourceOffer) {
    guard let member = member(node) else { return tell(.declineOffer(transfer, .declined, detail: "")) }
    let incoming = IncomingTransferState(total: offer.size)
    withState { $0.transfers.receiving[transfer] = incoming }
    log.push(IncomingOffer(transfer, offer, from: member, state: incoming))
  }

  func receiving(_ transfer: TransferID) -> IncomingTransferState? {
    withState { $0.transfers.receiving[transfer] }
  }

  func received(_ transfer: TransferID, byteCount: Int) { receiving(transfer)?.received(byteCount) }

  func receivedAgain(_ transfer: TransferID, byteCount: Int) {
    guard let incoming = receiving(transfer), !incoming.receivedAgain(byteCount) else { return }
    tell(.cancelTransfer(transfer, .declined))
  }

  func storeProgressed(_ transfer: TransferID, stored: UInt64) { receiving(transfer)?.progressed(stored) }

  func storeRestarted(_ transfer: TransferID, offset: UInt64) { receiving(transfer)?.resumed(offset) }

  func transferEnded(_ transfer: TransferID, _ ending: Ending?) {
    guard let incoming = withState({ $0.transfers.receiving.removeValue(forKey: transfer) }) else { return }
    incoming.end(ending)
    log.removeOffers { $0.state === incoming }
  }
}
