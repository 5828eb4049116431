import TestSupport
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

@Suite("A question to a person at a terminal")
struct AcceptQuestionTests {
  @Test(
    "a question ignores keys pressed before a person could read it, or in the pause after a withdrawn question",
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
