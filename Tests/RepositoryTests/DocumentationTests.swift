import Foundation
import Testing

@Suite("Documentation")
struct DocumentationTests {
  static let keywords: Set<String> = [
    "func", "var", "let", "init", "struct", "enum", "class", "protocol", "actor", "typealias", "subscript", "case",
    "associatedtype",
  ]
  /// What conformances ask for is documented with the protocol that asks for it.
  static let conformances: Set<String> = [
    "description", "debugDescription", "customMirror", "hash", "==", "<", "Element", "AsyncIterator", "Failure",
    "makeAsyncIterator",
    "next",
    "rawValue", "RawValue", "ActorID", "InvocationEncoder", "InvocationDecoder", "ResultHandler",
    "SerializationRequirement",
  ]

  /// The name that a line declares, if its declaration is public, or is one of `implied`, which are public without the
  /// word.
  static func declared(_ line: String, implied: Set<String>) -> String? {
    let words = line.split { " (:<{=,".contains($0) }.map(String.init)
    guard let position = words.firstIndex(where: { keywords.contains($0) || $0.hasPrefix("init") }) else { return nil }
    let modifiers = words[..<position]
    let isPublic = modifiers.contains { $0 == "public" || $0 == "open" || $0.hasPrefix("public(") }
    guard
      isPublic
        || (implied.contains(words[position])
          && modifiers.allSatisfy { ["static", "mutating", "indirect"].contains($0) })
    else {
      return nil
    }
    if words[position].hasPrefix("init") { return words[position] }
    if line.contains("func ==") { return "==" }
    if line.contains("func <") { return "<" }
    return position + 1 < words.count ? words[position + 1] : words[position]
  }

  /// The public declarations of a file that have no doc comment.
  static func undocumented(_ file: TextFile) -> [String] {
    var wrong: [String] = []
    // The indentation of the public enum or protocol that these lines are in.
    var inside: (indentation: Int, implied: Set<String>)?
    for index in file.code.indices {
      let line = file.code[index]
      let indentation = line.prefix { $0 == " " }.count
      if let body = inside, indentation <= body.indentation, line.contains("}") { inside = nil }
      // Members of an enum or a protocol are indented one level, two spaces, further.
      let implied = inside.map { indentation == $0.indentation + 2 ? $0.implied : [] } ?? []
      if let name = declared(line, implied: implied), !conformances.contains(name), !line.contains("extension ") {
        var above = index - 1
        while above >= 0, file.lines[above].trimmingCharacters(in: .whitespaces).hasPrefix("@") { above -= 1 }
        let comment = above >= 0 ? file.lines[above].trimmingCharacters(in: .whitespaces) : ""
        if !comment.hasPrefix("///") && !comment.hasSuffix("*/") { wrong.append(file.place(index)) }
      }
      guard line.hasSuffix("{") else { continue }
      if line.contains("public enum ") { inside = (indentation, ["case"]) }
      if line.contains("public protocol ") { inside = (indentation, keywords) }
    }
    return wrong
  }

  @Test("every public declaration of the public modules has a doc comment")
  func everythingPublicIsDocumented() {
    let files = Repository.sources.filter { ["Piconet", "PiconetActors"].contains($0.module) }
    #expect(!files.isEmpty)
    let wrong = files.flatMap(Self.undocumented)
    #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.joined(separator: "\n"))")
  }

  /// The files of the modules that give something to `import Piconet`.
  static func filesOfExports() throws -> [TextFile] {
    let exports = try #require(Repository.text("Sources/Piconet/Exports.swift")).text
    return exports.matches(of: /@_exported import \w+ (\w+)\.(\w+)/).compactMap { match in
      Repository.sources.first { file in
        file.module == match.1 && file.text.contains(try! Regex("public (struct|enum) \(match.2)\\b"))
      }
    }
  }

  @Test("what comes along with the public module has doc comments, too")
  func exportsAreDocumented() throws {
    let files = try Self.filesOfExports()
    #expect(files.count >= 25)
    let wrong = files.flatMap(Self.undocumented)
    #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.joined(separator: "\n"))")
  }

  @Test("a declaration without a comment is found")
  func undocumentedIsFound() {
    let file = TextFile(
      path: "Sources/Example/Example.swift",
      text: """
        /// Documented.
        public enum Kind {
          /// Documented.
          case one
          case two
        }

        @frozen
        public struct Value: Sendable {
          var hidden = 1
          /// Documented.
          @inlinable
          public static func make() -> Value { Value() }
          public let shown: String
          public init() { let x = 1 }
        }
        """)
    let names = Self.undocumented(file).map { $0.split(separator: ":")[1] }
    #expect(names == ["5", "9", "14", "15"])
  }

