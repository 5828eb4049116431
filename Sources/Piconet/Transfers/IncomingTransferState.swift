import PiconetEngine
import Synchronization

/// The state of an incoming transfer, for the task that stores it. Its end is reported once, whatever causes it and
/// whenever.
final class IncomingTransferState: Sendable {
  private let isClaimed = Mutex(false)
  private let strangeness = Mutex<Bool?>(nil)
  private let came = Mutex<UInt64>(0)
  private let mayRepeat = Mutex<(@Sendable (Int) -> Bool)?>(nil)
  private let ending = Outcome<Ending?>()
  let watched: Watched<TransferProgress>

  init(total: UInt64) {
    watched = Watched(TransferProgress(stored: 0, total: total))
  }

  /// How it ended, if it has ended; nil inside: it is stored.
  var outcome: Ending?? { ending.value }

  /// Claims the transfer for the calling task: only one task stores it.
  /// - Returns: false if another task does.
  func claim() -> Bool {
    isClaimed.withLock { isClaimed in
      defer { isClaimed = true }
      return !isClaimed
    }
  }

  /// Whether a stranger offers it; nil: not known yet.
  var isOfStranger: Bool? { strangeness.withLock { $0 } }

  /// - Returns: the value that was noted first.
  func note(isOfStranger: Bool) -> Bool {
    strangeness.withLock { noted in
      let first = noted ?? isOfStranger
      noted = first
      return first
    }
  }

  /// The number of bytes of the content that have come from the sender, including those that came again.
  var receivedByteCount: UInt64 { came.withLock { $0 } }

  func received(_ byteCount: Int) { came.withLock { $0 += UInt64(byteCount) } }

  /// Sets the function that decides whether content may come again; otherwise any may.
  func setRepeating(_ mayRepeat: @escaping @Sendable (Int) -> Bool) { self.mayRepeat.withLock { $0 = mayRepeat } }

  /// Notes that content that is here has come again.
  /// - Returns: whether it was allowed to.
  func receivedAgain(_ byteCount: Int) -> Bool {
    received(byteCount)
    return mayRepeat.withLock { $0 }?(byteCount) ?? true
  }

  /// Notes that this many bytes of the existing file were read to find out whether it is the same.
  func compared(_ count: UInt64) { watched.update { $0.compared = count } }

  /// Notes that this many bytes of an earlier transfer are here, and the content comes from there on.
  func resumed(_ offset: UInt64) {
    watched.update {
      $0.resumedFrom = offset
      $0.stored = offset
    }
  }

  func progressed(_ stored: UInt64) { watched.update { $0.stored = stored } }

  func paused(_ isPaused: Bool) { watched.update { $0.isPausedByRemote = isPaused } }

  /// Ends the transfer; the first outcome counts.
  func end(_ ending: Ending?) {
    // Comes first, so that a task that sees the end can't change the progress.
    watched.finish()
    self.ending.end(ending)
  }

  /// Waits for the end.
  /// - Returns: false if the task was cancelled before.
  func hasEnded() async -> Bool { await ending.waitUnlessCancelled() != nil }

  /// Holds a place among open files until the end.
  func keep(_ place: OpenFiles.Place) async {
    _ = await ending.wait()
    withExtendedLifetime(place) {}
  }

  /// Waits for the end: nil if it is stored.
  func waitUntilEnded() async -> Ending? { await ending.wait() }
}
