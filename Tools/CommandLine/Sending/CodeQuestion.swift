import CPiconetSystem
import Glibc
import Piconet

/// Asks the person at the terminal for the code that the other device shows, until it is one.
final class CodeQuestion: Sendable {
  static let prompt = "Code of the other device: "
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

  /// Any thread may call it; `ask` then gives nil.
  func cancel() {
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout.size(ofValue: one))
  }

  /// Blocks its thread. Nil: cancelled, or the terminal has gone.
  func ask(_ console: Console) -> TypedCode? {
    tcflush(input, TCIFLUSH)
    console.setPrompt(Self.prompt)
    defer { console.setPrompt(nil) }
    var line: [UInt8] = []
    while true {
      var entries = [
        pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&entries, nfds_t(entries.count), -1) < 0 {
        if errno == EINTR { continue }
        return nil
      }
      if entries[1].revents != 0 { return nil }
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      for byte in buffer.prefix(count) {
        guard byte == UInt8(ascii: "\n") else {
          if line.count < Self.longestLine { line.append(byte) }
          continue
        }
        if let code = TypedCode(String(decoding: line, as: UTF8.self)) { return code }
        line = []
        console.note("A code is \(CodeOption.form).", isQuestion: true)
        console.setPrompt(Self.prompt)
      }
    }
  }
}

extension CodeOption {
  /// The code for imagesend; asked for where it was not given.
  func wanted(_ console: Console) async throws(TransferFailure) -> TypedCode {
    switch self {
    case .given(let code): return code
    case .file(let path): return try CodeOption.code(in: path)
    case .open:
      guard AcceptQuestion.isPossible, let question = CodeQuestion() else {
        throw TransferFailure(
          word: "usage",
          message: "there is no terminal to ask for the code on: give it with --code=DIGITS or --code-file",
          exitCode: .usage)
      }
      let asked = await withTaskCancellationHandler {
        await onItsOwnThread { question.ask(console) }
      } onCancel: {
        question.cancel()
      }
      guard let code = asked ?? nil else {
        if Task.isCancelled { throw Delivery.interrupted }
        throw TransferFailure(word: "usage", message: "no code was typed", exitCode: .usage)
      }
      return code
    }
  }
}
