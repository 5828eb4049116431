import CPiconetSystem
import Glibc
import Synchronization

/// Asks the person at the terminal whether to take files of somebody, a line at a time, until the answer is one.
final class AcceptQuestion: Sendable {
  enum Answer: Hashable, Sendable {
    case yes, no
    /// Now, and to be asked again the next time.
    case once
    /// The person has compared the codes, and they differ.
    case codesDiffer
    /// `cancel` was called, or the terminal has gone.
    case none

    /// nil for what is no answer.
    init?(_ line: String) {
      switch line.lowercased().filter({ !$0.isWhitespace }) {
      case "y", "yes": self = .yes
      case "n", "no": self = .no
      case "o", "once": self = .once
      case "d", "differ", "codesdiffer": self = .codesDiffer
      default: return nil
      }
    }
  }

  /// What became of the question before.
  enum Former: Sendable {
    case none, answered
    /// It was gone before there was an answer, which may be on its way to the keyboard yet.
    case takenBack

    /// For so long nothing is taken for an answer to the next question: nobody reads a code faster.
    var pause: Duration { self == .takenBack ? .seconds(1) : .zero }
  }

  static let prompt = "Accept? [y]es / [n]o / codes [d]iffer: "
  private static let longestLine = 256

  private let wake: Int32
  private let input: Int32

  /// nil where no descriptor is to be had.
  init?(input: Int32 = STDIN_FILENO) {
    wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    self.input = input
    if wake < 0 { return nil }
  }

  deinit { close(wake) }

  /// Whether somebody can be asked at all.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Any thread may call it; `ask` then gives `none`.
  func cancel() {
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout.size(ofValue: one))
  }

  /// Blocks its thread. What was typed before the question could be read does not count as its answer.
  func ask(_ console: Console, prompt: String = prompt, after former: Former = .none) -> Answer {
    defer { console.setPrompt(nil) }
    if former.pause > .zero {
      console.setPrompt(prompt)
      if isCancelled(within: former.pause) { return .none }
    }
    // Before the prompt: whoever answers as soon as it stands there is heard.
    tcflush(input, TCIFLUSH)
    console.setPrompt(prompt)
    var line: [UInt8] = []
    while true {
      var entries = [
        pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&entries, nfds_t(entries.count), -1) < 0 {
        if errno == EINTR { continue }
        return .none
      }
      if entries[1].revents != 0 { return .none }
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // End of input, by Ctrl-D or because the terminal was closed, is no consent.
      guard count > 0 else { return .no }
      for byte in buffer.prefix(count) {
        guard byte == UInt8(ascii: "\n") else {
          if line.count < Self.longestLine { line.append(byte) }
          continue
        }
        if let answer = Answer(String(decoding: line, as: UTF8.self)) { return answer }
        line = []
        console.setPrompt(prompt)
      }
    }
  }

  private func isCancelled(within pause: Duration) -> Bool {
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
