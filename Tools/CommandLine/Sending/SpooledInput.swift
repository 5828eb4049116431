import Glibc
import PiconetTerminal

/// What standard input had, kept in a file without a name: its size is offered before it is sent, it can go to several
/// receivers, and it is gone with this object, or with the program.
final class SpooledInput: Sendable {
  /// Opens it.
  let path: LocalPath
  private let descriptor: Int32

  private static let pieceSize = 1 << 20

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
    path = LocalPath("/proc/self/fd/\(descriptor)")
  }

  deinit { close(descriptor) }

  /// Reads standard input to its end; cancelling the task ends that.
  static func read(_ console: Console) async throws(TransferFailure) -> SpooledInput {
    guard let input = StandardInput() else { throw failure("standard input: \(ErrorNumber.text(errno))") }
    if input.isTerminal {
      throw TransferFailure(
        word: "usage", message: "standard input is a terminal: - takes a pipe or a file", exitCode: .usage)
    }
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
    let spooled = SpooledInput(try file(in: folder))
    console.note("Reading standard input")
    while true {
      switch await input.read(atMost: pieceSize) {
      case .bytes(let bytes):
        if let error = spooled.append(bytes) {
          throw failure("standard input can't be kept in \(console.safe(folder)): \(ErrorNumber.text(error))")
        }
      case .end:
        if Task.isCancelled { throw Delivery.interrupted }
        return spooled
      case .failed(let error): throw failure("standard input: \(ErrorNumber.text(error))")
      }
    }
  }

  private static func failure(_ message: String) -> TransferFailure {
    TransferFailure(word: "unreadable", message: message, exitCode: .localFile)
  }

  /// A new file without a name.
  private static func file(in folder: String) throws(TransferFailure) -> Int32 {
    var template = Array("\(folder)/piconet.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw failure("no file can be made in \(displaySafe(folder)): \(ErrorNumber.text(errno))")
    }
    unlink(template)
    // This program starts no others before that.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  /// - Returns: the errno of what failed.
  private func append(_ bytes: [UInt8]) -> Int32? {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count < 0 ? errno : ENOSPC }
        rest = rest.dropFirst(count)
      }
      return nil
    }
  }
}
