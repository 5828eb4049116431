@testable import PiconetCommandLine

/// A command whose texts are full of characters that mean something to roff and shells.
enum HostileTexts {
  static let help = #".start 'quoted' "twice" [x]: $HOME `id` \e back\slash -dash ~tilde ^hat %d é 🙂 ((a)) | ; & < > !"#

  static let command = PublishedCommand(
    purpose: "'purpose' [of]: $it",
    description: CommandDescription(
      program: "sample", usage: "[OPTION]...\n  or:  sample --other", summary: ".summary\\",
      options: [
        .init(long: "plain", short: "p", isRepeatable: false, help: help, argument: .none),
        .init(long: "needs", short: nil, isRepeatable: true, help: "with " + help, argument: .required("A:B|word")),
        .init(long: "may", short: "m", isRepeatable: false, help: help, argument: .optional("[x]")),
      ], operands: .words([("one", help), ("two", help)]),
      sections: [
        .init(title: "Remarks (of a 'kind')", rows: [(".term", help), ("", help), ("'example' \\", "")])
      ]))
}
