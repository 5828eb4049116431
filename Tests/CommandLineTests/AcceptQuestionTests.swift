import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("A question to a person at a terminal")
struct AcceptQuestionTests {
  @Test(
    "what was typed before it could be read is no answer to it, and what comes during the pause after a question that was taken back is none either",
    arguments: [AcceptQuestion.Former.none, .answered, .takenBack])
  func typedBefore(former: AcceptQuestion.Former) async throws {
    let terminal = try #require(PseudoTerminal())
    let question = try #require(AcceptQuestion(input: terminal.program))
    let console = Console(program: "test", json: false, verbosity: Verbosity())
    terminal.type("y\n")
    let asking = Task { [question] in
      await onItsOwnThread { question.ask(console, .acceptFiles, after: former) }
    }
    // Whenever it is that the person's answers count: the first that does is one of these.
    let typing = Task { [terminal] in
      while !Task.isCancelled {
        terminal.type("n\n")
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    #expect(await asking.value == .no)
    typing.cancel()
    await typing.value
  }
}
