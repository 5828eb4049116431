import PiconetTerminal

/// What `piconet completion` was asked to do.
struct CompletionArguments: Sendable {
  var words: [LocalPath] = []

  /// The shell, and the programs that it should complete: all of them if none was named.
  func wanted() throws(UsageError) -> (Shell, [PublishedCommand]) {
    guard let first = words.first else { throw UsageError("missing shell operand") }
    guard let shell = Shell(rawValue: first.readable) else {
      let shells = Shell.allCases.map { "  - '\($0.rawValue)'" }.joined(separator: "\n")
      throw UsageError("unknown shell '\(displaySafe(first.readable))'\nShells are:\n\(shells)")
    }
    let programs = PublishedCommand.programs
    let named = words.dropFirst()
    if let extra = named.dropFirst().first { throw UsageError("extra operand '\(displaySafe(extra.readable))'") }
    guard let name = named.first else { return (shell, programs) }
    guard let program = programs.first(where: { $0.page == name.readable }) else {
      let nearest = NearestWord.question(NearestWord.to(name.readable, of: programs.map(\.page)))
      throw UsageError("no program '\(displaySafe(name.readable))' to complete\(nearest)")
    }
    return (shell, [program])
  }
}

/// The command line of `piconet completion`.
let completionOptions = OptionTable<CompletionArguments>(
  program: "piconet completion",
  usage: "[OPTION]... bash|zsh|fish [PROGRAM]",
  summary: """
    Write to standard output what a shell reads to complete the command lines of imagesend, imagerecv and piconet, or of \
    PROGRAM alone.
    """,
  options: [
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .any { $0.words.append($1) },
  sections: [
    printingExitStatusSection(),
    .init(
      title: "Examples",
      rows: [
        ("eval \"$(piconet completion bash)\"", ""),
        ("piconet completion zsh imagesend >~/.zfunc/_imagesend", ""),
        ("piconet completion fish | source", ""),
      ]),
  ],
  operandWords: .words(Shell.allCases.map { ($0.rawValue, "") }),
  check: { (arguments) throws(UsageError) in _ = try arguments.wanted() })
