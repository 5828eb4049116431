import PiconetEngine
import PiconetFiles
import PiconetWire

/// A resource on its way from a member, into a file or into memory. Any task may use it; the transfer continues even if
/// this object is released.
public final class IncomingTransfer<Received: Sendable>: Sendable {
  /// The offer that was accepted.
  public let offer: IncomingOffer
  private let state: IncomingTransferState
  private let received: @Sendable () -> Received?
  private let failure: @Sendable () -> FileFailure?

  /// - Parameters:
  ///   - received: returns the store's result, once it is committed.
  ///   - failure: returns what went wrong on this side's disk.
  init(
    _ offer: IncomingOffer, received: @escaping @Sendable () -> Received?,
    failure: @escaping @Sendable () -> FileFailure?
  ) {
    self.offer = offer
    self.received = received
    self.failure = failure
    state = offer.state
  }

  /// The state of the transfer now.
  public var progress: TransferProgress { state.watched.value }

  /// The state of the transfer, again after each change.
  public var changes: TransferChanges { TransferChanges(watched: state.watched) }

  /// Pauses the transfer until `resume`. What the sender was already allowed to send still arrives, 2 MiB at most. The
  /// sender is told. No effect after the end.
  public func pause() { offer.core.pause(offer.transfer, true, state.watched) }

  /// Resumes the transfer.
  public func resume() { offer.core.pause(offer.transfer, false, state.watched) }

  /// Cancels the transfer on both sides; nothing of it is kept. No effect after the end.
  public func cancel() {
    offer.core.cancel(offer.transfer)
  }

  /// Ends the transfer on both sides as the end of this process would, with `shuttingDown`. The stored bytes wait for
  /// the same file to be offered again, see `IncomingOffer.startStoring`. No effect after the end.
  public func interrupt() { offer.core.cancel(offer.transfer, .shuttingDown) }

  /// Ends the transfer on both sides with `timedOut`, because it has stalled and something else needs its place. The
  /// stored bytes wait for the same file to be offered again. No effect after the end.
  public func giveUpForNow() { offer.core.cancel(offer.transfer, .timedOut) }

  /// Waits until the resource is verified and stored. Cancelling the waiting task ends the waiting with `cancelled`,
  /// and has no effect on the transfer.
  /// - Throws: why it is not stored; the sender is told the same reason.
  public var result: Received {
    get async throws(PiconetError) {
      guard await state.hasEnded() else { throw PiconetError(NodeCore.taskCancelled, peer: offer.sender.id) }
      return try await end
    }
  }

  /// Like `result`, but cancelling the calling task does not end the waiting.
  var end: Received {
    get async throws(PiconetError) {
      if let ending = await state.waitUntilEnded() { throw error(ending) }
      guard let received = received() else {
        throw PiconetError(.internalError, peer: offer.sender.id, blame: .us, detail: "committed without a file")
      }
      return received
    }
  }

  private func error(_ ending: Ending) -> PiconetError {
    var error = PiconetError(ending, peer: offer.sender.id)
    if let failure = failure() {
      error.underlying = failure
      error.blame = failure.blame == .peer ? .peer : .us
    }
    return error
  }
}
