import PiconetFiles
import Synchronization

/// A directory where received files are stored. Any node of the process may store in it, whichever one opened it.
///
/// Before each offer its path must lead to the directory that is open: a stick may have been mounted over it, or a
/// person may have moved it to the trash. If another directory has taken its place, files are stored in that one from
/// then on. If no directory is there, offers are refused with `directoryVanished`; if it can't be written to, with the
/// reason. A transfer that is under way goes on in the directory where it began.
public final class ReceivingDirectory: Sendable {
  /// If the transfer of a file of at most this many bytes is interrupted, nothing of it is kept. 1 MiB.
  public static let largestUnkeptSize = BlockJournal.blockByteCount
  /// The number of partial files that a directory keeps: 16. Beyond that the sender with the most of them loses its
  /// oldest; all unknown senders count as one. If the disk is too full for an offer, some partial files are removed,
  /// provided that this frees enough.
  public static let keptFileLimit = IncomingDirectory.Settings().keptPartialLimit
  /// How long a partial file is kept, from when a receiver first finds that no process is writing it: seven days. Time
  /// in which the machine was off counts for a day at most, so that correcting a wrong clock makes no file old.
  public static let keptTime = Duration.seconds(IncomingDirectory.Settings().keptPartialAge)

  /// The number of bytes that stay free beside the stored files.
  package static let spaceReserve = IncomingDirectory.Settings().spaceReserve
  /// Whether receivers reserve a file name: it belongs to a partial file.
  package static func isReserved(_ name: some Sequence<UInt8>) -> Bool { PartialFileName.isReserved(name) }

  /// A directory, and the files that runs of senders have stored in it.
  struct Place: Sendable {
    let directory: IncomingDirectory
    let traces = StoredTraces()
  }

  private struct State {
    var place: Place
    var whenReplaced: @Sendable () -> Void = {}
  }

  private let state: Mutex<State>
  /// The path with which it was opened.
  public let path: String

  convenience init(path: String, maximumFileSize: UInt64?) throws(FileFailure) {
    var settings = IncomingDirectory.Settings()
    settings.maximumFileSize = maximumFileSize
    self.init(try IncomingDirectory(path: path, settings: settings), path: path)
  }

  init(_ directory: IncomingDirectory, path: String) {
    _ = directory.sweepAbandonedPartials()
    state = Mutex(State(place: Place(directory: directory)))
    self.path = path
  }

  /// The directory that is open.
  var directory: IncomingDirectory { state.withLock { $0.place.directory } }

  /// Returns the directory for the next file. Blocks on the disk.
  func place() throws(FileFailure) -> Place {
    let place = state.withLock { $0.place }
    guard let other = try place.directory.successor() else { return place }
    _ = other.sweepAbandonedPartials()
    let next = Place(directory: other)
    let (current, isNew, tell) = state.withLock { state in
      // Another offer may have found the new directory as well.
      let isNew = state.place.directory === place.directory
      if isNew { state.place = next }
      return (state.place, isNew, state.whenReplaced)
    }
    if isNew { tell() }
    return current
  }

  /// Sets the callback for when another directory has taken the place of the one that is open. It runs on a thread that
  /// disks may block.
  package func whenReplaced(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenReplaced = body } }
}
