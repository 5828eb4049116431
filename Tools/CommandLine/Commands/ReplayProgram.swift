import Piconet

/// What `piconet replay` was asked to do.
struct ReplayArguments: Hashable, Sendable {
  var path: LocalPath = ""
  var verbosity = Verbosity()
}

/// The command line of `piconet replay`.
let replayOptions = OptionTable<ReplayArguments>(
  program: "piconet replay",
  usage: "[OPTION]... FILE",
  summary: """
    Run the protocol over a trace that PICONET_TRACE has recorded, without a network, and compare all that it says with what it \
    said then. A bug that shows in the trace shows again.
    """,
  options: [
    Option("quiet", short: "q", help: "say nothing but errors", .flag { $0.verbosity.isQuiet = true }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .optional { (arguments, value) throws(UsageError) in arguments.path = LocalPath(value.text) },
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("0", "every effect is the same"), ("1", "an effect differs; the first one is shown"),
        ("2", "the command line was wrong, or this is no trace, or one with changed bytes"),
        ("6", "the file can't be read"),
      ]),
    .init(
      title: "Examples",
      rows: [("PICONET_TRACE=redacted:/tmp/trace imagesend photo.jpg", ""), ("piconet replay /tmp/trace", "")]),
  ],
  operandWords: .files,
  check: { (arguments) throws(UsageError) in
    if arguments.path.bytes.isEmpty { throw UsageError("missing file operand") }
  })

/// `piconet replay`.
struct ReplayProgram: Sendable {
  let arguments: ReplayArguments
  let console: Console

  func run() async {
    do throws(PiconetError) {
      let replay = try Replay.run(file: arguments.path.readable)
      if let difference = replay.difference {
        let lines = difference.split(separator: "\n").map { console.safe(String($0)) }
        console.fail("differs", lines.joined(separator: "\n"), .internalError, event: false)
        return
      }
      let contents = replay.isRedacted ? "; contents are zeros" : ""
      console.result("\(replay.facts) facts, \(replay.effects) effects, all the same\(contents)")
      if replay.ending != "complete" {
        let cut = replay.cutCount > 0 ? "; the last \(replay.cutCount) bytes are no whole record" : ""
        console.note("the recording \(replay.ending ?? "was cut off, as by a crash\(cut)")")
      }
    } catch {
      let code: ExitCode = error.code == .sourceUnreadable ? .localFile : .usage
      console.fail(error.code.rawValue, console.safe(error.detail), code, event: false)
    }
  }
}
