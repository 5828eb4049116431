import Glibc

/// A path as text that opens the same file. If it is not UTF-8, the text leads through an open descriptor, of the file
/// or of its directory, which stays open as long as this object lives.
final class OpenablePath: Sendable {
  let text: String
  private let descriptor: Int32?

  init(_ path: LocalPath) throws(TransferFailure) {
    if let text = path.text {
      self.text = text
      descriptor = nil
      return
    }
    let name = path.lastComponent
    guard let last = name.text else {
      let file = try Self.open(path)
      descriptor = file
      text = "/proc/self/fd/\(file)"
      return
    }
    let directory = try Self.open(LocalPath(bytes: Array(path.bytes.dropLast(name.bytes.count))))
    descriptor = directory
    text = "/proc/self/fd/\(directory)/\(last)"
  }

  deinit { if let descriptor { close(descriptor) } }

  private static func open(_ path: LocalPath) throws(TransferFailure) -> Int32 {
    // O_NONBLOCK keeps a FIFO from holding us up.
    let descriptor = awaitingDescriptor {
      path.withCString { Glibc.open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    }
    guard descriptor >= 0 else {
      throw TransferFailure(word: "unreadable", message: ErrorNumber.text(errno), exitCode: .localFile)
    }
    return descriptor
  }
}
