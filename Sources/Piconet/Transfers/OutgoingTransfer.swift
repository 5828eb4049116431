import PiconetEngine
import PiconetFiles
import PiconetWire

/// A resource on its way to a member. Any task may use it; the transfer goes on whether anybody holds this or not, and ends with
/// the membership at the latest.
public final class OutgoingTransfer: Sendable {
  /// To whom it goes.
  public let receiver: NodeID
  /// The name that was offered.
  public let name: String
  let transfer: TransferID
  let watched: Watched<TransferProgress>
  private let source: any OfferedSource
  private let closure: (@Sendable (UInt64, UInt64) -> Void)?
  private let outcome = TransferOutcome<Result<SentFile, PiconetError>>()
  private let core: NodeCore

  /// - Parameter progress: called on the loop with what the far side has stored, and the total.
  init(
    _ transfer: TransferID, to receiver: NodeID, source: any OfferedSource, core: NodeCore,
    progress: (@Sendable (UInt64, UInt64) -> Void)?
  ) {
    self.receiver = receiver
    self.transfer = transfer
    self.source = source
    self.core = core
    name = SafeFileName.printable(source.name)
    closure = progress
    watched = Watched(TransferProgress(stored: 0, total: source.size))
  }

  /// How it stands now.
  public var progress: TransferProgress { watched.value }

  /// How it stands, again after each change.
  public var changes: TransferChanges { TransferChanges(watched: watched) }

  /// Sends nothing more until `resume`: what is on its way arrives. The receiver is told. Without effect after the end.
  public func pause() { core.pause(transfer, true, watched) }

  /// Goes on.
  public func resume() { core.pause(transfer, false, watched) }

  /// Gives it up on both sides; the receiver keeps nothing of it. Without effect after the end.
  public func cancel() { core.cancel(transfer) }

  /// Ends it on both sides as the end of this process would, with `shuttingDown`: what the receiver has stored waits there for the same file to
  /// be offered again, see `IncomingOffer.startStoring`. Without effect after the end.
  public func interrupt() { core.cancel(transfer, .shuttingDown) }

  /// Waits until the far side has *stored* it: on its disk, verified, under its name (or in its memory). Cancelling the waiting task
  /// has no effect on the transfer.
  /// - Throws: `sourceUnreadable`, `sourceChanged`, the receiver's reason, `cancelled`, or why the member has left.
  public var result: SentFile {
    get async throws(PiconetError) { try await outcome.wait().get() }
  }

  // MARK: What the loop tells

  func accepted(offset: UInt64) {
    watched.update {
      $0.resumedFrom = offset
      $0.stored = offset
    }
    if offset > 0 { closure?(offset, source.size) }
  }

  func stored(_ count: UInt64) {
    watched.update { $0.stored = count }
    closure?(count, source.size)
  }

  func paused(_ isPaused: Bool) { watched.update { $0.isPausedThere = isPaused } }

  func ended(_ reply: Reply) {
    if case .stored = reply { watched.update { $0.stored = $0.total } }
    outcome.end(result(of: reply))
    watched.finish()
  }

  private func result(of reply: Reply) -> Result<SentFile, PiconetError> {
    switch reply {
    case .stored(let name):
      guard let digest = source.sentDigest else {
        return .failure(PiconetError(.internalError, peer: receiver, blame: .us, detail: "stored without a digest"))
      }
      // As it is if it is a name at all; a hostile receiver may say anything.
      let storedName = (try? SafeFileName(bytes: name))?.text ?? SafeFileName.printable(name)
      return .success(
        SentFile(
          storedName: storedName, size: source.size, digest: digest, resumedFrom: watched.value.resumedFrom))
    case .failed(let ending):
      return .failure(
        PiconetError(ending, peer: receiver, underlying: ending.blame == .us ? source.sourceFailure : nil))
    case .done, .connected, .roundTrip:
      return .failure(
        PiconetError(
          .internalError, peer: receiver, blame: .us, detail: "an offer got another command's reply"))
    }
  }
}

/// A resource that the far side has stored.
public struct SentFile: Sendable, Hashable {
  /// The name that the receiver gave it.
  public let storedName: String
  /// Bytes.
  public let size: UInt64
  /// Of the content; both sides have computed it.
  public let digest: SHA256Digest
  /// Bytes that the receiver had from an earlier transfer: they were not sent again.
  public let resumedFrom: UInt64
}
