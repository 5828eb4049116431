import Piconet
import PiconetCalls
import PiconetTerminal

/// What `piconet ping` was asked to do.
struct PingArguments: Hashable, LinkCommandArguments {
  var link = LinkArguments()
  /// nil: until interrupted.
  var count: Int?
  var interval: Duration = .seconds(1)
  /// Bytes of each ping after its header; nil: as many as usual.
  var size: Int?
  /// An object that is asked for a sign of life; nil: a program that answers pings.
  var path: String?

  /// Bytes of each ping unless it is said.
  static let usualSize = 56

  /// Below the 95 KiB that a message may have.
  static let largestSize: Int64 = 90_000
}

/// The command line of `piconet ping`.
let pingOptions = OptionTable<PingArguments>(
  program: "piconet ping",
  usage: """
    [OPTION]... [PEER|ADDRESS]
      or:  piconet ping --session ID [OPTION]... PEER|ADDRESS PATH
      or:  piconet ping --listen [OPTION]...
    """,
  summary: """
    Measure the round trip to a peer that runs 'piconet ping --listen', over the encrypted session that files would go \
    over. PEER is a name or a fingerprint; ADDRESS is HOST:PORT or, over Bluetooth, 00:11:22:33:44:55; without \
    either it is the only peer in sight, or the one you pick. With PATH ask an object of a program that uses PiconetActors \
    whether it is there; / is the program itself, and PEER may be a name that it has claimed and advertises. \
    'piconet introspect' shows paths.
    """,
  options: [
    Option(
      "count", short: "c", help: "send N pings (default: go on until interrupted)",
      .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
        arguments.count = try OptionNumbers.count(value)
      }),
    Option(
      "interval", short: "i", help: "wait so long between two pings (default 1); 0.2, 10ms",
      .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
        arguments.interval = try OptionNumbers.seconds(value)
      }),
    Option(
      "size", short: "s", help: "send so many bytes with each (default 56, at most 90000)",
      .value(name: "BYTES") { (arguments, value) throws(UnacceptableValue) in
        let size = try OptionNumbers.byteCount(value)
        guard size <= PingArguments.largestSize else {
          throw .because("must be at most \(PingArguments.largestSize) bytes, so that it is one message")
        }
        arguments.size = Int(size)
      }),
  ] + linkOptions(listenHelp: "answer the pings of others until interrupted"),
  operands: .any { (arguments, word) throws(UsageError) in
    if arguments.link.target == nil {
      arguments.link.target = try DialTarget(OptionArgument(bytes: word.bytes))
    } else if arguments.path == nil {
      arguments.path = word.readable
    } else {
      throw UsageError("extra operand '\(displaySafe(word.readable))'")
    }
  },
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("0", "a ping came back; without --count it goes on until interrupted, and ends as its pings did"),
        ("2 to 7", "as imagesend: wrong command line, no such peer, refused, lost, local, identity"),
        ("130", "interrupted by a signal before a peer was reached, or with --listen: 143 by SIGTERM, 129 by SIGHUP"),
      ]),
    environmentSection(),
    .init(
      title: "Examples",
      rows: [
        ("piconet ping --listen --name Kitchen --accept all", ""), ("piconet ping --count 5 Kitchen", ""),
        ("piconet ping --transport rfcomm 00:11:22:33:44:55", ""),
        ("piconet ping --session lamps --count 1 --timeout 5 Kitchen /lamp", ""),
        ("piconet ping --session lamps org.example.ceiling /", ""),
      ]),
  ],
  check: { (arguments) throws(UsageError) in
    try arguments.link.check()
    guard let path = arguments.path else { return }
    if !CallLimits.isPath(path) { throw UsageError(noPath(path)) }
    if arguments.size != nil { throw UsageError("--size is for pings without PATH, which carry bytes") }
    try ObjectLink.check(arguments.link)
  })
