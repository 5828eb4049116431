import Glibc
import PiconetTerminal

/// piconet: a command for each thing that a person looks at or tries by hand.
public enum PiconetProgram {
  enum Command: String, CaseIterable {
    case doctor, scan, ping, cat, relay, browse, introspect, call, trust, replay, manual, completion

    var summary: String {
      switch self {
      case .doctor: "say what keeps this machine from reaching others"
      case .scan: "show the peers nearby as they come and go"
      case .ping: "measure the round trip to a peer, or answer others"
      case .cat: "carry bytes between two terminals, files or pipes"
      case .relay: "let others reach one another over this device"
      case .browse: "show the names and interfaces that programs nearby advertise"
      case .introspect: "show the objects of a program, and what can be called"
      case .call: "call a method of an object"
      case .trust: "show and change whom this device knows, and its own key"
      case .replay: "run a recorded trace again and compare"
      case .manual: "write a manual page, as man reads it"
      case .completion: "write what a shell completes command lines by"
      }
    }
  }

  /// The request of the first word.
  enum Start: Equatable {
    case command(Command)
    case print(String)
    case wrong(UsageError)
  }

  /// Runs the whole program; if it is started under the name of another one, through a link, it is that program.
  public static func main() -> Never {
    switch ProcessArguments.programName {
    case "imagesend": ImageSendProgram.main()
    case "imagerecv": ImageReceiveProgram.main()
    default: mainOfPiconet()
    }
  }

  private static func mainOfPiconet() -> Never {
    let words = ProcessArguments.words
    StandardStream.occupyClosed()
    var (output, error) = (StandardStream.output, StandardStream.error)
    switch start(words.first) {
    case .command(let command): run(command, Array(words.dropFirst()))
    case .print(let text):
      StandardStream.ignoreBrokenPipes()
      PrintingProgram.print(text, of: "piconet", to: &output, &error)
    case .wrong(let problem):
      error.write(problem.text(program: "piconet"))
      exit(ExitCode.usage.rawValue)
    }
  }

  static func start(_ first: [UInt8]?) -> Start {
    guard let first else { return .wrong(UsageError("missing command")) }
    let word = String(decoding: first, as: UTF8.self)
    switch word {
    case "-h", "--help", "help": return .print(help)
    case "--version": return .print(ProgramVersion.text(program: "piconet"))
    default: return Command(rawValue: word).map(Start.command) ?? .wrong(unknown(word))
    }
  }

  private static func unknown(_ word: String) -> UsageError {
    let what = word.hasPrefix("-") ? "unrecognized option" : "unknown command"
    let commands = Command.allCases.map(\.rawValue)
    let nearest = NearestWord.to(word, of: word.hasPrefix("-") ? ["--help", "--version"] : commands)
    let list = commands.map { "  - '\($0)'" }.joined(separator: "\n")
    return UsageError("\(what) '\(displaySafe(word))'\(NearestWord.question(nearest))\nCommands are:\n\(list)")
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
      ) {
        if let path = $0.path {
          await ObjectPingProgram(arguments: $0, path: path, environment: .current, console: $1).run()
        } else {
          await PingProgram(arguments: $0, environment: .current, console: $1).run()
        }
      }
    case .cat:
      ProgramStart.main(
        catOptions, initial: CatArguments(), words: words,
        console: { Console(program: "piconet cat", json: false, verbosity: $0.link.verbosity, countsFiles: false) }
      ) { await CatProgram(arguments: $0, environment: .current, console: $1).run() }
    case .relay:
      ProgramStart.main(
        relayOptions, initial: RelayArguments(), words: words,
        console: { Console(program: "piconet relay", json: false, verbosity: $0.link.verbosity, countsFiles: false) }
      ) { await RelayProgram(arguments: $0, environment: .current, console: $1).run() }
    case .browse:
      ProgramStart.main(
        browseOptions, initial: BrowseArguments(), words: words,
        console: { Console(program: "piconet browse", json: $0.json, verbosity: $0.verbosity, countsFiles: false) }
      ) { await BrowseProgram(arguments: $0, environment: .current, console: $1).run() }
    case .introspect:
      ProgramStart.main(
        introspectOptions, initial: IntrospectArguments(), words: words,
        console: {
          Console(program: "piconet introspect", json: false, verbosity: $0.link.verbosity, countsFiles: false)
        }
      ) { await IntrospectProgram(arguments: $0, environment: .current, console: $1).run() }
    case .call:
      ProgramStart.main(
        callOptions, initial: CallArguments(), words: words,
        console: { Console(program: "piconet call", json: false, verbosity: $0.link.verbosity, countsFiles: false) }
      ) { await CallProgram(arguments: $0, environment: .current, console: $1).run() }
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
    case .manual: PrintingProgram.main(manualOptions, initial: ManualArguments(), words, text: \.text)
    case .completion: PrintingProgram.main(completionOptions, initial: CompletionArguments(), words, text: \.text)
    }
  }
}
