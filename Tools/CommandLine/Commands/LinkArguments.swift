import Piconet
import PiconetTerminal

/// The common arguments of `piconet ping` and `piconet cat`: one peer, or waiting for one.
struct LinkArguments: Hashable, Sendable {
  /// nil: the only peer in sight, or the one that the person picks.
  var target: DialTarget?
  /// Whether to wait to be reached.
  var listens = false
  /// Where TCP listens; nil: every address, any free port.
  var listen: HostAndPort?
  var accept: AcceptPolicy = .ask
  /// The peer's code; with `listens` the code with which unknown peers get in. nil: none.
  var code: CodeOption?
  /// nil: the host's name.
  var name: String?
  /// nil: the command's own session.
  var session: String?
  var timeout: Duration = .seconds(30)
  var transport = TransportOptions()
  var verbosity = Verbosity()

  func check() throws(UsageError) {
    if listens, target != nil {
      throw UsageError(
        "--listen waits for a peer and takes none to reach; where to listen is given as in --listen=:4000")
    }
    if listens, code != nil, accept == .all {
      throw UsageError("--code lets in who knows the code, and --accept all everybody: choose one")
    }
    var place: DialPlace?
    if case .place(let given) = target { place = given }
    try transport.check(address: place, listen: listen)
  }
}

/// The peer that the operand of `piconet ping` and `piconet cat` means.
enum DialTarget: Hashable, Sendable, CustomStringConvertible {
  case place(DialPlace)
  case peer(Recipient)

  /// As a person gave it.
  var description: String {
    switch self {
    case .place(let place): place.description
    case .peer(.named(let name)): name
    case .peer(.peer(let fingerprint)): fingerprint
    case .peer(.all): "all"
    }
  }

  /// Takes any text that looks like an address as one; a peer with such a name has to be given by its fingerprint.
  init(_ argument: OptionArgument) throws(UsageError) {
    if let place = try? DialPlace(argument) {
      self = .place(place)
      return
    }
    do throws(UnacceptableValue) {
      let recipient = try Recipient(argument)
      guard recipient != .all else { throw .because("one peer is meant, not all") }
      self = .peer(recipient)
    } catch {
      guard case .because(let reason) = error else { throw UsageError("invalid operand") }
      throw UsageError("invalid peer '\(displaySafe(argument.text))': \(reason)")
    }
  }
}

/// The arguments of a command with one link.
protocol LinkCommandArguments: TransportArguments, CodeArguments {
  var link: LinkArguments { get set }
}

extension LinkCommandArguments {
  var code: CodeOption? {
    get { link.code }
    set { link.code = newValue }
  }

  var transport: TransportOptions {
    get { link.transport }
    set { link.transport = newValue }
  }
}

/// The options of `LinkArguments`.
func linkOptions<Arguments: LinkCommandArguments>(listenHelp: String) -> [Option<Arguments>] {
  let options: [Option<Arguments>] = [
    Option(
      "listen", short: "l",
      help: "\(listenHelp); over TCP there (default: on every address, any free port), as in [::1]:4000 or :4000",
      .optional(name: "HOST:PORT", isValue: HostAndPort.isWhereToListen) {
        (arguments, value) throws(UnacceptableValue) in
        arguments.link.listens = true
        if let value { arguments.link.listen = try HostAndPort(whereToListen: value) }
      }),
    Option(
      "accept",
      help: """
        with --listen, ask: ask about each peer, but not about known devices that may push (see piconet trust); known: \
        accept only such devices; all: everybody (default ask)
        """,
      .value(name: AcceptPolicy.choices) { (arguments, value) throws(UnacceptableValue) in
        arguments.link.accept = try AcceptPolicy(value)
      }),
  ]
  let code = """
    prove to the peer that you know its code, 6 to 16 digits, which its --listen --code shows; without DIGITS you are asked \
    for it. With --listen: let in those on whose device this code is typed; without DIGITS a new one is made and shown. Three wrong tries \
    end a code. Both devices know each other from then on
    """
  return options
    + reachOptions(sessionHelp: "only peers of the session called ID (default: this command's own)", codeHelp: code)
}

/// Returns the options of a command that reaches a peer, and waits for none.
func reachOptions<Arguments: LinkCommandArguments>(sessionHelp: String, codeHelp: String) -> [Option<Arguments>] {
  let options: [Option<Arguments>] = [
    Option(
      "name", help: "call this device so (default: the host's name)",
      .value(name: "N") { (arguments, value) throws(UnacceptableValue) in
        arguments.link.name = try OptionText.text(value, atMost: CommandLineLimits.nameBytes)
      }),
    Option(
      "session", help: sessionHelp,
      .value(name: "ID") { (arguments, value) throws(UnacceptableValue) in
        arguments.link.session = try OptionText.text(value, atMost: CommandLineLimits.sessionBytes)
      }),
    Option(
      "timeout", help: "give up when no peer is found, or it does not answer, for this long (default 30); 1.5, 2m",
      .value(name: "SECONDS") { (arguments, value) throws(UnacceptableValue) in
        arguments.link.timeout = try OptionNumbers.seconds(value)
      }),
  ]
  let codes: [Option<Arguments>] = codeOptions(
    codeHelp, file: "the same with the code in the first line of FILE, so that nobody sees it among the processes")
  let says: [Option<Arguments>] = [
    Option("quiet", short: "q", help: "say nothing but errors", .flag { $0.link.verbosity.isQuiet = true }),
    Option("verbose", short: "v", repeatable: true, help: "say more", .flag { $0.link.verbosity.detail += 1 }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ]
  return options + codes + transportOptions("what to go over") + says
}
