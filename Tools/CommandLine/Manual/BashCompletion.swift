/// A completion for bash 4 and later, without the package bash-completion.
struct BashCompletion {
  let program: CommandDescription
  let commands: [PublishedCommand]

  private var name: String { "_piconet_completes_\(program.program)" }

  var text: String {
    var lines = [
      "# Completes \(program.program) in bash; made by 'piconet completion bash \(program.program)'.",
      "\(name)() {",
      "  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} attached=",
      "  COMPREPLY=()",
      // bash splits words at '=': --accept=k arrives as three of them.
      "  if [[ $current == '=' ]]; then current='' attached=yes",
      "  elif [[ $option == '=' ]]; then option=${COMP_WORDS[COMP_CWORD-2]} attached=yes; fi",
    ]
    if commands.isEmpty {
      lines += body(program, margin: "  ")
    } else {
      lines += [
        "  if ((COMP_CWORD == 1)); then", "    set -- ", "  else", "    set -- \"${COMP_WORDS[1]}\"", "  fi",
        "  case $1 in",
      ]
      for command in commands {
        lines += ["    \(command.word))"] + body(command.description, margin: "      ") + ["      ;;"]
      }
      lines += ["    '')"] + body(program, margin: "      ") + ["      ;;", "  esac"]
    }
    lines += ["}", "complete -F \(name) \(program.program)"]
    return lines.joined(separator: "\n") + "\n"
  }

  private func body(_ command: CommandDescription, margin: String) -> [String] {
    var lines = ["case $option in"]
    for option in command.options {
      guard case .required = option.argument else { continue }
      lines.append("  \(pattern(option))) \(offer(option.argument.words)); return ;;")
    }
    for option in command.options {
      guard case .optional = option.argument else { continue }
      lines.append("  \(pattern(option))) if [[ $attached ]]; then \(offer(option.argument.words)); return; fi ;;")
    }
    lines += ["esac", "if [[ $attached ]]; then return; fi", "case $current in"]
    lines.append("  -*) \(offer(words: command.options.flatMap(written)))")
    lines.append("    if [[ ${COMPREPLY[*]} == *= ]]; then compopt -o nospace; fi ;;")
    lines += ["  *) \(offer(command.operands)) ;;", "esac"]
    return lines.map { margin + $0 }
  }

  private func pattern(_ option: CommandDescription.Option) -> String {
    (["--\(option.long)"] + (option.short.map { ["-\($0)"] } ?? [])).joined(separator: "|")
  }

  private func written(_ option: CommandDescription.Option) -> [String] {
    let short = option.short.map { ["-\($0)"] } ?? []
    guard case .required = option.argument else { return short + ["--\(option.long)"] }
    return short + ["--\(option.long)="]
  }

  private func offer(_ words: CompletedWords) -> String {
    switch words {
    case .nothing: ":"
    case .files: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    case .directories: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")"
    case .words(let words): offer(words: words.map(\.word))
    }
  }

  private func offer(words: [String]) -> String {
    "mapfile -t COMPREPLY < <(compgen -W \(Shell.quoted(words.joined(separator: " "))) -- \"$current\")"
  }
}
