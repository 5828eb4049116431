import CPiconetSystem
import Glibc

/// The lines that a person types at a terminal, until one is an answer or no answer is needed any more.
package final class TerminalLines: Sendable {
  package enum Outcome<Answer: Sendable>: Sendable {
    case answer(Answer)
    /// By Ctrl-D.
    case inputEnded
    case cancelled
    /// The terminal was closed without an answer.
    case hungUp
  }

  private static let longestLine = 256

  private let wake: Int32
  private let input: Int32

  /// nil if no descriptor is available.
  package init?(input: Int32 = STDIN_FILENO) {
    wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    self.input = input
    if wake < 0 { return nil }
  }

  deinit { close(wake) }

  /// Any thread may call it.
  package func cancel() {
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout.size(ofValue: one))
  }

  /// Discards what has been typed so far.
  package func flush() { tcflush(input, TCIFLUSH) }

  /// Reads lines until one is an answer; blocks its thread.
  /// - Parameter answer: returns the answer in a line; nil if it has none, and the next line is read.
  package func first<Answer>(_ answer: (String) -> Answer?) -> Outcome<Answer> {
    var line: [UInt8] = []
    while true {
      var entries = [
        pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&entries, nfds_t(entries.count), -1) < 0 {
        if errno == EINTR { continue }
        return .cancelled
      }
      if entries[1].revents != 0 { return .cancelled }
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // Asked only now: it may have been closed between poll(2) and read(2).
      guard count > 0 else { return isHungUp(input) ? .hungUp : count == 0 ? .inputEnded : .cancelled }
      for byte in buffer.prefix(count) {
        guard byte == UInt8(ascii: "\n") else {
          if line.count < Self.longestLine { line.append(byte) }
          continue
        }
        if let answer = answer(String(decoding: withoutControlSequences(line), as: UTF8.self)) {
          return .answer(answer)
        }
        line = []
      }
    }
  }

  /// Blocks its thread for this time, unless it is cancelled.
  package func isCancelled(within pause: Duration) -> Bool {
    let end = ContinuousClock.now + pause
    while true {
      var entry = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
      let left = max(.zero, end - .now)
      let milliseconds = left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000
      if poll(&entry, 1, Int32(clamping: milliseconds + 1)) < 0, errno == EINTR { continue }
      return entry.revents != 0
    }
  }
}
