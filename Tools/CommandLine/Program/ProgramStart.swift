import Glibc

/// From the command line to the exit.
enum ProgramStart {
  static func main<Arguments>(
    _ table: OptionTable<Arguments>, initial: Arguments,
    console make: (Arguments) -> Console,
    _ body: @escaping @Sendable (Arguments, Console) async -> Void
  ) async -> Never {
    Interruption.block()
    StandardStream.ignoreBrokenPipes()
    var output = StandardStream.output
    var error = StandardStream.error
    let arguments: Arguments
    switch table.start(initial: initial, output: &output, error: &error) {
    case .run(let read): arguments = read
    case .end(let code): exit(code.rawValue)
    }
    let console = make(arguments)
    let work = Task { await body(arguments, console) }
    let interruption = Interruption()
    interruption.watch { work.cancel() }
    await work.value
    let code = console.finish()
    if code == .interrupted { Interruption.end(by: interruption.received ?? SIGINT) }
    exit(code.rawValue)
  }
}

extension ImageSendProgram {
  /// The whole program.
  public static func main() async -> Never {
    await ProgramStart.main(
      imagesendOptions, initial: ImageSendArguments(),
      console: { Console(program: "imagesend", json: $0.json, verbosity: $0.verbosity) }
    ) { arguments, console in
      await ImageSendProgram(arguments: arguments, environment: .current, console: console).run()
    }
  }
}

extension ImageReceiveProgram {
  /// The whole program.
  public static func main() async -> Never {
    await ProgramStart.main(
      imagerecvOptions, initial: ImageReceiveArguments(),
      console: { Console(program: "imagerecv", json: $0.json, verbosity: $0.verbosity) }
    ) { arguments, console in
      await ImageReceiveProgram(arguments: arguments, environment: .current, console: console).run()
    }
  }
}
