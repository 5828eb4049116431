import Foundation
import Testing

/// The table in Documentation/session-suite.md says which test runs over which transport; it is compared with the
/// tests.
@Suite("Table of the session suite")
struct SessionSuiteTests {
  static let columns = ["simulated", "packets", "TCP", "L2CAP", "RFCOMM", "LE"]
  /// What the sets of `SuiteTransport` contain, column by column.
  static let sets: [String: [String]] = [
    "all": ["yes", "yes", "yes", "yes", "yes", "yes"],
    "ofThreeByRadio": ["–", "–", "–", "three", "three", "three"],
    "ofThree": ["yes", "yes", "yes", "three", "three", "three"],
    "breakable": ["yes", "yes", "yes", "faults", "faults", "faults"],
    "reachedHidden": ["yes", "yes", "yes", "–", "–", "faults"],
    "lossless": ["yes", "yes", "yes", "–", "–", "–"],
    "paced": ["–", "–", "–", "faults", "–", "–"],
    "pluggable": ["yes", "yes", "–", "–", "–", "–"],
  ]

  static let files = Repository.texts.filter {
    $0.path.hasPrefix("Tests/PiconetSessionSuite/") && $0.path.hasSuffix("Tests.swift")
  }

  /// The lines of the table, and what the tests contain that it can't show.
  static func table(of files: [TextFile]) -> (lines: [String], wrong: [String]) {
    var lines = [
      "| service | shown by | " + columns.joined(separator: " | ") + " |",
      "|" + [String](repeating: "---|", count: columns.count + 2).joined(),
    ]
    var wrong: [String] = []
    let test = /@Test\(\s*"((?:[^"\\]|\\.)*)",\s*arguments:\s*SuiteTransport\.(\w+)/
    for file in files {
      guard let suite = file.text.firstMatch(of: /@Suite\(\s*"([^"]*)"/)?.1 else { continue }
      let matches = file.text.matches(of: test)
      if matches.count != file.text.matches(of: /arguments:/).count {
        wrong.append("\(file.path): a test's arguments are no set of SuiteTransport")
      }
      for match in matches {
        guard var marks = sets[String(match.2)] else {
          wrong.append("\(file.path): SuiteTransport.\(match.2) is not in the table's sets")
          continue
        }
        // Tests that do not run over every transport by themselves do so with SessionSuite, when everything is wanted.
        for (column, name) in [(4, "rfcomm"), (5, "le")]
        where marks[column] != "–" && !file.text.contains("PICONET_SUITE=\(name)") {
          marks[column] = marks[column] == "yes" ? "all" : marks[column] + ", all"
        }
        lines.append("| \(suite) | \(match.1) | " + marks.joined(separator: " | ") + " |")
      }
    }
    return (lines, wrong)
  }

  @Test("the document shows the table that the tests give")
  func tableIsRight() throws {
    let (lines, wrong) = Self.table(of: Self.files)
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    #expect(lines.count > 30)
    let document = try #require(Repository.text("Documentation/session-suite.md"))
    let shown = document.lines.filter { $0.hasPrefix("|") && $0.filter { $0 == "|" }.count == Self.columns.count + 3 }
    #expect(shown == lines, "the table is now:\n\(lines.joined(separator: "\n"))\n")
  }

  @Test("every test that the document names for further services is one")
  func namedTestsExist() throws {
    let document = try #require(Repository.text("Documentation/session-suite.md"))
    let section = document.lines.drop { $0 != "## Services that need more than one transport, or two hosts" }
    // Below the headings.
    let rows = section.filter { $0.hasPrefix("|") }.dropFirst(2)
    let named = rows.compactMap { $0.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.hasPrefix("`") }
    #expect(named.count >= 14)
    let tests = Repository.texts.filter { $0.path.hasPrefix("Tests/") && $0.path.hasSuffix(".swift") }
    for name in named
    where !tests.contains(where: { $0.text.contains("\"\(name)\"") || $0.text.contains("func \(name)()") }) {
      Issue.record("no test is called \(name)")
    }
  }

  @Test("arguments that are no set are found")
  func unknownSet() {
    let file = TextFile(
      path: "Tests/PiconetSessionSuite/Example.swift",
      text: """
        @Suite("Example")
        struct Example {
          @Test("shown", arguments: SuiteTransport.all)
          func one() {}
          @Test("not shown", arguments: [1, 2])
          func two() {}
          @Test("unknown", arguments: SuiteTransport.some)
          func three() {}
        }
        """)
    let (lines, wrong) = Self.table(of: [file])
    #expect(lines.count == 3 && lines[2] == "| Example | shown | yes | yes | yes | yes | all | all |")
    #expect(wrong.count == 2)
  }
}
