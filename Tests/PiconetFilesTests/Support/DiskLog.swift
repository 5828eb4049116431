import Glibc
import Synchronization

@testable import PiconetFiles

/// What is asked of a directory's disk, in order: which content is made durable, which file gets which name, which
/// entries are made durable.
final class DiskLog: Sendable {
  enum Entry: Hashable, Sendable {
    case content(inode: UInt64)
    case named(String, inode: UInt64)
    case beganEntries(Int, inode: UInt64)
    case endedEntries(Int)
  }

  private struct State {
    var entries: [Entry] = []
    var synchronizations = 0
  }

  private let state = Mutex(State())

  var entries: [Entry] { state.withLock { $0.entries } }

  /// - Parameters:
  ///   - content: gives 0 or errno for the content of a file.
  ///   - beforeEntries: called before each synchronization of a folder, with its inode; gives 0 or errno.
  func calls(
    content: @escaping @Sendable (_ file: Int32) -> Int32 = { _ in 0 },
    beforeEntries: @escaping @Sendable (_ inode: UInt64) -> Int32 = { _ in 0 }
  ) -> FileSystemCalls {
    var calls = FileSystemCalls()
    let real = calls
    calls.synchronizeContent = { [self] file in
      let failure = content(file)
      if failure != 0 { return failure }
      let result = real.synchronizeContent(file)
      note(.content(inode: inode(of: file)))
      return result
    }
    calls.renameWithoutReplacing = { [self] directory, from, folder, to in
      var status = stat()
      fstatat(directory, from, &status, AT_SYMLINK_NOFOLLOW)
      let result = real.renameWithoutReplacing(directory, from, folder, to)
      if result == 0 { note(.named(to, inode: UInt64(status.st_ino))) }
      return result
    }
    calls.synchronizeEntries = { [self] folder in
      let number = state.withLock { state in
        state.synchronizations += 1
        state.entries.append(.beganEntries(state.synchronizations, inode: inode(of: folder)))
        return state.synchronizations
      }
      let failure = beforeEntries(inode(of: folder))
      if failure != 0 { return failure }
      let result = real.synchronizeEntries(folder)
      note(.endedEntries(number))
      return result
    }
    return calls
  }

  private func note(_ entry: Entry) { state.withLock { $0.entries.append(entry) } }

  private func inode(of file: Int32) -> UInt64 {
    var status = stat()
    return fstat(file, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  /// Whether the log so far says that a file is there after any crash: its content was made durable, then it got its
  /// name in a folder, and after that the folder's entries were made durable.
  func isDurable(_ name: String, inode: UInt64, inFolder folder: UInt64) -> Bool {
    let entries = entries
    guard let content = entries.firstIndex(of: .content(inode: inode)),
      let named = entries.firstIndex(of: .named(name, inode: inode)), content < named
    else { return false }
    return entries[named...].contains { entry in
      if case .beganEntries(let number, folder) = entry { entries.contains(.endedEntries(number)) } else { false }
    }
  }
}
