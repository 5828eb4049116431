import Glibc

/// piconet: a command for each thing that is looked at or tried by hand.
public enum PiconetProgram {
  enum Command: String, CaseIterable {
    case doctor, scan, ping, cat, trust, replay

    var summary: String {
      switch self {
      case .doctor: "say what keeps this machine from reaching others"
      case .scan: "show the peers nearby as they come and go"
      case .ping: "measure the round trip to a peer, or answer others"
      case .cat: "carry bytes between two terminals, files or pipes"
      case .trust: "show and change whom this device knows, and its own key"
      case .replay: "run a recorded trace again and compare"
      }
    }
  }

  /// What the first word asks for.
  enum Start: Equatable {
    case command(Command)
    case print(String)
    case wrong(UsageError)
  }

  /// The whole program.
  public static func main() -> Never {
    let words = ProcessArguments.words
    StandardStream.occupyClosed()
    var (output, error) = (StandardStream.output, StandardStream.error)
    switch start(words.first) {
    case .command(let command): run(command, Array(words.dropFirst()))
    case .print(let text):
      StandardStream.ignoreBrokenPipes()
      output.write(text)
      output.complain(as: "piconet", to: &error)
      exit(output.exitCode(after: .stored).rawValue)
    case .wrong(let problem):
      error.write(problem.text(program: "piconet"))
      exit(ExitCode.usage.rawValue)
    }
  }

  static func start(_ first: [UInt8]?) -> Start {
    guard let first else { return .wrong(UsageError("missing command")) }
    let word = String(decoding: first, as: UTF8.self)
    switch word {
    case "--help", "help": return .print(help)
    case "--version": return .print(ProgramVersion.text(program: "piconet"))
    default:
      if let command = Command(rawValue: word) { return .command(command) }
      let what = word.hasPrefix("-") ? "unrecognized option" : "unknown command"
      let commands = Command.allCases.map { "  - '\($0.rawValue)'" }.joined(separator: "\n")
      return .wrong(UsageError("\(what) '\(displaySafe(word))'\nCommands are:\n\(commands)"))
    }
  }

  static var help: String {
    let commands = Command.allCases.map { command in
      "  " + command.rawValue + String(repeating: " ", count: 10 - command.rawValue.count) + command.summary
    }
    return """
      Usage: piconet COMMAND [OPTION]...
      See, measure and try what devices nearby are reached by.

      Commands:
      \(commands.joined(separator: "\n"))

      'piconet COMMAND --help' lists a command's options.
            --help              show this help and exit
            --version           show the version and exit

      """
  }

  private static func run(_ command: Command, _ words: [[UInt8]]) -> Never {
    switch command {
    case .doctor: DoctorProgram.main(words)
    case .scan:
      ProgramStart.main(
        scanOptions, initial: ScanArguments(), words: words,
        console: { Console(program: "piconet scan", json: $0.json, verbosity: $0.verbosity, countsFiles: false) }
      ) { await ScanProgram(arguments: $0, environment: .current, console: $1).run() }
    case .ping:
      ProgramStart.main(
        pingOptions, initial: PingArguments(), words: words,
        console: { Console(program: "piconet ping", json: false, verbosity: $0.link.verbosity, countsFiles: false) }
      ) { await PingProgram(arguments: $0, environment: .current, console: $1).run() }
    case .cat:
      ProgramStart.main(
        catOptions, initial: CatArguments(), words: words,
        console: { Console(program: "piconet cat", json: false, verbosity: $0.link.verbosity, countsFiles: false) }
      ) { await CatProgram(arguments: $0, environment: .current, console: $1).run() }
    case .trust:
      ProgramStart.main(
        trustOptions, initial: TrustArguments(), words: words,
        console: { Console(program: "piconet trust", json: $0.json, verbosity: $0.verbosity, countsFiles: false) }
      ) { TrustProgram(arguments: $0, environment: .current, console: $1).run() }
    case .replay:
      ProgramStart.main(
        replayOptions, initial: ReplayArguments(), words: words,
        console: { Console(program: "piconet replay", json: false, verbosity: $0.verbosity, countsFiles: false) }
      ) { await ReplayProgram(arguments: $0, console: $1).run() }
    }
  }
}
