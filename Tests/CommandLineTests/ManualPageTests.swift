import Foundation
import Testing

@testable import PiconetCommandLine

@Suite("Manual pages")
struct ManualPageTests {
  static let pages = PublishedCommand.all.map(\.page)

  private func page(_ name: String) throws -> (command: PublishedCommand, text: String) {
    let command = try #require(PublishedCommand.all.first { $0.page == name })
    return (command, ManualPage(command: command).text)
  }

  @Test("there is one for each program and each command of piconet")
  func names() {
    #expect(Self.pages == PiconetProgram.pages)
    #expect(Self.pages.count == 3 + PiconetProgram.Command.allCases.count)
    #expect(PublishedCommand.programs.map(\.page) == ["imagesend", "imagerecv", "piconet"])
  }

  @Test("no text of an option or section has two spaces in a row, which a page would show")
  func singleSpaces() {
    for command in PublishedCommand.all {
      let description = command.description
      let texts =
        description.options.map(\.help) + description.sections.flatMap(\.rows).map(\.1) + [description.summary]
      for text in texts { #expect(!text.contains("  "), "\(command.page): \(text)") }
    }
  }

  @Test(
    "each has every option of --help, with its letter, its argument and its text, and every section", arguments: pages)
  func options(name: String) throws {
    let (command, text) = try page(name)
    #expect(!command.description.options.isEmpty)
    for option in command.description.options {
      let letter = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
      let long = option.long.replacing("-", with: "\\-")
      let argument =
        option.argument.name.map { name in
          option.argument == .required(name) ? "=\\fI\(name)\\fR" : "[=\\fI\(name)\\fR]"
        } ?? ""
      let term = "\n.TP\n\(letter)\\fB\\-\\-\(long)\\fR\(argument)\(option.isRepeatable ? "..." : "")\n"
      #expect(text.contains(term + RoffText.line(option.help) + "\n"), "\(term)")
    }
    for section in command.description.sections {
      let title = section.title.split(separator: " (")[0].uppercased()
      #expect(text.contains("\n.SH \"\(title)\"\n"), "\(title)")
    }
  }

  @Test("no text is a request: every line that begins with a full stop is one of our macros", arguments: pages + [""])
  func requests(name: String) throws {
    let text = try name.isEmpty ? ManualPage(command: HostileTexts.command).text : page(name).text
    let macros: Set = [".\\\"", ".TH", ".nh", ".ad", ".SH", ".TP", ".PP", ".nf", ".fi", ".br", ".BR"]
    for line in text.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(macros.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
  }

  @Test("what roff gives a meaning to is escaped")
  func escapes() {
    #expect(RoffText.line(".a") == "\\&.a")
    #expect(RoffText.line("'a") == "\\(aqa")
    #expect(RoffText.line("a.b") == "a.b")
    #expect(RoffText.line("\\fB") == "\\efB")
    #expect(RoffText.line("--a-b") == "\\-\\-a\\-b")
    #expect(RoffText.line("\"`~^") == "\\(dq\\(ga\\(ti\\(ha")
    #expect(RoffText.line("Küche 🙂") == "K\\[u00FC]che \\[u1F642]")
    #expect(RoffText.line("a\nb\u{1B}[2J") == "a b [2J")
    #expect(RoffText.argument("a \"b\"") == "\"a \\(dqb\\(dq\"")
  }

  @Test(
    "groff shows it without a warning, hostile texts as they are", .enabled(if: InstalledProgram("groff") != nil),
    arguments: pages + [""])
  func groff(name: String) throws {
    let groff = try #require(InstalledProgram("groff"))
    let (command, text) =
      try name.isEmpty ? (HostileTexts.command, ManualPage(command: HostileTexts.command).text) : page(name)
    // Lines long enough for each text, neither bold nor underlined.
    let shown = try groff.run(["-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", "-rLL=2000n"], file: text)
    #expect(shown.status == 0 && shown.error == "", "\(shown.error)")
    for option in command.description.options {
      #expect(shown.output.contains("--\(option.long)\(option.argument.text)"), "\(option.long)")
      #expect(shown.output.contains(option.help), "\(option.help)")
    }
  }

  @Test("piconet manual writes a page, or the pages' names, and refuses an unknown name with a suggestion")
  func command() throws {
    func parse(_ words: String...) throws -> String? {
      let invocation = try OptionParser.parse(
        words.map { Array($0.utf8) }, table: manualOptions, initial: ManualArguments(), posixlyCorrect: false)
      if case .run(let arguments) = invocation { return arguments.text }
      return nil
    }
    #expect(try parse() == Self.pages.joined(separator: "\n") + "\n")
    #expect(try parse("piconet-ping") == page("piconet-ping").text)
    #expect(throws: UsageError("no manual page 'imagesed'; did you mean 'imagesend'?")) { try parse("imagesed") }
  }
}
