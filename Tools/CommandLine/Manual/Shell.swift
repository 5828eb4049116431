/// The shells for which there are completions of Piconet's programs.
enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The script that the shell reads to complete command lines of this program only.
  func completion(of program: CommandDescription, commands: [PublishedCommand]) -> String {
    switch self {
    case .bash: BashCompletion(program: program, commands: commands).text
    case .zsh: ZshCompletion(program: program, commands: commands).text
    case .fish: FishCompletion(program: program, commands: commands).text
    }
  }

  /// A text as a single word for bash and zsh.
  static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
}

extension CommandDescription.Option {
  /// The help, shortened for a list of choices to its first clause. "with --listen" alone would say nothing.
  var brief: String {
    guard !help.hasPrefix("with ") else { return help.before(["; ", " (", ". "]) }
    return help.before(["; ", " (", ". ", ": ", ", "])
  }
}

extension CommandDescription {
  /// Whether it has a place for the name of a known device.
  var offersPeers: Bool {
    ([operands] + options.map(\.argument.words)).contains { words in
      switch words {
      case .peers, .peerCommands: true
      case .nothing, .files, .directories, .words: false
      }
    }
  }
}

extension PublishedCommand {
  /// The last word of its name, which tells piconet which command is meant.
  var word: String { String(description.program.split(separator: " ").last ?? "") }
}

extension String {
  /// Returns the part before the first of these; all of it if it contains none.
  fileprivate func before(_ separators: [String]) -> String {
    let ends = separators.compactMap { firstRange(of: $0)?.lowerBound }
    return String(self[..<(ends.min() ?? endIndex)])
  }
}
