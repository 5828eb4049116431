import PiconetTerminal

/// What `piconet manual` was asked to do.
struct ManualArguments: Sendable {
  /// nil: list the pages that there are.
  var command: PublishedCommand?
}

/// The command line of `piconet manual`.
let manualOptions = OptionTable<ManualArguments>(
  program: "piconet manual",
  usage: "[OPTION]... [PAGE]",
  summary: """
    Write a manual page of Piconet's programs to standard output, as man reads it; without PAGE, the names of all pages.
    """,
  options: [
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .optional { (arguments, value) throws(UsageError) in
    let pages = PublishedCommand.all.map(\.page)
    guard let index = pages.firstIndex(of: value.text) else {
      let nearest = NearestWord.question(NearestWord.to(value.text, of: pages))
      throw UsageError("no manual page '\(displaySafe(value.text))'\(nearest)")
    }
    arguments.command = PublishedCommand.all[index]
  },
  sections: [
    printingExitStatusSection(),
    .init(title: "Examples", rows: [("piconet manual imagesend | man -l -", "")]),
  ],
  // Not `PublishedCommand.all`, which contains this table.
  operandWords: .words(PiconetProgram.pages.map { ($0, "") }))

/// The exit codes of a command that writes a text.
func printingExitStatusSection() -> CommandDescription.Section {
  .init(
    title: "Exit status",
    rows: [
      ("0", "it is written"), ("2", "the command line was wrong"), ("6", "standard output can't be written"),
    ])
}
