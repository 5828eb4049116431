import PiconetEngine
import PiconetFiles
import PiconetWire

/// A resource on its way to a member. Any task may use it. The transfer continues even if this object is released, and
/// ends with the membership at the latest.
public final class OutgoingTransfer: Sendable {
  /// The member that it goes to.
  public let receiver: NodeID
  /// The name that was offered.
  public let name: String
  let transfer: TransferID
  let watched: Watched<TransferProgress>
  private let source: any OfferedSource
  private let outcome = Outcome<Result<SentResource, PiconetError>>()
  private let core: NodeCore

  init(_ transfer: TransferID, to receiver: NodeID, source: any OfferedSource, core: NodeCore) {
    self.receiver = receiver
    self.transfer = transfer
    self.source = source
    self.core = core
    name = SafeFileName.printable(source.name)
    watched = Watched(TransferProgress(stored: 0, total: source.size))
  }

  /// The state of the transfer now.
  public var progress: TransferProgress { watched.value }

  /// The state of the transfer, again after each change.
  public var changes: TransferChanges { TransferChanges(watched: watched) }

  /// Since when one call has been reading the file that is sent; nil while none is, and if it is no file. One that
  /// lasts for many seconds tells of a disk that hangs.
  package var readingSince: ContinuousClock.Instant? { source.readingSince }

  /// Sends nothing more until `resume`: what is on its way still arrives. The receiver is told. No effect after the
  /// end.
  public func pause() { core.pause(transfer, true, watched) }

  /// Resumes the transfer.
  public func resume() { core.pause(transfer, false, watched) }

  /// Cancels the transfer on both sides; the receiver keeps nothing of it. No effect after the end.
  public func cancel() { core.cancel(transfer) }

  /// Ends the transfer on both sides as the end of this process would, with `shuttingDown`. The bytes that the receiver
  /// has stored wait there for the same file to be offered again, see `IncomingOffer.startStoring`. No effect after the
  /// end.
  public func interrupt() { core.cancel(transfer, .shuttingDown) }

  /// Waits until the remote side has *stored* it: on its disk, verified, under its name (or in its memory). Cancelling
  /// the waiting task ends the waiting with `cancelled`, and has no effect on the transfer.
  /// - Throws: `sourceUnreadable`, `sourceChanged`, the receiver's reason, `cancelled`, or why the member has left.
  public var result: SentResource {
    get async throws(PiconetError) {
      guard let result = await outcome.waitUnlessCancelled() else {
        throw PiconetError(NodeCore.taskCancelled, peer: receiver)
      }
      return try result.get()
    }
  }

  /// Like `result`, but cancelling the calling task does not end the waiting.
  var end: SentResource {
    get async throws(PiconetError) { try await outcome.wait().get() }
  }

  // MARK: What the loop tells

  func accepted(offset: UInt64) {
    watched.update {
      $0.resumedFrom = offset
      $0.isLacked = offset < source.size
      // A receiver that claims to have all of it counts as having stored nothing yet: the digest decides.
      $0.stored = offset < source.size ? offset : 0
    }
  }

  func compared(_ count: UInt64) { watched.update { $0.compared = count } }

  func stored(_ count: UInt64) { watched.update { $0.stored = count } }

  func paused(_ isPaused: Bool) { watched.update { $0.isPausedByRemote = isPaused } }

  func ended(_ result: Result<StoredResource, Ending>) {
    if case .success = result { watched.update { $0.stored = $0.total } }
    // Comes first, so that a task that sees the end can't change the progress.
    watched.finish()
    switch result {
    case .success(let stored): outcome.end(sentResource(stored))
    case .failure(let ending):
      let underlying = ending.blame == .us ? source.sourceFailure : nil
      outcome.end(.failure(PiconetError(ending, peer: receiver, underlying: underlying)))
    }
  }

  private func sentResource(_ stored: StoredResource) -> Result<SentResource, PiconetError> {
    guard let digest = source.sentDigest else {
      return .failure(PiconetError(.internalError, peer: receiver, blame: .us, detail: "stored without a digest"))
    }
    // The name as it is, if it is valid; a hostile receiver may send anything.
    let name = stored.name
    let storedName = SafeFolder.isPath(name) ? String(decoding: name, as: UTF8.self) : SafeFileName.printable(name)
    let resumedFrom = stored.wasAlreadyPresent ? 0 : watched.value.resumedFrom
    return .success(
      SentResource(
        storedName: storedName, size: source.size, digest: digest, resumedFrom: resumedFrom,
        wasAlreadyPresent: stored.wasAlreadyPresent))
  }
}

/// A resource that the remote side has stored.
public struct SentResource: Sendable, Hashable {
  /// The name that the receiver gave it, behind those of its folders, with slashes.
  public let storedName: String
  /// Bytes.
  public let size: UInt64
  /// The SHA-256 of the content; both sides have computed it.
  public let digest: SHA256Digest
  /// The number of bytes that the receiver had from an earlier transfer, and that were not sent again.
  public let resumedFrom: UInt64
  /// Whether the receiver had the same content before, under this name; then nothing was stored.
  public let wasAlreadyPresent: Bool
}
