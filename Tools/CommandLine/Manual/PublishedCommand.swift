/// A program or a command that has a manual page.
struct PublishedCommand: Sendable {
  /// What it is for, as its manual and the list of commands say.
  let purpose: String
  let description: CommandDescription

  /// `piconet-ping`, as manuals of commands are called.
  var page: String { description.program.replacing(" ", with: "-") }

  static let all: [PublishedCommand] =
    [
      PublishedCommand(purpose: "send photos to devices nearby", description: imagesendOptions.described),
      PublishedCommand(purpose: "receive photos from devices nearby", description: imagerecvOptions.described),
      PublishedCommand(
        purpose: "see, measure and try what devices nearby are reached by", description: PiconetProgram.described),
    ] + commands

  /// The commands of piconet.
  static let commands = PiconetProgram.Command.allCases.map { command in
    PublishedCommand(purpose: command.summary, description: command.described)
  }

  /// Programs of their own, for which there are completions.
  static let programs = all.filter { !$0.description.program.contains(" ") }
}
