import PiconetEngine
import PiconetFiles
import PiconetWire
import Synchronization

/// A directory that received files go to, opened once: what happens to its path later can't redirect them. Any node of the process may
/// store in it, whichever has opened it.
public final class ReceivingDirectory: Sendable {
  /// Bytes: of a file that is no larger, nothing is kept when its transfer is interrupted. 1 MiB.
  public static let largestUnkeptSize = BlockJournal.blockByteCount
  /// Of so many files in a directory what has arrived is kept: 16. Beyond that the sender of most of them loses his oldest; and where
  /// the disk is too full for an offer some make room, if that is enough.
  public static let keptFileLimit = IncomingDirectory.Settings().keptPartialLimit
  /// For so long, from when a receiver first finds that nobody writes it: seven days. A time in which the machine was off counts for a
  /// day at most, so that a clock that is put right makes nothing old.
  public static let keptTime = Duration.seconds(IncomingDirectory.Settings().keptPartialAge)

  let directory: IncomingDirectory
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

/// A file in a directory as the store of a transfer.
final class FileStore: ResourceStore, @unchecked Sendable {
  // Sendable is right: after `init`, which is on the disk thread, the file is touched by the disk thread only; what others
  // see is behind mutexes.
  private let file: IncomingFile
  private let modified: ModificationTime?
  private let content: (@Sendable ([UInt8]) -> Bool)?
  private var start: [UInt8] = []
  private var isContentKnown: Bool
  private static let startCount = 4096
  /// Bytes that an earlier transfer has left.
  let resumedSize: UInt64

  let failure = Mutex<FileFailure?>(nil)
  let stored = Mutex<ReceivedFile?>(nil)

  init(
    in directory: IncomingDirectory, rawName: [UInt8], size: UInt64, policy: ConflictPolicy, modified: Int64?,
    key: ResumptionKey?, content: (@Sendable ([UInt8]) -> Bool)?
  ) throws(FileFailure) {
    let name: SafeFileName
    do throws(FileNameRefusal) {
      name = try SafeFileName(bytes: rawName)
    } catch {
      throw FileFailure(error, name: rawName)
    }
    if case .skip = try directory.conflictOutcome(name: name, size: size, policy: policy, resuming: key) {
      throw FileFailure(.exists, path: name.text)
    }
    file = try IncomingFile(in: directory, name: name, offeredSize: size, policy: policy, resuming: key)
    resumedSize = file.resumedSize
    self.modified = modified.flatMap { ModificationTime(nanosecondsSince1970: $0) }
    self.content = content
    isContentKnown = content == nil
    if !isContentKnown { start = file.start(Self.startCount) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ResourceFailure) {
    if !isContentKnown {
      start.append(contentsOf: bytes.prefix(Self.startCount - start.count))
      if start.count == Self.startCount { try lookAtContent() }
    }
    do throws(FileFailure) {
      try file.write(bytes)
    } catch {
      failure.withLock { $0 = error }
      throw error.told
    }
  }

  private func lookAtContent() throws(ResourceFailure) {
    guard !isContentKnown, let content else { return }
    isContentKnown = true
    defer { start = [] }
    if !content(start) { throw ResourceFailure(.notWanted, "not a kind of file that is taken here") }
  }

  func commit(size: UInt64, digest: ResourceDigest) throws(ResourceFailure) -> [UInt8] {
    try lookAtContent()
    do throws(FileFailure) {
      guard let expected = SHA256Digest(bytes: digest.bytes) else { throw FileFailure(.changed, path: file.name.text) }
      switch try file.commit(expectedDigest: expected, modificationTime: modified) {
      case .stored(let result):
        stored.withLock {
          $0 = ReceivedFile(
            path: result.path, name: result.name.text, size: result.size, digest: result.digest,
            resumedFrom: resumedSize)
        }
        return Array(result.name.text.utf8)
      case .skipped(let name): throw FileFailure(.exists, path: name.text)
      }
    } catch {
      failure.withLock { $0 = error }
      throw error.told
    }
  }

  func discard() { file.discard() }

  func keep() { file.keep() }
}
