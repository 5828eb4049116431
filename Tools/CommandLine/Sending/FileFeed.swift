import Piconet
import Synchronization

/// The files of a command for one receiver, one after the other: a sender with room for another file asks for it. Files
/// that can't be sent are reported on the way.
actor FileFeed {
  private var walk: FileWalk
  private let notes: GatheringNotes
  /// Files that were taken and have no outcome.
  fileprivate var returned: [GatheredFile] = []
  /// How many files were taken and not given back.
  fileprivate(set) var taken = 0

  init(_ walk: FileWalk, _ notes: GatheringNotes) {
    self.walk = walk
    self.notes = notes
  }

  /// The files in directories left out so far.
  var leftOut: LeftOutFiles { walk.leftOut }

  /// The next files, no more than this many, and no more bytes together than a manifest may have, but for the last.
  func next(atMost count: Int) -> [GatheredFile] {
    var files: [GatheredFile] = []
    var bytes: Int64 = 0
    while files.count < count, bytes < FileManifest.contentLimit, let file = next() {
      files.append(file)
      bytes.add(bytes: file.size)
    }
    return files
  }

  /// The next file; nil at the end, or if the task was cancelled. Meanwhile a thread of the pool waits for the disk, at
  /// most one for each receiver.
  func next() -> GatheredFile? {
    if Task.isCancelled { return nil }
    if let file = returned.popLast() {
      taken += 1
      return file
    }
    while let step = walk.next() {
      if case .file(let file) = step {
        taken += 1
        return file
      }
      notes.tell(step)
    }
    return nil
  }
}

extension FileFeed {
  /// Puts a file back at the head of the queue because it was not completed. There are never more than were under way
  /// at once.
  func giveBack(_ file: GatheredFile) {
    taken -= 1
    returned.append(file)
  }
}

/// Reports each file that can't be sent only once, although every receiver's feed comes across it.
final class GatheringNotes: Sendable {
  private let console: Console
  private let told = Mutex<Set<Int>>([])

  init(console: Console) { self.console = console }

  func tell(_ step: FileWalk.Step) {
    guard told.withLock({ $0.insert(step.hashValue).inserted }) else { return }
    switch step {
    case .file: break
    case .failure(let failure):
      let name = failure.path.readable
      console.tell(
        .failed(
          ProgramEvent.Failed(
            peer: nil, file: name, reason: failure.word, message: failure.message, exitCode: failure.exitCode,
            wasOffered: false)))
      guard console.listsFailures || console.counts.failed <= CommandLineLimits.fewFiles else { return }
      console.problem("\(console.safe(name)): \(failure.message)")
    case .link(let path):
      console.note("\(console.safe(path.readable)): a link to a directory, not followed (--follow-links follows it)")
    case .folder(let path, let offered, let why):
      console.note("\(console.safe(path.readable)): offered as '\(console.safe(offered))', since \(why)")
    case .twice(let path): console.note("\(console.safe(path.readable)): named twice, sent once", detail: 1)
    }
  }

  /// Says under which name a file is offered that can't keep its own.
  func tell(renamed file: GatheredFile) {
    guard let why = file.renaming, told.withLock({ $0.insert(file.path.hashValue).inserted }) else { return }
    console.note("\(console.safe(file.path.readable)): offered as '\(console.safe(file.name.text))', since \(why)")
  }
}
