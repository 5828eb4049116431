import Testing

@testable import PiconetCommandLine

/// Settings with every kind of option, none of them the tools' own.
private struct Sample: Equatable, Sendable {
  var output = ""
  var quiet = false
  var verbose = 0
  var color = ""
  var words: [String] = []
  /// Nil: not given; empty: given without an argument.
  var code: String?
}

private struct Unexpected: Error {}

private let sampleOptions = OptionTable<Sample>(
  program: "sample", usage: "[OPTION]... WORD...", summary: "A sample.",
  options: [
    Option(
      "output", short: "o", help: "write there",
      .value(name: "FILE") { (sample, value) throws(UnacceptableValue) in sample.output = value.text }),
    Option("quiet", short: "q", help: "say nothing", .flag { $0.quiet = true }),
    Option("verbose", short: "v", repeatable: true, help: "say more", .flag { $0.verbose += 1 }),
    Option("verify", help: "check", .flag { _ in }),
    Option(
      "color", short: "c", help: "when to color",
      .value(name: "WHEN") { (sample, value) throws(UnacceptableValue) in
        sample.color = try AcceptPolicy(value).rawValue
      }),
    Option(
      "number", help: "which",
      .optional(name: "N", isValue: { $0.allSatisfy { (0x30...0x39).contains($0) } }) {
        (sample, value) throws(UnacceptableValue) in
        guard value?.text != "13" else { throw .because("unlucky") }
        sample.code = value?.text ?? ""
      }),
    Option(
      "at", short: "a", help: "where",
      .optional(name: "N", isValue: { $0.allSatisfy { (0x30...0x39).contains($0) } }) { (sample, value) in
        sample.code = value?.text ?? ""
      }),
    Option("help", short: "h", help: "show this", .help),
    Option("version", help: "show the version", .version),
  ],
  operands: .required(word: "word") { $0.words.append($1.readable) },
  sections: [])

private func parse(_ words: String..., posixlyCorrect: Bool = false) throws -> Sample {
  let invocation = try OptionParser.parse(
    words.map { Array($0.utf8) }, table: sampleOptions, initial: Sample(), posixlyCorrect: posixlyCorrect)
  guard case .run(let sample) = invocation else {
    Issue.record("asked for output")
    return Sample()
  }
  return sample
}

private func message(_ words: String...) -> String? {
  do throws(UsageError) {
    _ = try OptionParser.parse(
      words.map { Array($0.utf8) }, table: sampleOptions, initial: Sample(), posixlyCorrect: false)
    return nil
  } catch {
    return error.message
  }
}

@Suite("Command lines are read as getopt_long reads them")
struct OptionParserTests {
  @Test("an optional argument stands behind =, or is the next word where that is one, and no other word")
  func optionalArguments() throws {
    #expect(try parse("--number=7", "x").code == "7")
    let next = try parse("--number", "42", "x")
    #expect(next.code == "42" && next.words == ["x"])
    let none = try parse("--number", "x")
    #expect(none.code == "" && none.words == ["x"])
    #expect(try parse("x", "--number").code == "")
    #expect(try parse("--number", "--quiet", "x").quiet)
    #expect(try parse("x").code == nil)
    #expect(message("--number=13", "x") == "invalid argument '13' for '--number': unlucky")
    #expect(message("--number", "13", "x") == "invalid argument '13' for '--number': unlucky")
    #expect(sampleOptions.helpText().contains("--number[=N]"))
  }

  @Test(
    "the optional argument of a letter stands behind it or is the next word, where that is one; or its bundle goes on")
  func optionalArgumentsOfLetters() throws {
    #expect(try parse("-a7", "x") == Sample(words: ["x"], code: "7"))
    #expect(try parse("-a", "7", "x") == Sample(words: ["x"], code: "7"))
    #expect(try parse("-qa7", "x") == Sample(quiet: true, words: ["x"], code: "7"))
    #expect(try parse("-aq", "x") == Sample(quiet: true, words: ["x"], code: ""))
    #expect(try parse("-a", "x") == Sample(words: ["x"], code: ""))
    #expect(try parse("x", "-a") == Sample(words: ["x"], code: ""))
    #expect(message("-a7q", "x") == "invalid option -- '7'")
  }

  @Test("an argument follows as --name=value, --name value, -oVALUE or -o VALUE")
  func argumentForms() throws {
    for words in [["--output=x y"], ["--output", "x y"], ["-ox y"], ["-o", "x y"]] {
      let invocation = try OptionParser.parse(
        (words + ["w"]).map { Array($0.utf8) }, table: sampleOptions, initial: Sample(), posixlyCorrect: false)
      guard case .run(let sample) = invocation else { throw Unexpected() }
      #expect(sample == Sample(output: "x y", words: ["w"]))
    }
  }

  @Test("an argument may be empty, begin with a dash or hold an equals sign")
  func oddArguments() throws {
    #expect(try parse("--output=", "w").output == "")
    #expect(try parse("--output", "--quiet", "w") == Sample(output: "--quiet", words: ["w"]))
    #expect(try parse("--output=a=b", "w").output == "a=b")
    #expect(try parse("-o-", "w").output == "-")
  }

