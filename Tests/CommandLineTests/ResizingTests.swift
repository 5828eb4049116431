import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private let traits = TerminalTraits(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }

/// A console at a terminal, and what a person sees there.
private struct Window {
  let terminal: PseudoTerminal
  let console: Console
  var model: TerminalModel

  init?(columns: Int, rows: Int, reflows: Bool) {
    guard let terminal = PseudoTerminal(columns: UInt16(columns), rows: UInt16(rows)) else { return nil }
    self.terminal = terminal
    let stream = StandardStream(descriptor: terminal.program)
    console = Console(
      program: "test", json: false, verbosity: Verbosity(), output: stream, error: stream, traits: traits)
    model = TerminalModel(columns: columns, rows: rows, reflows: reflows)
  }

  mutating func update() {
    terminal.readAll()
    model.write(terminal.shown)
    terminal.forget()
  }

  /// A person has typed an answer, and the terminal has shown it.
  mutating func answer() {
    update()
    model.write("y\r\n")
    console.promptWasEnded()
    console.setPrompt(nil)
  }

  mutating func resize(columns: Int, rows: Int) {
    update()
    terminal.resize(columns: UInt16(columns), rows: UInt16(rows))
    model.resize(columns: columns, rows: rows)
  }
}

@Suite("A window that gets another size while something is shown in it")
struct ResizingTests {
  private static let words = ["Phone wants to send 3 files.", "Code: 123 456"]
  private static let prompt = AcceptQuestion.Wording.acceptFiles.prompt

  /// As they look in a wide window and in a narrow one, without an answer and with it.
  private static let prompts = [120, 30].map { questionLine(prompt, columns: $0) }
    .flatMap { [String($0.dropLast()), $0 + "y"] }

  private static func bars(_ count: Int, _ done: Int64) -> [ProgressBar] {
    (0..<count).map {
      ProgressBar(
        label: "bar \($0)", files: .init(done: Int(done), total: 900), name: "IMG_0001.jpg", done: done, total: 900,
        bytesPerSecond: 1_000_000, timeLeft: .seconds(60))
    }
  }

  @Test(
    "keeps each line that was written, in order and once, and nothing of bars and questions that are gone",
    arguments: [true, false])
  func lines(reflows: Bool) throws {
    for seed in 0..<200 as Range<UInt64> {
      var random = SeededGenerator(seed)
      var window = try #require(Window(columns: 80, rows: 24, reflows: reflows))
      var written: [String] = []
      var isAsking = false
      var now = ContinuousClock.now
      for step in 0..<40 {
        now += .seconds(1)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2:
          window.resize(columns: .random(in: 24...120, using: &random), rows: .random(in: 8...40, using: &random))
        case 3, 4:
          window.console.draw(Self.bars(.random(in: 1...4, using: &random), Int64(step)), at: now)
        case 5:
          written.append("note \(seed) \(step)")
          window.console.note(written[written.count - 1])
        case 6 where isAsking:
          // By an answer, or because it is withdrawn.
          if Bool.random(using: &random) {
            window.answer()
          } else {
            window.console.setPrompt(nil)
          }
          isAsking = false
        case 6:
          window.console.question(Self.words)
          window.console.setPrompt(Self.prompt)
          isAsking = true
        default:
          window.console.clearBars()
          window.update()
          let shown = window.model.lines
          #expect(!shown.contains { $0.contains("bar ") }, "\(seed): \(shown)")
        }
        window.update()
      }
      window.console.clearBars()
      window.console.setPrompt(nil)
      window.update()
      let shown = window.model.lines
      #expect(shown.filter { $0.hasPrefix("note ") } == written, "\(seed): \(shown)")
      // What was asked stays, and what was answered; nothing else, and no part of it.
      // A terminal that cuts lines cuts these as well.
      for line in shown where reflows && line.hasPrefix("Accept?") {
        #expect(Self.prompts.contains(line), "\(seed): \(shown)")
      }
      let others = shown.filter { line in
        !line.hasPrefix("note ") && !line.hasPrefix("Accept?") && !line.hasPrefix("  ")
          && !Self.words.contains { $0.hasPrefix(line) }
      }
      #expect(others.isEmpty, "\(seed): \(shown)")
    }
  }

  @Test("a question that a narrower window has wrapped is shown again whole below what is written meanwhile")
  func wrappedQuestion() throws {
    for reflows in [true, false] {
      var window = try #require(Window(columns: 100, rows: 24, reflows: reflows))
      window.console.question(Self.words)
      window.console.setPrompt(Self.prompt)
      window.resize(columns: 40, rows: 24)
      window.console.note("Attic has gone")
      window.update()
      let end = Array(window.model.lines.drop { $0 != "Attic has gone" })
      #expect(end == ["Attic has gone"] + Self.words + ["Accept? [y/a/s/o/n/d]:"], "\(window.model.lines)")
      #expect(window.model.lines.count { $0.hasPrefix("Accept?") } == 1, "\(window.model.lines)")
    }
  }
}
