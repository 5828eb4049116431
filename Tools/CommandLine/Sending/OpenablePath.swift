import Glibc

/// A path as text that opens the same file. Where a directory's name is not UTF-8, the text goes by way of an open descriptor of
/// the directory, which lives as long as this does.
final class OpenablePath: Sendable {
  let text: String
  private let directory: Int32?

  init(_ path: LocalPath) throws(TransferFailure) {
    if let text = path.text {
      self.text = text
      directory = nil
      return
    }
    let name = path.lastComponent
    guard let last = name.text else {
      throw TransferFailure(word: "name-refused", message: "the name is not UTF-8", exitCode: .localFile)
    }
    let parent = LocalPath(bytes: Array(path.bytes.dropLast(name.bytes.count)))
    let descriptor = parent.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      throw TransferFailure(word: "unreadable", message: SystemError.text(errno), exitCode: .localFile)
    }
    directory = descriptor
    text = "/proc/self/fd/\(descriptor)/\(last)"
  }

  deinit { if let directory { close(directory) } }
}
