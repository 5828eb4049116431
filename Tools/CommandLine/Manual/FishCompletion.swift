/// A completion for fish.
struct FishCompletion {
  let program: CommandDescription
  let commands: [PublishedCommand]

  var text: String {
    var lines = ["# Completes \(program.program) in fish; made by 'piconet completion fish \(program.program)'."]
    if commands.isEmpty {
      lines += completions(of: program, condition: nil)
    } else {
      let isFirst = "test (count (commandline -opc)) -eq 1"
      lines += completions(of: program, condition: isFirst)
      for command in commands {
        // Only the first word counts: a later one may be the name of a device or a file.
        let isMeant = "set -l words (commandline -opc); test \"$words[2]\" = \(command.word)"
        lines += completions(of: command.description, condition: isMeant)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func completions(of command: CommandDescription, condition: String?) -> [String] {
    let start = "complete -c \(program.program)" + (condition.map { " -n \(quoted($0))" } ?? "")
    return [start + operands(command.operands)].filter { $0 != start } + expanded(command.operands, start)
      + command.options.map { start + words(of: $0) }
  }

  private func operands(_ words: CompletedWords) -> String {
    switch words {
    case .files: ""
    case .directories: " -f -a '(__fish_complete_directories)'"
    case .nothing, .words: " -f"
    }
  }

  /// A line for each word, so that its meaning is shown beside it.
  private func expanded(_ words: CompletedWords, _ start: String) -> [String] {
    guard case .words(let words) = words else { return [] }
    return words.map { start + " -a \($0.word)" + ($0.meaning.isEmpty ? "" : " -d \(quoted($0.meaning))") }
  }

  private func words(of option: CommandDescription.Option) -> String {
    let short = option.short.map { " -s \($0)" } ?? ""
    return short + " -l \(option.long)\(argument(option.argument)) -d \(quoted(option.brief))"
  }

  private func argument(_ argument: CommandDescription.Argument) -> String {
    guard case .required = argument else { return "" }
    return switch argument.words {
    case .nothing: " -x"
    case .files: " -r -F"
    case .directories: " -x -a '(__fish_complete_directories)'"
    case .words(let words): " -x -a \(quoted(words.map(\.word).joined(separator: " ")))"
    }
  }

  /// Between single quotes fish treats a backslash specially only before a quote and before another backslash.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: #"\\"#).replacing("'", with: #"\'"#) + "'"
  }
}
