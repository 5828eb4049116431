import PiconetFiles
import Synchronization

/// A directory that received files go to. Any node of the process may store in it, whichever one opened it.
///
/// Before each offer its path has to lead to the directory that is open: a stick may have been mounted over it, or a
/// person may have moved it to the trash. If another directory has taken its place, files are stored in that one from
/// then on. If there is none, or it can't be written to, offers are refused with `directoryVanished` or the reason. A
/// transfer that is under way goes on in the directory where it began.
public final class ReceivingDirectory: Sendable {
  /// If the transfer of a file of at most this many bytes is interrupted, nothing of it is kept. 1 MiB.
  public static let largestUnkeptSize = BlockJournal.blockByteCount
  /// How many partial files a directory keeps: 16. Beyond that the sender with the most of them loses its oldest, where
  /// all that are not known count as one; and if the disk is too full for an offer, some make room, provided that this
  /// is enough.
  public static let keptFileLimit = IncomingDirectory.Settings().keptPartialLimit
  /// How long a partial file is kept, from when a receiver first finds that no process is writing it: seven days. Time
  /// in which the machine was off counts for a day at most, so that setting a wrong clock right makes nothing old.
  public static let keptTime = Duration.seconds(IncomingDirectory.Settings().keptPartialAge)

  /// Bytes that stay free beside what is stored.
  package static let spaceReserve = IncomingDirectory.Settings().spaceReserve
  /// Whether receivers keep a file of this name for themselves: it has a part of what is to come.
  package static func isReserved(_ name: some Sequence<UInt8>) -> Bool { PartialFileName.isReserved(name) }

  /// A directory with what runs of senders have stored in it.
  struct Place: Sendable {
    let directory: IncomingDirectory
    let traces = StoredTraces()
  }

  private struct State {
    var place: Place
    var whenReplaced: @Sendable () -> Void = {}
  }

  private let state: Mutex<State>
  /// The path that it was opened by.
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

  /// The one that is open.
  var directory: IncomingDirectory { state.withLock { $0.place.directory } }

  /// Where the next file goes. Blocks on the disk.
  func place() throws(FileFailure) -> Place {
    let place = state.withLock { $0.place }
    guard let other = try place.directory.successor() else { return place }
    _ = other.sweepAbandonedPartials()
    let next = Place(directory: other)
    let (current, isNew, tell) = state.withLock { state in
      // Another offer may have found it as well.
      let isNew = state.place.directory === place.directory
      if isNew { state.place = next }
      return (state.place, isNew, state.whenReplaced)
    }
    if isNew { tell() }
    return current
  }

  /// Calls back, on a thread that disks may block, when another directory has taken the place of the one that is open.
  package func whenReplaced(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenReplaced = body } }
}
