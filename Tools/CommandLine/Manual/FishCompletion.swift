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
    let operands = expanded(command.operands, start) + peers(command.operands, condition)
    return [start + self.operands(command.operands)].filter { $0 != start } + operands
      + command.options.map { start + words(of: $0) }
  }

  private func operands(_ words: CompletedWords) -> String {
    switch words {
    case .files: ""
    case .directories: " -f -a '(__fish_complete_directories)'"
    case .nothing, .words, .peers, .peerCommands: " -f"
    }
  }

  /// Each line that the command prints is one word, which fish quotes.
  private static let names = "(command piconet trust names 2>/dev/null)"

  /// The names of known devices, after the commands that take one.
  private func peers(_ words: CompletedWords, _ condition: String?) -> [String] {
    switch words {
    case .nothing, .files, .directories, .words: return []
    case .peers:
      let start = "complete -c \(program.program)" + (condition.map { " -n \(quoted($0))" } ?? "")
      return [start + " -a \(quoted(Self.names))"]
    case .peerCommands(let commands):
      let taking = commands.filter(\.takesPeer).map(\.word).joined(separator: " ")
      let isMeant = "contains -- (commandline -opc)[-1] \(taking)"
      let whole = condition.map { "\($0); and \(isMeant)" } ?? isMeant
      return ["complete -c \(program.program) -n \(quoted(whole)) -a \(quoted(Self.names))"]
    }
  }

  /// A line for each word, so that its meaning is shown beside it.
  private func expanded(_ words: CompletedWords, _ start: String) -> [String] {
    let all: [(word: String, meaning: String)]
    switch words {
    case .nothing, .files, .directories: return []
    case .words(let words): all = words
    case .peers(let words): all = words.map { ($0, "") }
    case .peerCommands(let commands): all = commands.map { ($0.word, $0.meaning) }
    }
    return all.map { start + " -a \($0.word)" + ($0.meaning.isEmpty ? "" : " -d \(quoted($0.meaning))") }
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
    case .peers(let words): " -x -a \(quoted((words + [Self.names]).joined(separator: " ")))"
    case .peerCommands(let commands): " -x -a \(quoted(commands.map(\.word).joined(separator: " ")))"
    case .words(let words): " -x -a \(quoted(words.map(\.word).joined(separator: " ")))"
    }
  }

  /// Between single quotes fish treats a backslash specially only before a quote and before another backslash.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: #"\\"#).replacing("'", with: #"\'"#) + "'"
  }
}
