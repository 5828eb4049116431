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

  @Test("has no names of the engine's own concepts")
  func hasNoEngine() throws {
    let own = ["Association", "Lane", "Engine", "Effect", "Fact", "Turn", "Frame", "Wire", "LinkTraits"]
    let leaks = try exports().filter { export in own.contains { export.name.contains($0) } }
    #expect(leaks.isEmpty, "\(leaks)")
  }
}
