import Testing

@Suite("What `import Piconet` brings of the modules below it")
struct ExportTests {
  /// The exports, as module and name.
  private func exports() throws -> [(module: Substring, name: Substring)] {
    let file = try #require(Repository.text("Sources/Piconet/Exports.swift"))
    let imports = file.code.filter { $0.contains("import ") }
    return try imports.map { line in
      // A whole module, or a function, would bring things that nobody has chosen.
      let match = try #require(
        line.firstMatch(of: /^ *@_exported import (?:struct|enum|class) (\w+)\.(\w+)$/), "\(line)")
      return (match.output.1, match.output.2)
    }
  }

  @Test("is single types, each of them in the reference's list")
  func isListed() throws {
    let topics = try #require(Repository.text("Sources/Piconet/Piconet.docc/Piconet.md"))
    let exports = try exports()
    #expect(exports.count > 20)
    let missing = exports.filter { export in !topics.lines.contains("- ``\(export.name)``") }
    #expect(missing.isEmpty, "\(missing)")
  }

  /// The engine's own concepts.
  private static let own = ["Association", "Lane", "Engine", "Effect", "Fact", "Turn", "Frame", "Wire", "LinkTraits"]

  @Test("has no names of the engine's own concepts")
  func hasNoEngine() throws {
    let leaks = try exports().filter { export in Self.own.contains { export.name.contains($0) } }
    #expect(leaks.isEmpty, "\(leaks)")
  }

  @Test("nor have the public members of these types, or what they take and give")
  func membersHaveNoEngine() throws {
    let words = try Self.own.map { try Regex(#"(\b|[a-z])\#($0)"#) }
    var memberCount = 0
    var leaks: [String] = []
    for (module, name) in try exports() {
      let opening = try Regex(#"^(public )?(struct|enum|final class|class|extension) \#(name)\b"#)
      for file in Repository.sources where file.path.hasPrefix("Sources/\(module)/") && file.text.contains(name) {
        var isInside = false
        for (number, line) in file.code.enumerated() {
          if let first = line.first, first != " " { isInside = line.contains(opening) }
          guard isInside, line.contains(/^ +(public |case )/) else { continue }
          memberCount += 1
          if words.contains(where: { line.contains($0) }) { leaks.append("\(file.path):\(number + 1)") }
        }
      }
    }
    #expect(memberCount > 200, "\(memberCount)")
    #expect(leaks.isEmpty, "\(leaks)")
  }
}
