import Piconet
import Synchronization

/// What is announced about a command's files: folded while they are counted, and told to each receiver that is invited.
/// Any thread may use it.
final class Announcement: Sendable {
  private let files = Mutex(AnnouncedFiles())
  private let (ends, end) = AsyncStream<Never>.makeStream()

  /// How long an invitation waits for the count: a person who is asked wants to know, and does not want to wait.
  static let patience = Duration.seconds(3)

  func add(_ file: GatheredFile) {
    let folder = file.folder.map { $0.text + "/" } ?? ""
    files.withLock { $0.add(folder + file.name.text, bytes: file.size) }
  }

  /// Nothing more is counted.
  /// - Parameter isWhole: whether these are all, and the sizes of all are known.
  func finish(isWhole: Bool) {
    files.withLock { $0.isWhole = isWhole }
    end.finish()
  }

  /// What is known once all is counted, or after as long as a person should wait.
  func told() async -> AnnouncedFiles {
    _ = await limited(to: Self.patience) { [ends] () -> Bool? in
      for await _ in ends {}
      return true
    }
    return files.withLock { $0 }
  }
}
