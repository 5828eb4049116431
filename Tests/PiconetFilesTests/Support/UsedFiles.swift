import Synchronization

@testable import PiconetFiles

/// What one sender has stored, or has found there.
final class UsedFiles: FilesOfSender {
  private let traces: Mutex<Set<FileTrace>>

  init(_ paths: String...) { traces = Mutex(Set(paths.map { .path(Array($0.utf8)) })) }

  func note(_ new: [FileTrace]) { traces.withLock { $0.formUnion(new) } }

  func contains(_ trace: FileTrace) -> Bool { traces.withLock { $0.contains(trace) } }

  var paths: Set<String> {
    let paths = traces.withLock { traces in
      traces.compactMap { if case .path(let path) = $0 { String(decoding: path, as: UTF8.self) } else { nil } }
    }
    return Set(paths)
  }
}
