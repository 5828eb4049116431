import PiconetEngine
import PiconetFiles
import PiconetWire

/// A resource on its way to a member. Any task may use it; the transfer goes on whether anybody holds this or not, and
/// ends with the membership at the latest.
public final class OutgoingTransfer: Sendable {
  /// To whom it goes.
  public let receiver: NodeID
  /// The name that was offered.
  public let name: String
  let transfer: TransferID
  let watched: Watched<TransferProgress>
  private let source: any OfferedSource
  private let closure: (@Sendable (UInt64, UInt64) -> Void)?
  private let comparing: (@Sendable (UInt64, UInt64) -> Void)?
  private let outcome = Outcome<Result<SentFile, PiconetError>>()
  private let core: NodeCore

  /// - Parameters:
  ///   - progress: called on the loop with what the remote side has stored, and the total.
  ///   - comparing: called on the loop or the disk thread with what a side has read to compare, and the total.
  init(
    _ transfer: TransferID, to receiver: NodeID, source: any OfferedSource, core: NodeCore,
    progress: (@Sendable (UInt64, UInt64) -> Void)?, comparing: (@Sendable (UInt64, UInt64) -> Void)?
  ) {
    self.receiver = receiver
    self.transfer = transfer
    self.source = source
    self.core = core
    name = SafeFileName.printable(source.name)
    closure = progress
    self.comparing = comparing
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

  /// Ends it on both sides as the end of this process would, with `shuttingDown`: what the receiver has stored waits
  /// there for the same file to be offered again, see `IncomingOffer.startStoring`. Without effect after the end.
  public func interrupt() { core.cancel(transfer, .shuttingDown) }

  /// Waits until the remote side has *stored* it: on its disk, verified, under its name (or in its memory). Cancelling
  /// the waiting task ends the waiting with `cancelled`, and has no effect on the transfer.
  /// - Throws: `sourceUnreadable`, `sourceChanged`, the receiver's reason, `cancelled`, or why the member has left.
  public var result: SentFile {
    get async throws(PiconetError) {
      guard let result = await outcome.waitUnlessCancelled() else {
        throw PiconetError(NodeCore.taskCancelled, peer: receiver)
      }
      return try result.get()
    }
  }

  /// As `result`, whatever becomes of the calling task.
  var end: SentFile {
    get async throws(PiconetError) { try await outcome.wait().get() }
  }

  // MARK: What the loop tells

  func accepted(offset: UInt64) {
    watched.update {
      $0.resumedFrom = offset
      $0.stored = offset
    }
    // Who claims to have all of it has nothing stored yet: the digest decides.
    if offset > 0, offset < source.size { closure?(offset, source.size) }
  }

  func compared(_ count: UInt64) {
    watched.update { $0.compared = count }
    comparing?(count, source.size)
  }

  func stored(_ count: UInt64) {
    watched.update { $0.stored = count }
    closure?(count, source.size)
  }

  func paused(_ isPaused: Bool) { watched.update { $0.isPausedThere = isPaused } }

  func ended(_ result: Result<StoredResource, Ending>) {
    if case .success = result { watched.update { $0.stored = $0.total } }
    // First, so that whoever sees the end can't change how it stands.
    watched.finish()
    switch result {
    case .success(let stored): outcome.end(sentFile(stored))
    case .failure(let ending):
      let underlying = ending.blame == .us ? source.sourceFailure : nil
      outcome.end(.failure(PiconetError(ending, peer: receiver, underlying: underlying)))
    }
  }

  private func sentFile(_ stored: StoredResource) -> Result<SentFile, PiconetError> {
    guard let digest = source.sentDigest else {
      return .failure(PiconetError(.internalError, peer: receiver, blame: .us, detail: "stored without a digest"))
    }
    // As it is if it is a name at all; a hostile receiver may say anything.
    let name = stored.name
    let storedName = SafeFolder.isPath(name) ? String(decoding: name, as: UTF8.self) : SafeFileName.printable(name)
    let resumedFrom = stored.wasThere ? 0 : watched.value.resumedFrom
    return .success(
      SentFile(
        storedName: storedName, size: source.size, digest: digest, resumedFrom: resumedFrom, wasThere: stored.wasThere))
  }
}

/// A resource that the remote side has stored.
public struct SentFile: Sendable, Hashable {
  /// The name that the receiver gave it, behind those of its folders, with slashes.
  public let storedName: String
  /// Bytes.
  public let size: UInt64
  /// Of the content; both sides have computed it.
  public let digest: SHA256Digest
  /// Bytes that the receiver had from an earlier transfer: they were not sent again.
  public let resumedFrom: UInt64
  /// The receiver had this very content before, under this name: nothing was stored.
  public let wasThere: Bool
}
