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
    let folder = UnnamedFile.folder
    let spooled: SpooledInput
    do throws(SystemFailure) {
      spooled = SpooledInput(try UnnamedFile.make())
    } catch {
      throw failure("no file can be made in \(displaySafe(folder)): \(ErrorNumber.text(error.number))")
    }
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
