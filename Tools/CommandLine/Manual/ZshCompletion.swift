/// A completion for zsh, in the form that its function _arguments reads.
struct ZshCompletion {
  let program: CommandDescription
  let commands: [PublishedCommand]

  var text: String {
    let name = program.program
    var lines = ["#compdef \(name)", "# Made by 'piconet completion zsh \(name)'.", ""]
    let all = [program] + commands.map(\.description)
    if all.contains(where: \.offersPeers) { lines += peers }
    for command in all { if case .peerCommands(let words) = command.operands { lines += second(words) } }
    lines += ["_\(name)() {"]
    if commands.isEmpty {
      lines += arguments("_arguments -s -S", program)
    } else {
      lines += ["  local curcontext=$curcontext state line", "  typeset -A opt_args"]
      lines += arguments("_arguments -s -S -C", program, more: ["1:command:->command", "*::argument:->arguments"])
      lines += ["  case $state in", "    command)", "      local -a commands=("]
      lines += commands.map { "        " + Shell.quoted("\(escaped($0.word)):\($0.purpose)") }
      lines += [
        "      )", "      _describe -t commands command commands", "      ;;", "    arguments)",
        "      case $line[1] in",
      ]
      for command in commands {
        lines.append("        \(command.word))")
        lines += arguments("_arguments -s -S", command.description).map { "        " + $0 }
        lines.append("          ;;")
      }
      lines += ["      esac", "      ;;", "  esac"]
    }
    // As a file in $fpath the function is called; when sourced it is declared.
    lines += [
      "}", "", "if [[ $funcstack[1] == _\(name) ]]; then", "  _\(name) \"$@\"", "else", "  compdef _\(name) \(name)",
      "fi",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private var peersName: String { "_piconet_peers_\(program.program)" }
  private var secondName: String { "_piconet_second_\(program.program)" }

  /// Adds the names of known devices, in any letter case; compadd quotes what it inserts.
  private var peers: [String] {
    [
      "\(peersName)() {", "  local -a names", "  names=(\"${(@f)$(command piconet trust names 2>/dev/null)}\")",
      "  compadd \"$@\" -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -- \"${(@)names:#}\"", "}", "",
    ]
  }

  /// What follows a command.
  private func second(_ commands: [(word: String, meaning: String, takesPeer: Bool)]) -> [String] {
    let words = commands.filter(\.takesPeer).map(\.word).joined(separator: "|")
    return [
      "\(secondName)() {", "  if [[ -n ${words[(r)(\(words))]} ]]; then \(peersName); else _files; fi", "}", "",
    ]
  }

  private func arguments(_ start: String, _ command: CommandDescription, more: [String] = []) -> [String] {
    let specifications = command.options.flatMap(specifications) + (more.isEmpty ? operands(command.operands) : more)
    let lines = [start] + specifications.map { "  " + Shell.quoted($0) }
    return lines.enumerated().map { "  " + $1 + ($0 + 1 < lines.count ? " \\" : "") }
  }

  /// One for each spelling; once one is used the other is no longer offered, unless the option may be repeated.
  private func specifications(_ option: CommandDescription.Option) -> [String] {
    let spellings = (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.long)"]
    let isEnd = option.long == "help" || option.long == "version"
    let start =
      isEnd
      ? "(- *)" : option.isRepeatable ? "*" : spellings.count > 1 ? "(\(spellings.joined(separator: " ")))" : ""
    return spellings.map { spelling in
      let isLong = spelling.hasPrefix("--")
      let argument: String =
        switch option.argument {
        case .none: "[\(escaped(option.brief))]"
        case .required(let name):
          (isLong ? "=" : "+") + "[\(escaped(option.brief))]:\(escaped(name)):" + action(option.argument.words)
        case .optional(let name):
          (isLong ? "=-" : "-") + "[\(escaped(option.brief))]::\(escaped(name)):" + action(option.argument.words)
        }
      return start + spelling + argument
    }
  }

  private func operands(_ words: CompletedWords) -> [String] {
    switch words {
    case .nothing: []
    case .files, .directories: ["*:file:" + action(words)]
    // Later words depend on the first one.
    case .words, .peers: ["1:word:" + action(words), "*:file:_files"]
    case .peerCommands: ["1:word:" + action(words), "2:peer:\(secondName)"]
    }
  }

  private func action(_ words: CompletedWords) -> String {
    switch words {
    case .nothing: return " "
    case .files: return "_files"
    case .directories: return "_files -/"
    case .peers(let words) where words.isEmpty: return peersName
    case .peers(let words): return "{\(peersName); compadd -- \(words.joined(separator: " "))}"
    case .peerCommands(let commands): return action(.words(commands.map { ($0.word, $0.meaning) }))
    case .words(let words) where words.allSatisfy(\.meaning.isEmpty):
      return "(" + words.map { escaped($0.word) }.joined(separator: " ") + ")"
    case .words(let words):
      let pairs = words.map { "\(escaped($0.word))\\:\"\(quotable($0.meaning))\"" }
      return "((" + pairs.joined(separator: " ") + "))"
    }
  }

  /// Escapes characters that end a part of a specification.
  private func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if #"\[]:"#.contains(character) { result += "\\" }
      result.append(character)
    }
    return result
  }

  /// Between the double quotes of a list that zsh evaluates.
  private func quotable(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\\"$`:".contains(character) { result += "\\" }
      result.append(character)
    }
    return result
  }
}
