import Testing

@Suite("Comments")
struct CommentTests {
  @Test("are no wider than the code, but for tables")
  func width() {
    let wide = Repository.texts.filter { $0.path.hasSuffix(".swift") }.flatMap { file in
      file.lines.enumerated().filter { _, line in
        let text = line.drop { $0 == " " }
        return line.count > 120 && text.hasPrefix("//") && !text.hasPrefix("/// |")
      }.map { "\(file.path):\($0.offset + 1)" }
    }
    #expect(wide.isEmpty, "\(wide.joined(separator: "\n"))")
  }

  @Test("say of everything public that `import Piconet` brings what it means")
  func documented() throws {
    let exports = try #require(Repository.text("Sources/Piconet/Exports.swift"))
    let brought = exports.lines.compactMap { $0.firstMatch(of: /@_exported import \w+ (\w+)\.(\w+)/)?.output }
    #expect(brought.count > 20)
    let files = Repository.sources.filter { file in
      ["Piconet", "PiconetFoundation", "PiconetTerminal", "PiconetActors", "GameKit", "MultipeerConnectivity"].contains(
        file.module)
        || brought.contains { _, module, name in file.module == module && file.code.contains { Self.makes(name, $0) } }
    }
    #expect(files.count > 60)
    let bare = files.flatMap { file in
      file.code.indices.filter { Self.needsComment(file.code[$0]) && !Self.hasComment($0, file) }.map(file.place)
    }
    #expect(bare.isEmpty, "\(bare.joined(separator: "\n"))")
  }

  /// Whether the line declares the type of this name, or extends it.
  private static func makes(_ name: Substring, _ line: String) -> Bool {
    let words = line.split { !$0.isLetter && !$0.isNumber }
    guard let kind = words.firstIndex(where: { ["struct", "enum", "class", "protocol", "extension"].contains($0) })
    else { return false }
    return words.dropFirst(kind + 1).first == name
  }

  /// Whether this is a public declaration that needs a comment. What a protocol of the standard library asks for is
  /// documented there, and an initialiser that only takes the properties says nothing that they do not.
  private static func needsComment(_ line: String) -> Bool {
    let words = line.split { " (:<{".contains($0) }.filter { !$0.hasPrefix("@") }
    guard words.first == "public" || words.first == "open", line.contains("public extension") == false else {
      return false
    }
    return !words.contains { Self.documentedElsewhere.contains($0) } && !line.contains("func <")
  }

  private static let documentedElsewhere: Set<Substring> = [
    "==", "hash", "encode", "next", "makeAsyncIterator", "init", "Element", "AsyncIterator", "description",
    "debugDescription", "customMirror", "ActorID", "InvocationEncoder", "InvocationDecoder", "ResultHandler",
    "SerializationRequirement",
  ]

  private static func hasComment(_ index: Int, _ file: TextFile) -> Bool {
    var above = index - 1
    func text(_ line: Int) -> Substring { file.lines[line].drop { $0 == " " } }
    while above >= 0, text(above).hasPrefix("@") { above -= 1 }
    return above >= 0 && text(above).hasPrefix("///")
  }
}
