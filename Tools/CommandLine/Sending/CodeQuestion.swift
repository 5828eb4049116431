import Glibc
import Piconet
import PiconetTerminal

/// Asks the person at the terminal for the code that the other device shows, until a valid one is typed.
final class CodeQuestion: Sendable {
  static let prompt = "Code of the other device: "

  private let lines: TerminalLines

  /// nil if no descriptor is available.
  init?(input: Int32 = STDIN_FILENO) {
    guard let lines = TerminalLines(input: input) else { return nil }
    self.lines = lines
  }

  /// Any thread may call it; `ask` then returns nil.
  func cancel() { lines.cancel() }

  /// Blocks its thread.
  func ask(_ console: Console) -> TerminalLines.Outcome<TypedCode> {
    lines.flush()
    return console.answer(to: Self.prompt, from: lines) { line in
      let code = TypedCode(line)
      if code == nil { console.note("A code is \(CodeOption.form).", isQuestion: true) }
      return code
    }
  }
}

extension CodeOption {
  /// The code of the peer that is dialled; asked for if it was not given.
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
      if case .answer(let code) = asked { return code }
      if case .hungUp = asked { await Interruption.hangUp() }
      if Task.isCancelled { throw Delivery.interrupted }
      throw TransferFailure(word: "usage", message: "no code was typed", exitCode: .usage)
    }
  }
}
