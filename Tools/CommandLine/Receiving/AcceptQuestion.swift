import Glibc
import PiconetTerminal

/// Asks the person at the terminal whether to accept files from somebody, line by line, until there is a valid answer.
final class AcceptQuestion: Sendable {
  enum Answer: Hashable, Sendable {
    case yes, no
    /// Yes, but ask again the next time.
    case once
    /// The person has compared the codes, and they differ.
    case codesDiffer
    /// `cancel` was called, or the terminal is gone.
    case none

    /// nil if it is not an answer.
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

  /// What became of the previous question.
  enum Former: Sendable {
    case none, answered
    /// It was withdrawn before there was an answer, and the person may be about to type one.
    case takenBack

    /// How long nothing counts as an answer to the next question: nobody reads a code faster.
    var pause: Duration { self == .takenBack ? .seconds(1) : .zero }
  }

  static let prompt = "Accept? [y]es / [o]nce / [n]o / codes [d]iffer: "

  private let lines: TerminalLines

  /// nil if no descriptor is available.
  init?(input: Int32 = STDIN_FILENO) {
    guard let lines = TerminalLines(input: input) else { return nil }
    self.lines = lines
  }

  /// Whether somebody can be asked at all.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Any thread may call it; `ask` then returns `none`.
  func cancel() { lines.cancel() }

  /// Blocks its thread. Anything typed before the question could be read does not count as an answer.
  /// - Parameter hasCodes: whether codes are shown, and may differ.
  func ask(
    _ console: Console, prompt: String = prompt, hasCodes: Bool = true, after former: Former = .none
  ) -> Answer {
    defer { console.setPrompt(nil) }
    if former.pause > .zero {
      console.setPrompt(prompt)
      if lines.isCancelled(within: former.pause) { return .none }
    }
    // Before the prompt, so that an answer given as soon as the prompt is there counts.
    lines.flush()
    console.setPrompt(prompt)
    let outcome = lines.first { line -> Answer? in
      if let answer = Answer(line), hasCodes || answer != .codesDiffer { return answer }
      console.setPrompt(prompt)
      return nil
    }
    return switch outcome {
    case .answer(let answer): answer
    // The end of input is not consent.
    case .inputEnded: .no
    case .cancelled: .none
    }
  }
}
