import Glibc
import PiconetTerminal

/// From the command line to the exit.
enum ProgramStart {
  /// Blocks the main thread, which has nothing else to do: if `main` were asynchronous, it would run on a thread of the
  /// pool, and the main thread would still take the signals that `Interruption` waits for.
  static func main<Arguments>(
    _ table: OptionTable<Arguments>, initial: Arguments, words: [[UInt8]] = ProcessArguments.words,
    console make: (Arguments) -> Console,
    _ body: @escaping @Sendable (Arguments, Console) async -> Void
  ) -> Never {
    StandardStream.occupyClosed()
    Interruption.block()
    StandardStream.ignoreBrokenPipes()
    var output = StandardStream.output
    var error = StandardStream.error
    let arguments: Arguments
    switch table.start(initial: initial, words: words, output: &output, error: &error) {
    case .run(let read): arguments = read
    case .end(let code): exit(code.rawValue)
    }
    let console = make(arguments)
    let interruption = Interruption()
    let work = Task {
      await body(arguments, console)
      let code = console.finish()
      if code == .interrupted { Interruption.end(by: interruption.received ?? SIGINT) }
      exit(code.rawValue)
    }
    interruption.watch { work.cancel() }
    while true { pause() }
  }
}

extension ImageSendProgram {
  /// The whole program.
  public static func main() -> Never {
    ProgramStart.main(
      imagesendOptions, initial: ImageSendArguments(),
      console: { Console(program: "imagesend", json: $0.json, verbosity: $0.verbosity) }
    ) { arguments, console in
      await ImageSendProgram(arguments: arguments, environment: .current, console: console).run()
    }
  }
}

extension ImageReceiveProgram {
  /// The whole program.
  public static func main() -> Never {
    ProgramStart.main(
      imagerecvOptions, initial: ImageReceiveArguments(),
      console: { Console(program: "imagerecv", json: $0.json, verbosity: $0.verbosity) }
    ) { arguments, console in
      await ImageReceiveProgram(arguments: arguments, environment: .current, console: console).run()
    }
  }
}
