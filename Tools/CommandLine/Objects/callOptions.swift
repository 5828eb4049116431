import Piconet
import PiconetCalls

/// What `piconet call` was asked to do.
struct CallArguments: Hashable, LinkCommandArguments {
  var link = LinkArguments()
  /// All words in their order.
  var operands: [LocalPath] = []
  /// Whether a text is written as it is.
  var isRaw = false

  var path: String { operands.count > 1 ? operands[1].readable : "/" }
  var method: String { operands.count > 2 ? operands[2].readable : "" }
  /// The arguments of the method.
  var words: [LocalPath] { Array(operands.dropFirst(3)) }
}

/// The command line of `piconet call`.
let callOptions = OptionTable<CallArguments>(
  program: "piconet call",
  usage: "[OPTION]... --session ID PEER|ADDRESS PATH METHOD [ARGUMENT]...",
  summary: """
    Call a method of an object that a program has published with PiconetActors, and write what it gives, as JSON. \
    PEER is a device's name or fingerprint, or a name that the program has claimed and advertises; ADDRESS is HOST:PORT or, over Bluetooth, 00:11:22:33:44:55. \
    'piconet introspect' shows paths and methods.
    """,
  options: [
    Option("raw", short: "r", help: "write a text as it is, without quotation marks", .flag { $0.isRaw = true })
  ] + reachOptions(sessionHelp: objectSessionHelp, codeHelp: objectCodeHelp),
  operands: .any { (arguments, word) throws(UsageError) in
    if arguments.operands.isEmpty { arguments.link.target = try DialTarget(OptionArgument(bytes: word.bytes)) }
    arguments.operands.append(word)
  },
  sections: [
    .init(
      title: "Arguments",
      rows: [
        ("text", "the word as it is"), ("bytes", "base64url without padding"),
        ("any other type", "JSON, as 5, true, [1,2] or {\"x\":1.5}; a number below zero stands behind --"),
        ("text?, integer?, ...", "the same, or null for nothing"),
      ]),
    .init(title: "Exit status", rows: objectExitRows), environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet call --session lamps \"Living room\" /lamp brighten 20", ""),
        ("piconet call --session lamps --raw 192.168.1.7:4000 /lamp describe", ""),
        ("piconet call --session lamps \"Living room\" / ping", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in
    let missing = ["PEER", "PATH", "METHOD"].dropFirst(arguments.operands.count).first
    if let missing { throw UsageError("missing \(missing) operand") }
    try ObjectLink.check(arguments.link)
    if !CallLimits.isPath(arguments.path) { throw UsageError(noPath(arguments.path)) }
  })
