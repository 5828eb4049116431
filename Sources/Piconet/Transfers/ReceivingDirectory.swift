import PiconetFiles

/// A directory that received files go to, opened once: what happens to its path later can't redirect them. Any node of
/// the process may store in it, whichever one opened it.
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

  let directory: IncomingDirectory
  let traces = StoredTraces()
  /// The path that it was opened by.
  public let path: String

  convenience init(path: String, maximumFileSize: UInt64?) throws(FileFailure) {
    var settings = IncomingDirectory.Settings()
    settings.maximumFileSize = maximumFileSize
    self.init(try IncomingDirectory(path: path, settings: settings), path: path)
  }

  init(_ directory: IncomingDirectory, path: String) {
    self.directory = directory
    _ = directory.sweepAbandonedPartials()
    self.path = path
  }
}
