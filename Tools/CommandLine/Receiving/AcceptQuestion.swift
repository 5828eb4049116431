import Glibc
import PiconetTerminal

/// Asks the person at the terminal whether to accept a peer's files, line by line, until there is a valid answer.
final class AcceptQuestion: Sendable {
  enum Answer: Hashable, Sendable {
    case yes, no
    /// Yes, and without a question the next time.
    case always
    /// Yes, but to be chosen: which.
    case some
    /// Yes, but the device is not remembered.
    case once
    /// The person has compared the codes, and they differ.
    case codesDiffer
    /// `cancel` was called.
    case none
    /// The terminal was closed without an answer.
    case hungUp

    /// nil if it is not an answer.
    init?(_ line: String) {
      switch line.lowercased().filter({ !$0.isWhitespace }) {
      case "y", "yes": self = .yes
      case "n", "no": self = .no
      case "a", "always": self = .always
      case "s", "some": self = .some
      case "o", "once": self = .once
      case "d", "differ", "codesdiffer": self = .codesDiffer
      default: return nil
      }
    }
  }

  /// The fate of the previous question.
  enum Former: Sendable {
    case none, answered
    /// It was withdrawn before there was an answer, and the person may be about to type one.
    case takenBack

    /// How long nothing counts as an answer to the next question: no one reads a code faster.
    var pause: Duration { self == .takenBack ? .seconds(1) : .zero }
  }

  /// A question, and what counts as an answer to it.
  struct Wording: Hashable, Sendable {
    let prompt: String
    let answers: Set<Answer>

    /// Whether to let a sender in whose files are not known beforehand.
    static let accept = Wording(
      prompt: "Accept? [y]es / [a]lways / [o]nce / [n]o / codes [d]iffer: ",
      answers: [.yes, .always, .once, .no, .codesDiffer])
    /// Whether to take files that were announced.
    static let acceptFiles = Wording(
      prompt: "Accept? [y]es / [a]lways / [s]ome / [o]nce / [n]o / codes [d]iffer: ",
      answers: [.yes, .always, .some, .once, .no, .codesDiffer])
  }

  private static let choicePrompt = "Which? "

  private let lines: TerminalLines

  /// nil if no descriptor is available.
  init?(input: Int32 = STDIN_FILENO) {
    guard let lines = TerminalLines(input: input) else { return nil }
    self.lines = lines
  }

  /// Whether there is anyone to ask.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Any thread may call it; `ask` then returns `none`.
  func cancel() { lines.cancel() }

  /// Blocks its thread. Anything typed before the question could be read does not count as an answer.
  func ask(_ console: Console, _ wording: Wording, after former: Former = .none) -> Answer {
    if former.pause > .zero {
      console.setPrompt(wording.prompt)
      if lines.isCancelled(within: former.pause) {
        console.setPrompt(nil)
        return .none
      }
    }
    // Before the prompt, so that an answer given as soon as the prompt is there counts.
    lines.flush()
    let outcome = console.answer(to: wording.prompt, from: lines) { line in
      Answer(line).flatMap { wording.answers.contains($0) ? $0 : nil }
    }
    return switch outcome {
    case .answer(let answer): answer
    // No consent.
    case .inputEnded: .no
    case .cancelled: .none
    case .hungUp: .hungUp
    }
  }

  /// After `some`: which files. Blocks its thread.
  /// - Returns: nil if the person wants the first question back, by an empty line; and if no answer can come any more.
  func choose(_ console: Console, of announced: AnnouncedFiles) -> OfferSelection? {
    let files = announced.lines(atMost: AnnouncedFiles.fileLimit, isNumbered: true, safe: console.safe)
    console.note(
      (files + ["Numbers, ranges and patterns, as in: 1-3 7 *.jpg   An empty line: back to the question."])
        .joined(separator: "\n"), isQuestion: true)
    let outcome = console.answer(to: Self.choicePrompt, from: lines) { line -> OfferSelection?? in
      if line.allSatisfy(\.isWhitespace) { return .some(nil) }
      do throws(OfferSelection.Problem) {
        return try OfferSelection(line, of: announced, shown: announced.first.count)
      } catch {
        console.note(console.safe(error.message), isQuestion: true)
        return nil
      }
    }
    return if case .answer(let selection) = outcome { selection } else { nil }
  }
}