  @Test("short flags are bundled, also before an option with an argument")
  func bundles() throws {
    #expect(try parse("-qvvofile", "w") == Sample(output: "file", quiet: true, verbose: 2, words: ["w"]))
    #expect(try parse("-qo", "file", "w") == Sample(output: "file", quiet: true, words: ["w"]))
  }

  @Test("a long option may be abbreviated while that is unambiguous")
  func abbreviations() throws {
    #expect(try parse("--q", "--out=f", "--verb", "w") == Sample(output: "f", quiet: true, verbose: 1, words: ["w"]))
    #expect(message("--ver", "w") == "option '--ver' is ambiguous; possibilities: '--verbose' '--verify' '--version'")
    #expect(
      message("--ver=3", "w") == "option '--ver=3' is ambiguous; possibilities: '--verbose' '--verify' '--version'")
  }

  @Test("-- ends the options and a lone dash is an operand")
  func endOfOptions() throws {
    #expect(try parse("--", "--quiet", "-v", "--") == Sample(words: ["--quiet", "-v", "--"]))
    #expect(try parse("-", "-q") == Sample(quiet: true, words: ["-"]))
  }

  @Test("operands mix with options, unless POSIXLY_CORRECT is set")
  func permutation() throws {
    #expect(try parse("a", "-q", "b", "--verbose", "c") == Sample(quiet: true, verbose: 1, words: ["a", "b", "c"]))
    #expect(try parse("-q", "a", "-v", posixlyCorrect: true) == Sample(quiet: true, words: ["a", "-v"]))
  }

  @Test("the last of several wins")
  func lastWins() throws { #expect(try parse("-oa", "--output=b", "w").output == "b") }

  @Test("errors are worded as GNU words them")
  func errors() {
    #expect(message("--x", "w") == "unrecognized option '--x'")
    #expect(message("--x=1", "w") == "unrecognized option '--x=1'")
    #expect(message("w", "--output") == "option '--output' requires an argument")
    #expect(message("w", "--outp") == "option '--output' requires an argument")
    #expect(message("w", "-o") == "option requires an argument -- 'o'")
    #expect(message("w", "-qz") == "invalid option -- 'z'")
    #expect(message("w", "-é") == "invalid option -- 'é'")
    #expect(message("--quiet=1", "w") == "option '--quiet' doesn't allow an argument")
    #expect(message("-q") == "missing word operand")
    #expect(
      message("--color=never", "w")
        == "invalid argument 'never' for '--color'\nValid arguments are:\n  - 'ask'\n  - 'known'\n  - 'all'")
    #expect(message("-cx", "w")?.hasPrefix("invalid argument 'x' for '-c'\n") == true)
  }

  @Test("a slip of the keyboard is answered with the option that was meant")
  func suggestions() {
    #expect(message("--otuput=f", "w") == "unrecognized option '--otuput=f'; did you mean '--output'?")
    #expect(message("--quit", "w") == "unrecognized option '--quit'; did you mean '--quiet'?")
    #expect(message("--Verbose", "w") == "unrecognized option '--Verbose'; did you mean '--verbose'?")
    #expect(message("--quiete", "w") == "unrecognized option '--quiete'; did you mean '--quiet'?")
    #expect(message("-output=f", "w") == nil, "-o with the argument utput=f")
    #expect(message("-number=3", "w") == "invalid option -- 'n'; did you mean '--number'?")
    #expect(message("-verify", "w") == "invalid option -- 'e'; did you mean '--verify'?")
    #expect(message("--colour-of-it", "w") == "unrecognized option '--colour-of-it'")
    #expect(message("--" + String(repeating: "x", count: 100_000), "w")?.contains("mean") == false)
  }

  @Test("an error points to --help and can't command the terminal")
  func errorText() {
    #expect(
      UsageError("unrecognized option '--x'").text(program: "imagesend") == """
        imagesend: unrecognized option '--x'
        Try 'imagesend --help' for more information.

        """)
    #expect(message("--\u{1B}[2J") == "unrecognized option '--\\u{1b}[2J'")
  }

  @Test("--help and --version end the reading where they stand, before later errors")
  func output() throws {
    for (words, start) in [
      (["--help", "--x"], "Usage: sample "), (["-qh"], "Usage: sample "), (["--version"], "sample ("),
    ] {
      let invocation = try OptionParser.parse(
        words.map { Array($0.utf8) }, table: sampleOptions, initial: Sample(), posixlyCorrect: false)
      guard case .print(let text) = invocation else { throw Unexpected() }
      #expect(text.hasPrefix(start))
    }
  }

  @Test("an operand that is not UTF-8 keeps its bytes")
  func rawBytes() throws {
    let name: [UInt8] = [0x66, 0xFF, 0x2E, 0x6A]
    let invocation = try OptionParser.parse(
      [name], table: imagesendOptions, initial: ImageSendArguments(), posixlyCorrect: false)
    guard case .run(let arguments) = invocation else { throw Unexpected() }
    #expect(arguments.operands == [LocalPath(bytes: name)])
    #expect(arguments.operands.first?.text == nil)
    #expect(arguments.operands.first?.readable == "f\u{FFFD}.j")
  }
}
