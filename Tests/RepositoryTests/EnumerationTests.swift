import Testing

/// A `switch` of another package over an enumeration that is not marked breaks with the next case.
@Suite("Enumerations that other packages see")
struct EnumerationTests {
  /// Those that can get no other case, which their comments say, and one that has none.
  static let closed: Set<String> = ["SessionMode", "FileFailure.Blame", "UnattendedAnswer", "CallDeadline"]
  /// What those that are exported hold.
  static let reached: Set<String> = ["FileKind", "FileNameRefusal"]

  /// The public enumerations of a file that are not `@nonexhaustive`, a nested one behind the name of its outermost
  /// type.
  /// - Parameter isSeen: whether other packages see a type of the file's outermost level.
  static func closed(in file: TextFile, _ isSeen: (String) -> Bool) -> [String] {
    var names: [String] = []
    var outermost = ""
    for (index, line) in file.code.enumerated() {
      if let first = line.first, first != " ",
        let match = line.firstMatch(of: /\b(?:struct|enum|class|extension) (\w+)/)
      {
        outermost = String(match.1)
      }
      guard isSeen(outermost), let match = line.firstMatch(of: /^( *)public (?:indirect )?enum (\w+)/) else { continue }
      if index > 0, file.code[index - 1].contains("@nonexhaustive") { continue }
      names.append(match.1.isEmpty ? String(match.2) : "\(outermost).\(match.2)")
    }
    return names
  }

  @Test("can get more cases, unless they say that there is none")
  func areOpen() throws {
    let exports = try #require(Repository.text("Sources/Piconet/Exports.swift")).text
    let exported = Set(exports.matches(of: /@_exported import \w+ \w+\.(\w+)/).map { String($0.1) }).union(Self.reached)
    let modules = Set(exports.matches(of: /@_exported import \w+ (\w+)\./).map { String($0.1) })
    let whole: Set<String> = ["Piconet", "PiconetFoundation", "PiconetActors", "PiconetTerminal"]
    #expect(exported.count > 25 && modules.count > 4)
    var closed: [String] = []
    for file in Repository.sources {
      if whole.contains(file.module) { closed += Self.closed(in: file) { _ in true } }
      if modules.contains(file.module) { closed += Self.closed(in: file, exported.contains) }
    }
    #expect(Set(closed) == Self.closed, "\(closed)")
  }

  @Test("one that is not marked is found, wherever it is")
  func closedIsFound() {
    let file = TextFile(
      path: "Sources/Example/Example.swift",
      text: """
        @nonexhaustive
        public enum Open { case one }
        public enum Kind { case one }
        public struct Failure {
          /// What happened.
          public enum Code { case one }
          @nonexhaustive
          public enum Blame { case one }
          enum Hidden { case one }
        }
        public enum Unseen { case one }
        """)
    #expect(Self.closed(in: file) { $0 != "Unseen" } == ["Kind", "Failure.Code"])
  }
}