  static let documents = Repository.texts.filter { $0.path.hasSuffix(".md") }

  @Test("paths that the documents name exist")
  func namedPathsExist() throws {
    // In code, or as the target of a link: Tools/test, Sources/PiconetWire, Documentation/wire-format.md, .ci/run
    let named =
      /(?:^|[\s`(\[])(?:\.\.\/)?((?:Tools|Sources|Tests|Documentation|\.ci|udev)\/[A-Za-z0-9._+\/-]*[A-Za-z0-9+])/
    var wrong: [String] = []
    for file in Self.documents {
      for (index, line) in file.lines.enumerated() {
        for match in line.matches(of: named) {
          let path = String(match.1)
          if !FileManager.default.fileExists(atPath: Repository.root + "/" + path) { wrong.append(file.place(index)) }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("links between documents lead somewhere")
  func linksLeadSomewhere() {
    var wrong: [String] = []
    for file in Self.documents {
      let folder = URL(filePath: Repository.root + "/" + file.path).deletingLastPathComponent()
      for (index, line) in file.lines.enumerated() {
        for match in line.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/) where !match.1.contains("://") {
          let target = folder.appending(path: String(match.1))
          if !FileManager.default.fileExists(atPath: target.path) { wrong.append(file.place(index)) }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// The blocks of Swift in a document.
  static func blocks(_ path: String) throws -> [String] {
    let parts = try #require(Repository.text(path)).text.components(separatedBy: "```swift\n")
    return parts.dropFirst().map { $0.components(separatedBy: "```")[0] }
  }

  static func firstProgram() throws -> String {
    try #require(Repository.text("Tests/Dependant/Sources/hello/main.swift")).text
  }

  static func firstManifest() throws -> String {
    // Where a user's package is: beside the checkout, not in it.
    try #require(Repository.text("Tests/Dependant/Package.swift")).text.replacing("\"../..\"", with: "\"../piconet\"")
  }

  @Test("the README shows the program that the tests build, and what its manifest needs")
  func programOfTheReadmeIsTheTestedOne() throws {
    let blocks = try Self.blocks("README.md")
    try #require(blocks.count == 2)
    #expect(try blocks[0] == Self.firstProgram())
    let manifest = try Self.firstManifest().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    for line in blocks[1].split(separator: "\n") {
      #expect(manifest.contains { $0.trimmingSuffix(",") == String(line).trimmingSuffix(",") }, "\(line)")
    }
  }

  @Test("the README is read to its end: 130 lines at most")
  func readmeIsShort() throws {
    #expect(try #require(Repository.text("README.md")).lines.dropLast().count <= 130)
  }

  @Test("whom a device trusts is on one page: 90 lines at most")
  func trustIsOnePage() throws {
    #expect(try #require(Repository.text("Documentation/trust.md")).lines.dropLast().count <= 90)
  }

  @Test("links into a document lead to a heading of it")
  func linksLeadToHeadings() throws {
    var wrong: [String] = []
    for file in Self.documents {
      let folder = URL(filePath: Repository.root + "/" + file.path).deletingLastPathComponent()
      for (index, line) in file.lines.enumerated() {
        for match in line.matches(of: /\]\(([^)#\s:]*)#([^)\s]+)\)/) where match.1.isEmpty || match.1.hasSuffix(".md") {
          let target =
            match.1.isEmpty ? URL(filePath: Repository.root + "/" + file.path) : folder.appending(path: match.1)
          let text = try String(contentsOf: target.standardized, encoding: .utf8)
          let anchors = text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
          if !anchors.contains(String(match.2)) { wrong.append("\(file.place(index)): \(match.2)") }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// As sites that show Markdown make it of a heading.
  private static func anchor(_ heading: String) -> String {
    let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
    return String(words.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
  }

  static let articles = [
    "InvitationsAndTrust", "GroupsAndRelays", "MessagesAndStreams", "Files", "WhenLinksBreak", "SeveralSessions",
  ]
  static let articlesOfActors = [
    "FirstObject", "NamesAndFinding", "SignalsAndProperties", "Permissions", "WhenCallsFail",
  ]

  @Test(
    "the examples of an article are, one behind the other, the file that the tests compile and run",
    arguments: articles.map { ("Piconet", $0) } + articlesOfActors.map { ("PiconetActors", $0) })
  func articleIsCompiled(module: String, name: String) throws {
    let blocks = try Self.blocks("Sources/\(module)/\(module).docc/\(name).md")
    let file = try #require(Repository.text("Tests/ArticleTests/Articles/\(name).swift")).text
    #expect(blocks.joined(separator: "\n") == file)
  }

  @Test("the first article shows the manifest and the program that the tests build, and no article goes unread")
  func firstArticle() throws {
    let folder = "Sources/Piconet/Piconet.docc/"
    #expect(try Self.blocks(folder + "FirstSession.md") == [Self.firstManifest(), Self.firstProgram()])
    #expect(try Self.blocks(folder + "Piconet.md").isEmpty)
    let known = (Self.articles + ["FirstSession", "Piconet"]).map { folder + $0 + ".md" }
    #expect(Set(Self.documents.map(\.path).filter { $0.hasPrefix(folder) }) == Set(known))
    let actors = "Sources/PiconetActors/PiconetActors.docc/"
    #expect(try Self.blocks(actors + "PiconetActors.md").isEmpty)
    let knownOfActors = (Self.articlesOfActors + ["PiconetActors"]).map { actors + $0 + ".md" }
    #expect(Set(Self.documents.map(\.path).filter { $0.hasPrefix(actors) }) == Set(knownOfActors))
    let compiled = Repository.texts.map(\.path).filter { $0.hasPrefix("Tests/ArticleTests/Articles/") }
    let all = Self.articles + Self.articlesOfActors
    #expect(Set(compiled) == Set(all.map { "Tests/ArticleTests/Articles/\($0).swift" }))
  }

  @Test("examples are small enough to be read at once, and the first of their lines say how to run two of them")
  func examplesAreSmall() {
    for name in DependantPackages.examples {
      let files = Repository.sources.filter { $0.path.hasPrefix("Tools/Examples/\(name)/Sources/") }
      // That of another framework has all that the framework asks for.
      #expect((1...(name == "multipeer" ? 230 : 165)).contains(files.reduce(0) { $0 + $1.lines.count }), "\(name)")
      // Of a service and its client each has the lines of both.
      let program = name.hasPrefix("Basic") ? "Basic" : name
      let start = "///     PICONET_INTERFACES=lo swift run \(program)".lowercased()
      let runs = files.flatMap(\.lines).filter { $0.lowercased().hasPrefix(start) }
      #expect(runs.count == 2, "\(name)")
    }
  }

  @Test("the order of the transports is told in one way, that of the node's default")
  func orderOfTransports() throws {
    let kinds = try #require(Repository.text("Sources/PiconetEngine/Ports/TransportKind.swift"))
    let bluetooth = try #require(kinds.text.firstMatch(of: /let bluetooth: \[TransportKind\] = \[(.*)\]/)).1
    #expect(kinds.text.contains("let defaultOrder: [TransportKind] = [.tcp] + bluetooth"))
    for user in [
      "Sources/Piconet/Node/NodeConfiguration.swift", "Tools/CommandLine/Options/OptionWord.swift",
      "Sources/PiconetEngine/Configuration/EngineConfiguration.swift",
    ] {
      #expect(try #require(Repository.text(user)).text.contains("TransportKind.defaultOrder"), "\(user)")
    }
    let words = ["TCP"] + bluetooth.split(separator: ", ").map { $0.dropFirst().uppercased() }
    let told = /order (?:is )?([A-Z0-9]+(?:, [A-Z0-9]+)+)/
    var count = 0
    for file in Self.documents {
      let text = file.lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ").replacing(
        ":", with: "")
      for match in text.matches(of: told) {
        count += 1
        #expect(String(match.1) == words.joined(separator: ", "), "\(file.path)")
      }
    }
    #expect(count >= 4, "README.md, network.md, bluetooth.md twice")
  }

  @Test("every command in Tools is executable, and some document for people says what it is for")
  func commandsAreExecutable() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Repository.root + "/Tools")
    let commands = names.map { "Tools/" + $0 }.filter { Repository.text($0) != nil }
    #expect(commands.count >= 11)
    for path in commands {
      #expect(FileManager.default.isExecutableFile(atPath: Repository.root + "/" + path), "\(path)")
      #expect(Self.documents.contains { $0.text.contains(path) }, "\(path)")
    }
    for path in ["Tools/test", "Tools/demo"] {
      #expect(try #require(Repository.text("README.md")).text.contains(path), "\(path)")
    }
  }

  @Test("no path of somebody's machine")
  func noPathOfAMachine() {
    var paths = ["/Users/", "/ro" + "ot/", "/op" + "t/", "/private/var/"]
    // Where this checkout and this user's files are, unless that is a word like any other.
    for path in [Repository.root, NSHomeDirectory()] where path.filter({ $0 == "/" }).count > 1 { paths.append(path) }
    let wrong = Repository.texts.filter { $0.path != "Tests/RepositoryTests/DocumentationTests.swift" }.flatMap {
      file in
      file.lines.indices.filter { index in paths.contains { file.lines[index].contains($0) } }.map(file.place)
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }
}
