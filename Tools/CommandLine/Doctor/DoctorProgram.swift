import Glibc
import PiconetTerminal

/// What `piconet doctor` was asked to do.
struct DoctorArguments: Hashable, Sendable {
  var json = false
  var isQuiet = false
}

/// The command line of `piconet doctor`.
let doctorOptions = OptionTable<DoctorArguments>(
  program: "piconet doctor",
  usage: "[OPTION]...",
  summary: """
    Look what keeps this machine from reaching others over Bluetooth and TCP, and what to do about it. Nothing is \
    changed, nothing is sent, and no privilege is needed.
    """,
  options: [
    Option("json", help: "write one finding a line to standard output, as JSON", .flag { $0.json = true }),
    Option("quiet", short: "q", help: "show problems and warnings only", .flag { $0.isQuiet = true }),
    Option("help", short: "h", help: "show this help and exit", .help),
    Option("version", help: "show the version and exit", .version),
  ],
  operands: .none,
  sections: [
    .init(
      title: "Exit status",
      rows: [
        ("0", "no problem, though there may be warnings"), ("1", "a problem was found"),
        ("2", "the command line was wrong"),
      ]),
    environmentSection(),
  ])

/// `piconet doctor`: facts, what they mean, and the exit.
enum DoctorProgram {
  static func main(_ words: [[UInt8]]) -> Never {
    StandardStream.ignoreBrokenPipes()
    var (output, error) = (StandardStream.output, StandardStream.error)
    switch doctorOptions.start(initial: DoctorArguments(), words: words, output: &output, error: &error) {
    case .end(let code): exit(code.rawValue)
    case .run(let arguments):
      let findings = DoctorFacts.collected(.current).findings
      let text =
        arguments.json
        ? findings.map(jsonLine).joined()
        : humanText(arguments.isQuiet ? findings.filter { $0.severity > .ok } : findings)
      output.write(text)
      output.complain(as: "piconet doctor", to: &error)
      let code = output.exitCode(after: .stored)
      exit(code == .stored ? exitStatus(findings) : code.rawValue)
    }
  }

  /// 1 if there is a problem: the same number as for an internal error, as in other programs that examine something.
  static func exitStatus(_ findings: [Finding]) -> Int32 { findings.contains { $0.severity == .problem } ? 1 : 0 }

  static func jsonLine(_ finding: Finding) -> String {
    var object = JSONObject()
    object.add("finding", finding.word)
    object.add("severity", finding.severity.rawValue)
    object.add("text", finding.text)
    object.add("advice", ifKnown: finding.advice)
    return object.line + "\n"
  }

  /// A line for each, and one below it with what to do. The kernel lets a network interface have nearly any name, even
  /// escape sequences.
  static func humanText(_ findings: [Finding]) -> String {
    findings.map { finding in
      let start = padded(finding.severity.rawValue, 9) + padded(finding.area, 12)
      let advice = finding.advice.map { String(repeating: " ", count: 9) + "-> \(displaySafe($0))\n" } ?? ""
      return start + displaySafe(finding.text) + "\n" + advice
    }.joined()
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
