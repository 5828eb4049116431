import Glibc
import PiconetTerminal

/// A command that writes one text and ends: `piconet manual` and `piconet completion`.
enum PrintingProgram {
  static func main<Arguments>(
    _ table: OptionTable<Arguments>, initial: Arguments, _ words: [[UInt8]], text: (Arguments) -> String
  ) -> Never {
    StandardStream.ignoreBrokenPipes()
    var (output, error) = (StandardStream.output, StandardStream.error)
    switch table.start(initial: initial, words: words, output: &output, error: &error) {
    case .end(let code): exit(code.rawValue)
    case .run(let arguments): print(text(arguments), of: table.program, to: &output, &error)
    }
  }

  /// Writes what was asked for, and ends.
  static func print(
    _ text: String, of program: String, to output: inout StandardStream, _ error: inout StandardStream
  ) -> Never {
    output.write(text)
    output.complain(as: program, to: &error)
    exit(output.exitCode(after: .stored).rawValue)
  }
}

extension ManualArguments {
  /// The page, or the names of all.
  var text: String {
    command.map { ManualPage(command: $0).text } ?? PiconetProgram.pages.map { $0 + "\n" }.joined()
  }
}

extension CompletionArguments {
  /// One script, or several one after the other.
  var text: String {
    // A wrong command line has been refused before.
    guard let (shell, programs) = try? wanted() else { return "" }
    return programs.map { program in
      shell.completion(of: program.description, commands: program.page == "piconet" ? PublishedCommand.commands : [])
    }.joined(separator: "\n")
  }
}
