import Foundation
import Testing

@Suite("What Documentation/architecture.md says")
struct ArchitectureDocumentTests {
  /// Every word of code and scripts, and the names of their files.
  private static let vocabulary: Set<String> = {
    var words: Set<String> = []
    for file in Repository.texts where !file.path.hasSuffix(".md") {
      for line in file.code { words.formUnion(names(in: line)) }
      words.formUnion(file.path.split(separator: "/").flatMap(names))
    }
    return words
  }()

  private static let files = Set(
    Repository.texts.map { URL(filePath: $0.path).deletingPathExtension().lastPathComponent })

  private static func names(in text: some StringProtocol) -> [String] {
    String(text).matches(of: /[A-Za-z_][A-Za-z0-9_]*/).map { String($0.output) }
  }

  /// What of a document's code is no name of this repository's.
  static func unknown(in text: String) -> [String] {
    // Without the blocks, which are drawings and commands.
    let parts = text.components(separatedBy: "```")
    let prose = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }.joined(separator: " ")
    return prose.matches(of: /`([^`]+)`/).map { String($0.1) }.filter { code in
      if code.contains("+") { return !files.contains(code) }
      return !names(in: code).allSatisfy(vocabulary.contains)
    }
  }

  @Test("names types, functions and files that there are")
  func namesExist() throws {
    let document = try #require(Repository.text("Documentation/architecture.md")).text
    let unknown = Self.unknown(in: document)
    #expect(unknown.isEmpty, "\(unknown.joined(separator: ", "))")
  }

  @Test("a name that nothing has is found")
  func unknownIsFound() {
    let former = "left" + "Behind" + "Name"
    let text = "`Association` and `\(former)(turn)` in `SessionEngine+\(former)`\n```\n`\(former)`\n```\n"
    #expect(Self.unknown(in: text) == ["\(former)(turn)", "SessionEngine+\(former)"])
  }

  @Test("each line of a walk names files and functions that are in them, and the files are as many as it says")
  func walks() throws {
    let document = try #require(Repository.text("Documentation/architecture.md")).text
    let chapter = try #require(document.components(separatedBy: "\n## Walks\n").last)
    let walks = chapter.components(separatedBy: "\n## ")[0].components(separatedBy: "\n### ").dropFirst()
    #expect(walks.count >= 4)
    var wrong: [String] = []
    for walk in walks {
      let lines = walk.components(separatedBy: "\n")
      var passed: Set<String> = []
      for line in lines where line.hasPrefix("- ") {
        let parts = line.components(separatedBy: ": ")
        let names = Self.quoted(parts[0])
        let code = Repository.sources.filter { file in
          names.contains(URL(filePath: file.path).deletingPathExtension().lastPathComponent)
        }.flatMap(\.code)
        let steps = parts.count > 1 ? parts[1].prefixMatch(of: /`\w+`(?:, (?:and )?`\w+`)*/).map { $0.output } : nil
        for step in steps.map({ Self.quoted(String($0)) }) ?? [] {
          let declaration = try Regex(#"\bfunc \#(step)\b"#)
          if !code.contains(where: { $0.contains(declaration) }) { wrong.append("\(step) in \(parts[0])") }
        }
        wrong += names.filter { !Self.files.contains($0) }
        passed.formUnion(names)
      }
      if let said = lines[0].firstMatch(of: /(\d+) files$/), Int(said.1) != passed.count {
        wrong.append("\(lines[0]): \(passed.count)")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: ", "))")
  }

  private static func quoted(_ text: String) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }
}
