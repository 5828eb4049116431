import Glibc
import PiconetTerminal

/// From the command line to the exit.
enum ProgramStart {
  /// The work is a task of the pool's threads; the main thread has nothing else to do, and waits for signals.
  /// - Parameters:
  ///   - confine: called while there is no other thread.
  ///   - endTime: how long after a signal the process ends whatever still waits; nil: it waits for it.
  static func main<Arguments>(
    _ table: OptionTable<Arguments>, initial: Arguments, words: [[UInt8]] = ProcessArguments.words,
    configuration: ConfigurationFile? = nil, console make: (Arguments) -> Console,
    confine: (Arguments, Console) -> Void = { _, _ in }, endTime: Duration? = nil,
    _ body: @escaping @Sendable (Arguments, Console) async -> Void
  ) -> Never {
    StandardStream.occupyClosed()
    Interruption.block()
    StandardStream.ignoreBrokenPipes()
    var output = StandardStream.output
    var error = StandardStream.error
    let arguments: Arguments
    var initial = initial
    if let configuration, !words.prefix(while: { $0 != Array("--".utf8) }).contains(Array("--no-config".utf8)) {
      do throws(UsageError) {
        initial = try configuration.read(into: initial, table: table)
      } catch let problem {
        error.write(problem.text(program: table.program))
        exit(ExitCode.usage.rawValue)
      }
    }
    switch table.start(initial: initial, words: words, output: &output, error: &error) {
    case .run(let read): arguments = read
    case .end(let code): exit(code.rawValue)
    }
    let console = make(arguments)
    if let problem = ResourceLimits.prepare().problem(program: table.program) {
      console.fail("limit", problem, .localFile)
      exit(console.finish().rawValue)
    }
    confine(arguments, console)
    TaskPool.start()
    let interruption = Interruption()
    let work = Task {
      await body(arguments, console)
      let code = console.finish()
      if code == .interrupted { Interruption.end(by: interruption.received ?? SIGINT) }
      exit(code.rawValue)
    }
    interruption.wait(goesOn: { console.goesOn() }) {
      work.cancel()
      if let endTime { Task { await end(after: endTime, console, interruption) } }
    }
  }

  /// Ends the process some time after the signal, whatever still waits: a call to a disk that hangs can't be broken
  /// off. A file gets its final name only when it is whole.
  private static func end(after limit: Duration, _ console: Console, _ interruption: Interruption) async {
    var time = WaitingTime(limit, at: .now)
    repeat { try? await ContinuousClock().sleep(until: time.end) } while !time.isOver(at: .now)
    let files = console.filesUnderWay
    let names = files.prefix(3).map { console.safe($0) }.joined(separator: ", ")
    let others = files.count > 3 ? " and \(files.count - 3) more" : ""
    console.problem(
      "a disk or the network does not answer: ending without waiting for it"
        + (files.isEmpty ? "" : "; it may not be stored: \(names)\(others)"))
    console.interrupted()
    _ = console.finish()
    Interruption.end(by: interruption.received ?? SIGINT)
  }
}

extension ImageSendProgram {
  /// The whole program.
  public static func main() -> Never {
    ProgramStart.main(
      imagesendOptions, initial: ImageSendArguments(),
      configuration: ConfigurationFile(program: "imagesend", variable: ProgramEnvironment.current.variable),
      console: { Console(program: "imagesend", json: $0.json, verbosity: $0.verbosity) },
      endTime: CommandLineLimits.endAfterSignal
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
      configuration: ConfigurationFile(program: "imagerecv", variable: ProgramEnvironment.current.variable),
      console: {
        Console(
          program: "imagerecv", json: $0.json, verbosity: $0.verbosity, history: ProgramEnvironment.current.history)
      },
      confine: { ImageReceiveProgram(arguments: $0, environment: .current, console: $1).confine() },
      endTime: CommandLineLimits.endAfterSignal
    ) { arguments, console in
      await ImageReceiveProgram(arguments: arguments, environment: .current, console: console).run()
    }
  }
}
