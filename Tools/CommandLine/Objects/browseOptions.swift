import Piconet
import PiconetActors
import PiconetCalls
import PiconetTerminal

/// What `piconet browse` was asked to do.
struct BrowseArguments: Hashable, TransportArguments {
  var scan = ScanArguments()
  var wanted = WantedAdvertisement()

  var transport: TransportOptions {
    get { scan.transport }
    set { scan.transport = newValue }
  }
  var json: Bool { scan.json }
  var verbosity: Verbosity { scan.verbosity }
}

/// The command line of `piconet browse`.
let browseOptions = OptionTable<BrowseArguments>(
  program: "piconet browse",
  usage: "[OPTION]... --session ID [PREFIX]",
  summary: """
    Show the names and interfaces that programs nearby advertise, as they come and go: those whose names begin with PREFIX, \
    as org.example.; without it all. What is seen is what they say of themselves; nothing of it is proven, and nobody is connected to.
    """,
  options: [
    Option(
      "session", repeatable: true, help: "programs of the session called ID; to be given once or more",
      .value(name: "ID") { (arguments, value) throws(UnacceptableValue) in
        let session = try OptionText.text(value, atMost: CommandLineLimits.sessionBytes)
        guard arguments.scan.sessions.count < ScanArguments.mostSessions else {
          throw .because("at most \(ScanArguments.mostSessions) sessions at once")
        }
        if !arguments.scan.sessions.contains(session) { arguments.scan.sessions.append(session) }
      }),
    Option(
      "interface", help: "only programs that advertise this interface, in this version or a later one (default: any)",
      .value(name: "NAME[:VERSION]") { (arguments, value) throws(UnacceptableValue) in
        guard let interface = AdvertisedInterface(text: value.text) else {
          throw .because("expected a name of \(nameRule), and maybe ':' and a version from 1 on")
        }
        arguments.wanted.interface = interface
      }),
    Option(
      "timeout", help: "end after this long (default: go on until interrupted); 1.5, 2m",
      .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
        arguments.scan.timeout = try OptionNumbers.seconds(value)
      }),
  ] + transportOptions("what to look over") + [
    Option("json", help: "write one event a line to standard output, as JSON", .flag { $0.scan.json = true }),
    Option(
      "quiet", short: "q", help: "no notes, only what was found and errors", .flag { $0.scan.verbosity.isQuiet = true }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .optional { (arguments, value) throws(UsageError) in
    do throws(UnacceptableValue) {
      arguments.wanted.prefix = try name(value)
    } catch {
      guard case .because(let reason) = error else { throw UsageError("invalid operand") }
      throw UsageError("invalid beginning of a name '\(displaySafe(value.text))': \(reason)")
    }
  },
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("0", "a program was seen, or it was interrupted"), ("2", "the command line was wrong"),
        ("3", "none was seen within --timeout"), ("6", "a local file: the key can't be read or made"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet browse --session lamps", ""),
        ("piconet browse --session lamps --interface org.example.lamp:2 --timeout 5 --json", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in
    if arguments.scan.sessions.isEmpty {
      throw UsageError("missing --session ID: the session that the programs are in")
    }
    try arguments.scan.transport.check()
  })

private let nameRule = "1 to \(CallLimits.name) ASCII letters and digits, '.', '-' and '_'"

private func name(_ value: OptionArgument) throws(UnacceptableValue) -> String {
  guard CallLimits.isName(value.text) else { throw .because("a name has \(nameRule)") }
  return value.text
}
