import Foundation
import Piconet

extension TransferChanges {
  /// Keeps a progress up to date until the transfer ends.
  fileprivate func follow(with progress: Progress) {
    Task {
      for await change in self {
        progress.completedUnitCount = Int64(clamping: change.stored)
      }
    }
  }
}

extension OutgoingTransfer {
  /// Returns the transfer as a `Progress`, in bytes that the receiver has stored. It can be shown and made a child of
  /// another; cancelling, pausing or resuming it does the same to the transfer. Each call makes another one.
  public func makeProgress() -> Progress {
    let progress = Progress(totalUnitCount: Int64(clamping: self.progress.total))
    progress.kind = .file
    progress.cancellationHandler = { [self] in cancel() }
    progress.pausingHandler = { [self] in pause() }
    progress.resumingHandler = { [self] in resume() }
    changes.follow(with: progress)
    return progress
  }
}

extension IncomingTransfer {
  /// Returns the transfer as a `Progress`; see `OutgoingTransfer.makeProgress()`.
  public func makeProgress() -> Progress {
    let progress = Progress(totalUnitCount: Int64(clamping: self.progress.total))
    progress.kind = .file
    progress.cancellationHandler = { [self] in cancel() }
    progress.pausingHandler = { [self] in pause() }
    progress.resumingHandler = { [self] in resume() }
    changes.follow(with: progress)
    return progress
  }
}
