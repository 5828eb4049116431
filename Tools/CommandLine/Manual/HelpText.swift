extension CommandDescription {
  /// The width that help is wrapped to. Fixed, so that a pipe, a manual page and every terminal show the same.
  private static var width: Int { 80 }
  /// Where the right column begins.
  private static var column: Int { 28 }

  /// The text of `--help`, made from the table.
  func helpText() -> String {
    var lines = ["Usage: \(program) \(usage)"]
    lines += wrap(summary, indent: 0)
    lines += ["", "Options:"]
    for option in options { lines += row(term: term(of: option), text: option.help) }
    for section in sections {
      lines += ["", "\(section.title):"]
      for (term, text) in section.rows { lines += row(term: "  " + term, text: text) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func term(of option: Option) -> String {
    let short = option.short.map { "  -\($0), " } ?? "      "
    return short + "--\(option.long)\(option.argument.text)" + (option.isRepeatable ? "..." : "")
  }

  /// The term on the left, the text wrapped on the right; a term that is too long gets a line of its own.
  private func row(term: String, text: String) -> [String] {
    if text.isEmpty { return [term] }
    var lines = wrap(text, indent: Self.column)
    if term.count + 2 > Self.column { return [term] + lines }
    if let first = lines.first {
      lines[0] = term + String(repeating: " ", count: Self.column - term.count) + first.dropFirst(Self.column)
    }
    return lines
  }

  /// Wrapped at spaces; each line begins with `indent` spaces.
  private func wrap(_ text: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > Self.width - 1 {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    lines.append(margin + line)
    return lines
  }
}
