import Glibc
import PiconetTerminal

/// The command line of this process.
enum ProcessArguments {
  /// Without the program's name. As bytes: `CommandLine.arguments` replaces what is not UTF-8, so files with such names
  /// could not be opened.
  static var words: [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { word in
        Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
      }
    }
  }

  /// The name by which this process was started, without the directories before it.
  static var programName: String {
    let word = CommandLine.argc > 0 ? CommandLine.unsafeArgv[0].map { String(cString: $0) } ?? "" : ""
    return String(word.split(separator: "/").last ?? "")
  }

  static var posixlyCorrect: Bool { getenv("POSIXLY_CORRECT") != nil }
}

/// What to do once the command line has been read.
enum Start<Arguments> {
  case run(Arguments)
  /// Everything has been said; end with this code.
  case end(ExitCode)
}

extension OptionTable {
  /// Reads a command line and prints what there is to print: the help or the version on `output`, a usage error on
  /// `error`.
  func start(
    initial: Arguments, words: [[UInt8]] = ProcessArguments.words,
    posixlyCorrect: Bool = ProcessArguments.posixlyCorrect, output: inout StandardStream, error: inout StandardStream
  ) -> Start<Arguments> {
    do throws(UsageError) {
      switch try OptionParser.parse(words, table: self, initial: initial, posixlyCorrect: posixlyCorrect) {
      case .run(let arguments): return .run(arguments)
      case .print(let text):
        output.write(text)
        output.complain(as: program, to: &error)
        return .end(output.exitCode(after: .stored))
      }
    } catch let problem {
      error.write(problem.text(program: program))
      return .end(.usage)
    }
  }
}
