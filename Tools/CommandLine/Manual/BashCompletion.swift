/// A completion for bash 4 and later, without the package bash-completion.
struct BashCompletion {
  let program: CommandDescription
  let commands: [PublishedCommand]

  private var name: String { "_piconet_completes_\(program.program)" }

  var text: String {
    var lines = [
      "# Completes \(program.program) in bash; made by 'piconet completion bash \(program.program)'."
    ]
    if ([program] + commands.map(\.description)).contains(where: \.offersPeers) { lines += peers }
    lines += [
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

  private var peersName: String { "_piconet_peers_\(program.program)" }

  /// Adds the names of known devices that begin with the word, in any letter case, as `--to` takes them. A person may
  /// have given a device any name: each is quoted in the same way as the completed word.
  private var peers: [String] {
    [
      "\(peersName)() {",
      "  local name quote= start=$1 whole= same=yes apostrophe=\\' backslash='\\' mark=$'\\001'",
      "  local within=$apostrophe$backslash$apostrophe$apostrophe",
      "  local -a names=()",
      "  case $start in [\\'\\\"]*) quote=${start:0:1} start=${start:1} ;; esac",
      "  if [[ $quote == \"$apostrophe\" ]]; then",
      // What is typed after the last quote is what bash completes, and replaces.
      "    start=${start//\"$within\"/\"$apostrophe\"}",
      "    if [[ $start == *\"$apostrophe\"* ]]; then whole=${start%\"${start##*\"$apostrophe\"}\"}; fi",
      "  else",
      "    start=${start//\"$backslash$backslash\"/\"$mark\"} start=${start//\"$backslash\"/}",
      "    start=${start//\"$mark\"/\"$backslash\"}",
      "  fi",
      "  while IFS= read -r name; do",
      "    if [[ ${name,,} == \"${start,,}\"* ]]; then names+=(\"$name\"); fi",
      "  done < <(command piconet trust names 2>/dev/null)",
      "  if ((${#names[@]} == 0)); then return; fi",
      // bash shortens what is typed to what all have in common.
      "  for name in \"${names[@]}\"; do",
      "    if [[ ${name:0:${#start}} != \"${names[0]:0:${#start}}\" ]]; then same=; fi",
      "  done",
      "  for name in \"${names[@]}\"; do",
      "    if [[ ! $same ]]; then name=$start${name:${#start}}; fi",
      "    case $quote in",
      "      \"$apostrophe\") name=${name:${#whole}} name=${name//\"$apostrophe\"/\"$within\"} ;;",
      // Between double quotes nothing takes the meaning of history from it.
      "      '\"') if [[ $name == *!* ]]; then continue; fi",
      "        name=${name//\"$backslash\"/\"$backslash$backslash\"}",
      "        name=${name//'\"'/\"$backslash\"'\"'} name=${name//'$'/\"$backslash\"'$'}",
      "        name=${name//'`'/\"$backslash\"'`'} ;;",
      "      *) printf -v name %q \"$name\" ;;",
      "    esac",
      "    COMPREPLY+=(\"$name\")",
      "  done",
      "}",
    ]
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
    case .peers(let words): "\(offer(words: words)); \(peersName) \"$current\""
    case .peerCommands(let commands):
      "case $option in \(commands.filter(\.takesPeer).map(\.word).joined(separator: "|"))) \(peersName) \"$current\" ;; "
        + "*) \(offer(words: commands.map(\.word))) ;; esac"
    }
  }

  private func offer(words: [String]) -> String {
    "mapfile -t COMPREPLY < <(compgen -W \(Shell.quoted(words.joined(separator: " "))) -- \"$current\")"
  }
}
