import CPiconetSystem
import Glibc
import PiconetTerminal

/// Standard input, read in pieces on threads that may block; cancelling the task that reads, or `end`, stops it.
final class StandardInput: Sendable {
  enum Piece: Hashable, Sendable {
    case bytes([UInt8])
    case end
    case failed(Int32)
  }

  private let descriptor: Int32
  /// Becomes readable once no more should be read.
  private let wake: Int32

  /// nil if no descriptor is available.
  init?(descriptor: Int32 = STDIN_FILENO) {
    wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    self.descriptor = descriptor
    if wake < 0 { return nil }
  }

  deinit { close(wake) }

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Ends the input: from now on `read` reports the end. Any thread may call it.
  func end() {
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout.size(ofValue: one))
  }

  /// Returns the bytes that have arrived, at most `limit`; waits until there are some.
  func read(atMost limit: Int) async -> Piece {
    await withTaskCancellationHandler {
      await onItsOwnThread { [self] in readBlocking(atMost: limit) } ?? .failed(EAGAIN)
    } onCancel: {
      end()
    }
  }

  private func readBlocking(atMost limit: Int) -> Piece {
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      var entries = [
        pollfd(fd: wake, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&entries, nfds_t(entries.count), -1) < 0 {
        if errno == EINTR { continue }
        return .failed(errno)
      }
      if entries[0].revents != 0 { return .end }
      let count = Glibc.read(descriptor, &buffer, limit)
      if count > 0 { return .bytes(Array(buffer.prefix(count))) }
      if count == 0 { return .end }
      if errno != EINTR, errno != EAGAIN { return .failed(errno) }
    }
  }
}
