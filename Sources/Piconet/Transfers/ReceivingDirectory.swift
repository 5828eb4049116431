import PiconetFiles

/// A directory that received files go to, opened once: what happens to its path later can't redirect them. Any node of
/// the process may store in it, whichever has opened it.
public final class ReceivingDirectory: Sendable {
  /// Bytes: of a file that is no larger, nothing is kept when its transfer is interrupted. 1 MiB.
  public static let largestUnkeptSize = BlockJournal.blockByteCount
  /// Of so many files in a directory what has arrived is kept: 16. Beyond that the sender of most of them loses his
  /// oldest; and where the disk is too full for an offer some make room, if that is enough.
  public static let keptFileLimit = IncomingDirectory.Settings().keptPartialLimit
  /// For so long, from when a receiver first finds that nobody writes it: seven days. A time in which the machine was
  /// off counts for a day at most, so that a clock that is put right makes nothing old.
  public static let keptTime = Duration.seconds(IncomingDirectory.Settings().keptPartialAge)

  let directory: IncomingDirectory
  let names = StoredNames()
  /// The path that it was opened by.
  public let path: String

  init(path: String, maximumFileSize: UInt64?) throws(FileFailure) {
    var settings = IncomingDirectory.Settings()
    settings.maximumFileSize = maximumFileSize
    directory = try IncomingDirectory(path: path, settings: settings)
    _ = directory.sweepAbandonedPartials()
    self.path = path
  }
}
