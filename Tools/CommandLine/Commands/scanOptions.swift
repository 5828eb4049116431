import Piconet

/// What `piconet scan` was asked to do.
struct ScanArguments: Hashable, TransportArguments {
  /// Empty: those of the programs of this package.
  var sessions: [String] = []
  /// nil: until interrupted.
  var timeout: Duration?
  var transport = TransportOptions()
  var json = false
  var verbosity = Verbosity()

  static let usualSessions = [ProgramEnvironment.usualSession, PingProgram.usualSession, CatProgram.usualSession]
  /// Each session costs a node of its own.
  static let mostSessions = 8
}

/// The command line of `piconet scan`.
let scanOptions = OptionTable<ScanArguments>(
  program: "piconet scan",
  usage: "[OPTION]...",
  summary: """
    Show the peers nearby as they come and go, with their addresses. What is seen is what they say of themselves; \
    nothing of it is proven, and nobody is connected to.
    """,
  options: [
    Option(
      "session", repeatable: true,
      help: "peers of the session called ID (default: those of imagerecv, piconet ping and piconet cat)",
      .value(name: "ID") { (arguments, value) throws(UnacceptableValue) in
        let session = try OptionText.text(value, atMost: CommandLineLimits.sessionBytes)
        guard arguments.sessions.count < ScanArguments.mostSessions else {
          throw .because("at most \(ScanArguments.mostSessions) sessions at once")
        }
        if !arguments.sessions.contains(session) { arguments.sessions.append(session) }
      }),
    Option(
      "timeout", help: "end after this long (default: go on until interrupted); 1.5, 2m",
      .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
        arguments.timeout = try OptionNumbers.seconds(value)
      }),
  ] + transportOptions("what to look over") + [
    Option("json", help: "write one event a line to standard output, as JSON", .flag { $0.json = true }),
    Option("quiet", short: "q", help: "no notes, only peers and errors", .flag { $0.verbosity.isQuiet = true }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .none,
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("0", "a peer was seen, or the scan was interrupted"), ("2", "the command line was wrong"),
        ("3", "no peer was seen within --timeout"), ("6", "a local file: the key can't be read or made"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [("piconet scan", ""), ("piconet scan --timeout 5 --transport bluetooth --json", "")]),
  ],
  check: { (arguments) throws(UsageError) in try arguments.transport.check() })
