import Piconet
import PiconetCalls
import PiconetTerminal

/// What `piconet introspect` was asked to do.
struct IntrospectArguments: Hashable, LinkCommandArguments {
  var link = LinkArguments()
  var words: [LocalPath] = []
  var json = false

  /// How the paths of objects begin.
  var prefix: String { words.count > 1 ? words[1].readable : "/" }
}

/// The command line of `piconet introspect`.
let introspectOptions = OptionTable<IntrospectArguments>(
  program: "piconet introspect",
  usage: "[OPTION]... --session ID PEER|ADDRESS [PATH]",
  summary: """
    Show the objects of a program that uses PiconetActors, and what can be called: those whose paths begin with PATH, or all. \
    PEER is a device's name or fingerprint, or a name that the program has claimed and advertises; ADDRESS is HOST:PORT or, over Bluetooth, 00:11:22:33:44:55.
    """,
  options: [
    Option("json", help: "write one object a line to standard output, as JSON", .flag { $0.json = true })
  ] + reachOptions(sessionHelp: objectSessionHelp, codeHelp: objectCodeHelp),
  operands: .any { (arguments, word) throws(UsageError) in
    if arguments.words.isEmpty { arguments.link.target = try DialTarget(OptionArgument(bytes: word.bytes)) }
    arguments.words.append(word)
  },
  sections: [
    .init(title: "Exit status", rows: objectExitRows), environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet introspect --session lamps \"Living room\"", ""),
        ("piconet introspect --session lamps --json 192.168.1.7:4000 /lamp", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in
    guard arguments.words.count <= 2 else {
      throw UsageError("extra operand '\(displaySafe(arguments.words[2].readable))'")
    }
    try ObjectLink.check(arguments.link)
    if arguments.words.count > 1, !CallLimits.isPath(arguments.prefix) { throw UsageError(noPath(arguments.prefix)) }
  })

let objectSessionHelp = "the session that the program with the objects is in; to be given"
let objectCodeHelp = """
  prove to the peer that you know the code, 6 to 16 digits, by which it lets others in; without DIGITS you are asked for it. \
  Both devices know each other from then on
  """
let objectExitRows = [
  ("0", "it is done"), ("2", "the command line was wrong"), ("3", "no such peer was found"),
  ("4", "the other side refused, has no such object or method, or the method has thrown an error"),
  ("5", "the link was lost, or no answer came within --timeout"),
  ("6, 7, 130", "a local file, an identity, a signal: as imagesend"),
]

func noPath(_ path: String) -> String {
  "'\(displaySafe(path))' is no path: '/', or names of ASCII letters and digits, '_', '-' and '.', each behind one '/'"
}
