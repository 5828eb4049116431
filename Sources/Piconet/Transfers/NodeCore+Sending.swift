import PiconetEngine
import PiconetFiles
import PiconetRuntime
import PiconetWire
import Synchronization

/// Resources on their way out: opened on the disk thread, then sent by the engine.
extension NodeCore {
  func send(
    file path: String, name: AcceptableName?, folder: AcceptableFolder?, to member: Member, mediaType: String,
    metadata: [UInt8], progress: (@Sendable (UInt64, UInt64) -> Void)?, comparing: (@Sendable (UInt64, UInt64) -> Void)?
  ) async throws(PiconetError) -> OutgoingTransfer {
    let source = try await onDisk { () throws(FileFailure) in try FileSource(path: path, name: name, folder: folder) }
    return send(
      source, to: member, mediaType: mediaType, metadata: metadata, progress: progress, comparing: comparing)
  }

  /// Offers a resource. What its handle asks for from now on reaches the engine behind the offer.
  func send(
    _ source: any OfferedSource, to member: Member, mediaType: String, metadata: [UInt8],
    progress: (@Sendable (UInt64, UInt64) -> Void)?, comparing: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) -> OutgoingTransfer {
    let offer = ResourceOffer(
      name: source.name, size: source.size, mediaType: mediaType, modified: source.modified, metadata: metadata,
      identity: source.identity, folder: source.folder)
    let command = makeCommand()
    let transfer = OutgoingTransfer(
      TransferID(rawValue: makeCommand().rawValue), to: member.id, source: source, core: self, progress: progress,
      comparing: comparing)
    if let file = source as? FileSource {
      file.hashed.withLock { $0 = { [weak transfer] count in transfer?.compared(count) } }
    }
    if expect(transfer, command) {
      let offering = NodeInput.offer(command, transfer.transfer, member.id, offer, source)
      submit(
        input(offering, of: member) { [self] in
          if source.arrives { _ = worker.submit { source.close() } }
          replied(command, .failed(Self.hasLeft))
        })
    } else {
      transfer.ended(.failed(Ending(.shuttingDown, .us)))
    }
    return transfer
  }

  /// Waits for the end; the task's cancellation is the transfer's.
  func finish(_ transfer: OutgoingTransfer) async throws(PiconetError) -> SentFile {
    let result: Result<SentFile, PiconetError> = await withTaskCancellationHandler {
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

  /// In either direction.
  func cancel(_ transfer: TransferID, _ reason: Reason = .cancelled) {
    submit(.fact(.commanded(makeCommand(), .cancelTransfer(transfer, reason))))
  }

  /// - Parameter watched: how the transfer stands; it is finished with the transfer.
  func pause(_ transfer: TransferID, _ isPaused: Bool, _ watched: Watched<TransferProgress>) {
    // Together, so that two callers at once leave the switch as the engine has it.
    watched.update { progress in
      progress.isPaused = isPaused
      submit(.fact(.commanded(makeCommand(), .pauseTransfer(transfer, isPaused))))
    }
  }
}
