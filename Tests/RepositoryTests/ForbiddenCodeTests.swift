import Foundation
import Testing

@Suite("What must not be in the library and the tools")
struct ForbiddenCodeTests {
  /// `value!`, `call()!`, `array[0]!`, `Type!`; not `!flag` and not `a != b`.
  static func forcesUnwrapping(_ line: String) -> Bool {
    let characters = Array(line)
    return characters.indices.dropFirst().contains { index in
      guard characters[index] == "!" else { return false }
      let before = characters[index - 1]
      let isPostfix = before.isLetter || before.isNumber || "_)]}?>`".contains(before)
      return isPostfix && !(index + 1 < characters.count && characters[index + 1] == "=")
    }
  }

  /// Those that have the interfaces of Apple's frameworks.
  static let facades: Set<String> = ["GameKit", "MultipeerConnectivity", "UIKit"]

  /// The line without `String!`, `[Any]!` and the like where it declares something: Apple's interfaces have such types,
  /// and a subclass of a program's has to override them as they are.
  static func withoutUnwrappedTypes(_ line: String) -> String {
    line.replacing(/(:|->) *(\w+|\[\w+\]|\(any \w+\))!/) { match in String(match.1) }.replacing(
      "public init!(", with: "")
  }

  @Test("no Foundation, but in the modules for it")
  func noFoundation() {
    let with = Self.facades.union(["PiconetFoundation", "Tools/Examples"])
    let wrong = Repository.sources.filter { !with.contains($0.module) }.flatMap { file in
      file.places { ImportTests.imported($0)?.hasPrefix("Foundation") ?? false }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("no try!, as!, fatalError and no forced unwrapping")
  func nothingTraps() {
    let wrong = Repository.sources.flatMap { file in
      let isFacade = Self.facades.contains(file.module)
      return file.places { line in
        line.contains("fatalError(") || Self.forcesUnwrapping(isFacade ? Self.withoutUnwrappedTypes(line) : line)
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("forced unwrapping is recognised")
  func forcedUnwrappingIsRecognised() {
    for line in ["let a = b!", "f()!.g", "c[0]! + 1", "try! f()", "x as! Y", "var d: String!", "e?.f!"] {
      #expect(Self.forcesUnwrapping(line), "\(line)")
    }
    for line in ["func a(_ b: String!, c: [Any]!) -> String! { d }", "var a: (any B)! {"] {
      #expect(!Self.forcesUnwrapping(Self.withoutUnwrappedTypes(line)), "\(line)")
    }
    #expect(Self.forcesUnwrapping(Self.withoutUnwrappedTypes("let a: String = b!")))
    for line in ["if !flag {", "a != b", "f(!g)", "a!=b", "guard !list.isEmpty"] {
      #expect(!Self.forcesUnwrapping(line), "\(line)")
    }
  }

  @Test("every unchecked promise to the compiler has a sentence beside it that says why it holds")
  func uncheckedPromisesHaveReasons() {
    var wrong: [String] = []
    for file in Repository.sources {
      for index in file.code.indices
      where file.code[index].contains("@unchecked Sendable") || file.code[index].contains("nonisolated(unsafe)") {
        let near = file.lines[max(0, index - 10)...min(index + 3, file.lines.count - 1)]
        let comments = near.compactMap { line in line.range(of: "//").map { String(line[$0.upperBound...]) } }
        // A reason has a few words, and says who uses the thing, when, or under which lock.
        let said = PurityTests.words(comments.joined(separator: " ").lowercased())
        let topics: Set<String> = [
          "lock", "locked", "mutex", "thread", "threads", "loop", "once", "immutable", "counted", "only", "never",
          "unchecked",
          "atomic", "sendable", "changed", "changes", "confined", "owner",
        ]
        if said.count < 5 || topics.isDisjoint(with: said) { wrong.append(file.place(index)) }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// Those of which the compiler has to show each place that a new case concerns.
  private static let closedEnums = [
    ("Frame", "Sources/PiconetWire/Frames/Frame.swift"),
    ("Fact", "Sources/PiconetEngine/Facts/Fact.swift"),
    ("Command", "Sources/PiconetEngine/Facts/Command.swift"),
    ("Reply", "Sources/PiconetEngine/Facts/Command.swift"),
    ("Effect", "Sources/PiconetEngine/Effects/Effect.swift"),
    ("Event", "Sources/PiconetEngine/Effects/Event.swift"),
    ("KnownReason", "Sources/PiconetWire/Frames/KnownReason.swift"),
    ("SessionEvent", "Sources/Piconet/Sequences/SessionEvents.swift"),
    ("MembershipChange", "Sources/Piconet/Session/MembershipChange.swift"),
  ]

  /// What answers, draws, damages or judges a few of many cases on purpose; and examples, as others would write them.
  private static let mayHaveDefaults = [
    "Sources/PiconetTestKit/Fuzzing/", "Sources/PiconetTestKit/Hostile/",
    "Sources/PiconetTestKit/Network/WorldTampering.swift", "Sources/PiconetTestKit/Application/WorldTypedCodes.swift",
    "Sources/PiconetTestKit/Invariants/WorldIntroductions.swift", "Tools/CommandLine/Sending/PeerConnection.swift",
    "Tools/Examples/",
  ]

  /// The names of the enum's cases, each of which has a line.
  private static func cases(of name: String, in file: TextFile) throws -> Set<String> {
    let opening = try Regex(#"^(public |package )?enum \#(name)\b"#)
    let first = file.code.firstIndex { $0.contains(opening) }
    let start = try #require(first, "\(name) is not in \(file.path)")
    let body = file.code[start...].prefix { $0 != "}" }
    return Set(body.compactMap { $0.firstMatch(of: /^  (?:indirect )?case (\w+)/).map { String($0.output.1) } })
  }

  /// The cases that the switch names whose `default` this is; nil: there is no `default`.
  private static func casesBeside(_ index: Int, in file: TextFile) -> [String]? {
    let indent = file.code[index].prefix { $0 == " " }
    guard file.code[index].dropFirst(indent.count).hasPrefix("default:") else { return nil }
    var names: [String] = []
    for line in file.code[..<index].reversed() where line.contains(where: { $0 != " " }) {
      let own = line.prefix { $0 == " " }.count
      if own < indent.count || own == indent.count && line.contains("switch ") { break }
      guard own == indent.count, line.dropFirst(own).hasPrefix("case ") else { continue }
      names += line.matches(of: /(?:case |, )\(?\.(\w+)/).map { String($0.output.1) }
    }
    return names
  }

  @Test("no default over frames, facts, commands, effects, events and reasons: a new one has to be seen everywhere")
  func noDefaults() throws {
    let enums = try Self.closedEnums.map { name, path in
      try Self.cases(of: name, in: try #require(Repository.text(path), "\(path)"))
    }
    #expect(enums.map(\.count).reduce(0, +) > 200)
    #expect(enums.allSatisfy { $0.count > 4 }, "\(enums.map(\.count))")
    let wrong = Repository.sources.filter { file in
      !Self.mayHaveDefaults.contains { file.path.hasPrefix($0) }
    }.flatMap { file in
      file.code.indices.filter { index in
        guard let names = Self.casesBeside(index, in: file), !names.isEmpty else { return false }
        return enums.contains { $0.isSuperset(of: names) }
      }.map(file.place)
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("what is compiled against Apple's names makes nobody known: only a person's act does")
  func facadesRememberNobody() {
    let acts = [".remember(", "KnownPeers", "setRights", ".confirm("]
    let wrong = Repository.sources.filter { file in
      ["Sources/GameKit/", "Sources/MultipeerConnectivity/", "Sources/UIKit/"].contains { file.path.hasPrefix($0) }
    }
    #expect(wrong.count > 20)
    let places = wrong.flatMap { file in
      file.code.indices.filter { index in acts.contains { file.code[index].contains($0) } }.map(file.place)
    }
    #expect(places.isEmpty, "\(places.joined(separator: "\n"))")
  }

  @Test("no file of Sources is longer than 600 lines")
  func noFileIsTooLong() {
    let wrong = Repository.texts.filter { $0.path.hasPrefix("Sources/") && $0.lines.count > 600 }.map(\.path)
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("nothing is left for later")
  func nothingIsLeftForLater() {
    let words = ["TO" + "DO", "FIX" + "ME", "for " + "now"]
    let wrong = Repository.texts.filter { !$0.path.hasPrefix("Tests/") }.flatMap { file in
      file.lines.indices.filter { index in words.contains { file.lines[index].contains($0) } }.map(file.place)
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// Dependants build it without that variable: `DependantTests`.
  @Test("the package asks for no unsafe flags but to build its own tests: they would bar others from using it")
  func noUnsafeFlags() throws {
    let manifest = try #require(Repository.text("Package.swift")).text
    let parts = manifest.components(separatedBy: #"if Context.environment["PICONET_OPTIMIZED"] != nil {"#)
    try #require(parts.count == 2)
    #expect(!parts[0].contains("unsafe" + "Flags"))
    #expect(parts[1].components(separatedBy: "unsafe" + "Flags").count == 2)
    #expect(parts[1].hasSuffix("\n  }\n}\n"), "something stands behind that condition: \(parts[1])")
  }
}
