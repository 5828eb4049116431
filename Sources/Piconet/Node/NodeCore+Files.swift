import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire
import Synchronization

/// Files: opened on the disk thread, then sent or stored by the engine.
extension NodeCore {
  /// Runs blocking work on the disk thread.
  func onDisk<Value: Sendable>(
    _ work: @escaping @Sendable () throws(FileFailure) -> Value
  ) async throws(PiconetError) -> Value {
    let outcome: Result<Value, FileFailure>? = await withCheckedContinuation { continuation in
      let isTaken = worker.submit {
        do throws(FileFailure) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      if !isTaken { continuation.resume(returning: nil) }
    }
    switch outcome {
    case .success(let value): return value
    case .failure(let failure): throw failure.piconetError(peer: nil)
    case nil:
      if isClosed { throw PiconetError(.shuttingDown, blame: .us) }
      throw PiconetError(.internalError, blame: .us, detail: "too much waits for the disk")
    }
  }

  func send(
    file path: String, to node: NodeID, mediaType: String, metadata: [UInt8],
    progress: (@Sendable (UInt64, UInt64) -> Void)?
  ) async throws(PiconetError) -> SentFile {
    let source = try await onDisk { () throws(FileFailure) in try FileSource(path: path) }
    let offer = ResourceOffer(
      name: source.name, size: source.size, mediaType: mediaType, modified: source.modified, metadata: metadata)
    let transfer = TransferID(rawValue: makeCommand().rawValue)
    expect(transfer, Outgoing(total: source.size, progress: progress))
    defer { forgetSending(transfer) }
    let reply = await reply { _ in
      .cancelTransfer(transfer, .cancelled)
    } to: { command in
      .offer(command, transfer, node, offer, source)
    }
    switch reply {
    case .stored(let name):
      guard let digest = source.digest.withLock({ $0 }) else {
        throw PiconetError(.internalError, peer: node, blame: .us, detail: "stored without a digest")
      }
      // As it is if it is a name at all; a hostile receiver may say anything.
      let storedName = (try? SafeFileName(bytes: name))?.text ?? SafeFileName.printable(name)
      return SentFile(storedName: storedName, size: source.size, digest: digest)
    case .failed(let ending):
      let failure = source.failure.withLock { $0 }
      throw PiconetError(ending, peer: node, underlying: ending.blame == .us ? failure : nil)
    case .done, .connected:
      throw PiconetError(.internalError, peer: node, blame: .us, detail: "an offer got another command's reply")
    }
  }

  func store(
    _ offer: IncomingOffer, in directory: ReceivingDirectory, onConflict policy: ConflictPolicy,
    content: (@Sendable ([UInt8]) -> Bool)?, progress: (@Sendable (UInt64, UInt64) -> Void)?
  ) async throws(PiconetError) -> ReceivedFile {
    let transfer = offer.transfer
    let state = offer.state
    guard state.claim(progress: progress) else {
      throw PiconetError(.inProgress, peer: offer.sender.id, blame: .us, detail: "the file is stored by another task")
    }
    let (rawName, size, modified) = (offer.rawName, offer.size, offer.modified)
    let store: FileStore
    do throws(PiconetError) {
      store = try await onDisk { () throws(FileFailure) in
        try FileStore(
          in: directory.directory, rawName: rawName, size: size, policy: policy, modified: modified, content: content)
      }
    } catch {
      let told = (error.underlying as? FileFailure)?.told ?? ResourceFailure(.internalError, "")
      _ = await command(.declineOffer(transfer, told.reason, detail: told.detail))
      throw PiconetError(
        error.code, peer: offer.sender.id, blame: error.blame, detail: error.detail, underlying: error.underlying)
    }
    let ending: Ending? = await withTaskCancellationHandler {
      if case .failed(let ending) = await reply(to: { .acceptOffer($0, transfer, store) }) {
        // How the offer has ended says more than that it has.
        if case .some(.some(let outcome)) = state.outcome { return outcome }
        return ending
      }
      return await state.waitUntilEnded()
    } onCancel: {
      submit(.fact(.commanded(makeCommand(), .cancelTransfer(transfer, .cancelled))))
    }
    if let ending {
      var error = PiconetError(ending, peer: offer.sender.id)
      if let failure = store.failure.withLock({ $0 }) {
        error.underlying = failure
        error.blame = failure.blame == .peer ? .peer : .us
      }
      throw error
    }
    guard let stored = store.stored.withLock({ $0 }) else {
      throw PiconetError(.internalError, peer: offer.sender.id, blame: .us, detail: "committed without a file")
    }
    return stored
  }
}
