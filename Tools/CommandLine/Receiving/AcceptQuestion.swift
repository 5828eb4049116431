import Glibc

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

  static let prompt = "Accept? [y]es / [o]nce / [n]o / codes [d]iffer: "

  private let lines: TerminalLines

  /// nil where no descriptor is to be had.
  init?(input: Int32 = STDIN_FILENO) {
    guard let lines = TerminalLines(input: input) else { return nil }
    self.lines = lines
  }

  /// Whether somebody can be asked at all.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Any thread may call it; `ask` then gives `none`.
  func cancel() { lines.cancel() }

  /// Blocks its thread. What was typed before the question could be read does not count as its answer.
  /// - Parameter hasCodes: codes are shown, and may differ.
  func ask(
    _ console: Console, prompt: String = prompt, hasCodes: Bool = true, after former: Former = .none
  ) -> Answer {
    defer { console.setPrompt(nil) }
    if former.pause > .zero {
      console.setPrompt(prompt)
      if lines.isCancelled(within: former.pause) { return .none }
    }
    // Before the prompt: whoever answers as soon as it stands there is heard.
    lines.flush()
    console.setPrompt(prompt)
    let outcome = lines.first { line -> Answer? in
      if let answer = Answer(line), hasCodes || answer != .codesDiffer { return answer }
      console.setPrompt(prompt)
      return nil
    }
    return switch outcome {
    case .answer(let answer): answer
    // The end of input is no consent.
    case .inputEnded: .no
    case .cancelled: .none
    }
  }
}
