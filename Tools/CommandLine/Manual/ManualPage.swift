/// A manual page in the macros of man(7), which groff and mandoc support.
struct ManualPage {
  let command: PublishedCommand

  var text: String {
    let description = command.description
    var lines = [
      ".\\\" Made by 'piconet manual \(command.page)' from what --help is made from.",
      ".TH \(RoffText.argument(command.page.uppercased())) 1 \"\" "
        + "\(RoffText.argument("Piconet \(ProgramVersion.number)")) \"User Commands\"",
      // Left-aligned and without hyphenation: options and addresses stay whole.
      ".nh", ".ad l", ".SH NAME", "\(RoffText.line(command.page)) \\- \(RoffText.line(command.purpose))",
    ]
    lines += [".SH SYNOPSIS"] + synopsis
    lines += [".SH DESCRIPTION", RoffText.line(description.summary), ".SH OPTIONS"]
    for option in description.options { lines += [".TP", term(of: option), RoffText.line(option.help)] }
    for section in description.sections { lines += part(section) }
    lines += [".SH \"SEE ALSO\""] + others
    return lines.joined(separator: "\n") + "\n"
  }

  /// A line for each way to call it.
  private var synopsis: [String] {
    let program = command.description.program
    let ways = command.description.usage.split(separator: "\n  or:  \(program) ")
    return Array(ways.map { ["\(RoffText.bold(program)) \(RoffText.line(String($0)))"] }.joined(separator: [".br"]))
  }

  private func term(of option: CommandDescription.Option) -> String {
    let short = option.short.map { RoffText.bold("-\($0)") + ", " } ?? ""
    let argument: String =
      switch option.argument {
      case .none: ""
      case .required(let name): "=\(RoffText.italic(name))"
      case .optional(let name): "[=\(RoffText.italic(name))]"
      }
    return short + RoffText.bold("--\(option.long)") + argument + (option.isRepeatable ? "..." : "")
  }

  /// A section of the help: the text in brackets in its title becomes its first sentence.
  private func part(_ section: CommandDescription.Section) -> [String] {
    let title = section.title.split(separator: " (", maxSplits: 1).map { String($0) }
    var lines = [".SH \(RoffText.argument(title[0].uppercased()))"]
    if let remark = title.dropFirst().first, let first = remark.first {
      lines.append(RoffText.line(first.uppercased() + remark.dropFirst().prefix { $0 != ")" } + "."))
    }
    for row in section.rows {
      if row.text.isEmpty {
        lines += [".PP", ".nf", RoffText.line("    " + row.term), ".fi"]
      } else if row.term.isEmpty {
        lines += [".PP", RoffText.line(row.text)]
      } else {
        lines += [".TP", RoffText.bold(row.term), RoffText.line(row.text)]
      }
    }
    return lines
  }

  private var others: [String] {
    let pages = PublishedCommand.all.map(\.page).filter { $0 != command.page }
    return pages.enumerated().map { index, page in
      ".BR \(RoffText.argument(page)) (1)" + (index + 1 < pages.count ? "," : "")
    }
  }
}
