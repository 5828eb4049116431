import CPiconetSystem
import Glibc

/// A terminal's answer to a request for its primary device attributes (VT510 Programmer Information, DA1): `ESC [ ? 62
/// ; 4 ; 22 c`.
struct TerminalAttributes: Hashable, Sendable {
  let numbers: [Int]

  /// Sixel graphics are number 4; the first one is the terminal's class.
  var hasSixel: Bool { numbers.dropFirst().contains(4) }

  /// Reads the first answer in the bytes from a terminal and a person; nil: no answer yet.
  init?(_ bytes: [UInt8]) {
    let start = Array("\u{1B}[?".utf8)
    for index in bytes.indices where bytes[index...].starts(with: start) {
      let rest = bytes[(index + start.count)...]
      let words = rest.prefix { $0 == UInt8(ascii: ";") || (0x30...0x39).contains($0) }
      guard rest.dropFirst(words.count).first == UInt8(ascii: "c") else { continue }
      numbers = words.split(separator: UInt8(ascii: ";")).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
      return
    }
    return nil
  }

  private static let question = Array("\u{1B}[c".utf8)
  private static let longestAnswer = 256
  private static let interrupt: UInt8 = 0x03

  /// Asks the terminal, which is in raw mode meanwhile. What is typed then is lost. Blocks the calling thread.
  /// - Parameter patience: some never answer.
  static func asked(input: Int32, output: Int32, patience: Duration = .milliseconds(300)) -> TerminalAttributes? {
    guard piconet_terminal_raw(input, output, 0) == 0 else { return nil }
    var received: [UInt8] = []
    defer {
      piconet_terminal_restore()
      // In raw mode Ctrl-C is a character.
      if received.contains(interrupt) { kill(getpid(), SIGINT) }
    }
    guard write(output, question, question.count) == question.count else { return nil }
    let end = ContinuousClock.now + patience
    while received.count < longestAnswer {
      if let attributes = TerminalAttributes(received) { return attributes }
      let left = end - .now
      var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      guard left > .zero else { return nil }
      let ready = poll(&entry, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      received += buffer.prefix(count)
    }
    return nil
  }
}
