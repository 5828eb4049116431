extension PiconetProgram {
  /// The names of all manual pages.
  static var pages: [String] {
    ["imagesend", "imagerecv", "piconet"] + Command.allCases.map { "piconet-\($0.rawValue)" }
  }

  /// The command line of piconet itself.
  static var described: CommandDescription {
    let commands = Command.allCases.map { (term: $0.rawValue, text: $0.summary) }
    return CommandDescription(
      program: "piconet", usage: "COMMAND [OPTION]...",
      summary: """
        See, measure and try what devices nearby are reached by. 'piconet COMMAND --help' lists a command's options.
        """,
      options: [
        .init(long: "help", short: "h", isRepeatable: false, help: "show this help and exit", argument: .none),
        .init(long: "version", short: nil, isRepeatable: false, help: "show the version and exit", argument: .none),
      ],
      operands: .words(commands.map { ($0.term, $0.text) }),
      sections: [.init(title: "Commands", rows: commands)])
  }

  static var help: String { described.helpText() }
}

extension PiconetProgram.Command {
  /// The command line of the command.
  var described: CommandDescription {
    switch self {
    case .doctor: doctorOptions.described
    case .scan: scanOptions.described
    case .ping: pingOptions.described
    case .cat: catOptions.described
    case .relay: relayOptions.described
    case .browse: browseOptions.described
    case .introspect: introspectOptions.described
    case .call: callOptions.described
    case .trust: trustOptions.described
    case .replay: replayOptions.described
    case .manual: manualOptions.described
    case .completion: completionOptions.described
    }
  }
}
