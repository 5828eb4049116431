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
  static let facades: Set<String> = ["GameKit", "MultipeerConnectivity", "UIKit", "PiconetDevice"]

  /// The line without `String!`, `[Any]!` and the like where it declares something: Apple's interfaces have such types,
  /// and a subclass of a program's has to override them as they are.
  static func withoutUnwrappedTypes(_ line: String) -> String {
    line.replacing(/(:|->) *(\w+|\[\w+\]|\(any \w+\))!/) { match in String(match.1) }.replacing(
      "public init!(", with: "")
  }

  @Test("no Foundation, but in the modules for it")
  func noFoundation() {
    let with = Self.facades.union(["PiconetFoundation", "Tools/Examples", "Tools/MultipeerBenchmark"])
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
    ("Known", "Sources/Piconet/Errors/PiconetError.swift"),
    ("Known", "Sources/PiconetActors/Calls/RemoteCallError.swift"),
    ("Code", "Sources/PiconetEngine/Ports/LinkEndpoint.swift"),
    ("Code", "Sources/PiconetFiles/FileFailure.swift"),
    ("BlueZAction", "Sources/PiconetBlueZ/Machine/BlueZAction.swift"),
  ]

  /// What answers, draws, damages or judges a few of many cases on purpose; examples, as others would write them; and
  /// modules that use only Piconet's public interface, where the codes of errors are an open set.
  private static let mayHaveDefaults = [
    "Sources/PiconetTestKit/Fuzzing/", "Sources/PiconetTestKit/Hostile/",
    "Sources/PiconetTestKit/Network/WorldTampering.swift", "Sources/PiconetTestKit/Application/WorldTypedCodes.swift",
    "Sources/PiconetTestKit/Invariants/WorldIntroductions.swift", "Tools/Examples/",
    "Sources/GameKit/Core/GKSessionError+Piconet.swift", "Sources/MultipeerConnectivity/MCError.swift",
  ]

  /// The names of the enum's cases.
  private static func cases(of name: String, in file: TextFile) throws -> Set<String> {
    let opening = try Regex(#"^ *(public |package )?enum \#(name)\b"#)
    let first = file.code.firstIndex { $0.contains(opening) }
    let start = try #require(first, "\(name) is not in \(file.path)")
    let indent = indent(of: file.code[start])
    var names: Set<String> = []
    var isGoingOn = false
    for line in file.code[(start + 1)...].prefix(while: { $0 != String(repeating: " ", count: indent) + "}" }) {
      let text = line.drop { $0 == " " }
      let declared = text.firstMatch(of: /^(?:indirect )?case (.*)/).map { $0.output.1 }
      guard let list = self.indent(of: line) == indent + 2 ? declared : isGoingOn ? text : nil else { continue }
      names.formUnion(parts(of: list).compactMap { $0.firstMatch(of: /^\w+/).map { String($0.output) } })
      isGoingOn = list.last == ","
    }
    return names
  }

  private static func indent(of line: String) -> Int { line.prefix { $0 == " " }.count }

  /// What stands between the commas that are in no brackets.
  private static func parts(of list: Substring) -> [Substring] {
    var depth = 0
    return list.split { character in
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      return character == "," && depth == 0
    }.map { $0.drop { $0 == " " } }
  }

  /// The cases that the switch names whose `default` this is, at each place of the tuple that it is over; nil: there is
  /// no `default`.
  private static func casesBeside(_ index: Int, in code: [String]) -> [Set<String>]? {
    let indent = indent(of: code[index])
    guard code[index].dropFirst(indent).hasPrefix("default:") else { return nil }
    var names: [Set<String>] = []
    // Lines that go on with the patterns of the case above them.
    var rest: [String] = []
    for line in code[..<index].reversed() where line.contains(where: { $0 != " " }) {
      let own = self.indent(of: line)
      if own < indent || own == indent && line.contains("switch ") { break }
      guard own == indent, line.dropFirst(own).hasPrefix("case ") else {
        rest.append(line)
        continue
      }
      let text = ([String(line.dropFirst(own + 5))] + rest.reversed()).joined(separator: " ")
      rest = []
      for part in parts(of: patterns(in: text)) {
        let pattern = part.firstRange(of: " where ").map { part[..<$0.lowerBound] } ?? part
        let isTuple = pattern.first == "(" && pattern.last == ")"
        for (place, element) in (isTuple ? parts(of: pattern.dropFirst().dropLast()) : [pattern]).enumerated() {
          guard let name = element.firstMatch(of: /^(?:let |var )?\.(?:some\(\.)?(\w+)/)?.output.1 else { continue }
          while names.count <= place { names.append([]) }
          names[place].insert(String(name))
        }
      }
    }
    return names
  }

  /// Of a case everything before its colon.
  private static func patterns(in text: String) -> Substring {
    var depth = 0
    return text.prefix { character in
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      return character != ":" || depth > 0
    }
  }

  @Test("a default is recognised over an enum, its optional and a tuple with it")
  func defaultsAreRecognised() {
    let code = """
        switch (one, two) {
        case (.a, _), (.b(let x), .c?):
          switch x {
          case .y: f()
          default: break
          }
        case (let z, .some(.d)) where z == .e,
          (nil, .f(g: 1)):
          g(.h)
        default: break
        }
      """.split(separator: "\n").map(String.init)
    #expect(Self.casesBeside(9, in: code) == [["a", "b"], ["c", "d", "f"]])
    #expect(Self.casesBeside(4, in: code) == [["y"]])
    #expect(Self.casesBeside(8, in: code) == nil)
  }

  @Test(
    "no default over frames, facts, commands, effects, events, reasons and codes: a new one has to be seen everywhere")
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
        guard let places = Self.casesBeside(index, in: file.code) else { return false }
        return places.contains { names in !names.isEmpty && enums.contains { $0.isSuperset(of: names) } }
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
