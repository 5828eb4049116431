import Testing

/// The state of an association lies in values that extensions of it in several files change, so it can't be private.
/// What the compiler does not hold is held here: nobody else changes it.
@Suite("The state of an association")
struct AssociationStateTests {
  /// The stored properties of an association that the whole module could change.
  static func openState(of file: TextFile) -> Set<String> {
    let code = file.code.prefix { $0 != "}" }
    return Set(
      code.compactMap { line in
        guard let match = line.firstMatch(of: /^  (?:@\w+(?:\(\w+\))? )?var (\w+)(?:: [^{]*| = [^{]*)(?:\{ didSet.*)?$/)
        else { return nil }
        return String(match.1)
      })
  }

  /// The names of functions that change the value that they are called on.
  static func mutatingFunctions(in files: [TextFile]) -> Set<String> {
    Set(files.flatMap(\.code).compactMap { $0.firstMatch(of: /mutating func (\w+)/).map { String($0.1) } })
  }

  /// What has properties of the same names.
  private static let others: Set<String> = ["sent", "received", "quotas"]

  /// Places outside of associations at which their state is changed.
  static func changes(of state: Set<String>, by functions: Set<String>, in file: TextFile) -> [String] {
    var isOfAssociation = false
    return file.places { line in
      if let first = line.first, first != " ",
        let match = line.firstMatch(of: /\b(?:struct|enum|class|extension) (\w+)/)
      {
        isOfAssociation = match.1 == "Association"
      }
      if isOfAssociation { return false }
      return line.matches(of: /(\w+)[?)\]]*\.(\w+)[?]?(?:\.(\w+)\(| [-+*&|]?=(?!=))/).contains { match in
        guard state.contains(String(match.2)), !others.contains(String(match.1)) else { return false }
        return match.3.map { functions.contains(String($0)) } ?? true
      }
    }
  }

  @Test("only its own functions change it")
  func onlyItsOwn() throws {
    let files = Repository.sources.filter { $0.module == "PiconetEngine" }
    let association = try #require(files.first { $0.path.hasSuffix("Association/Association.swift") })
    let state = Self.openState(of: association)
    #expect(state.isSuperset(of: ["outbox", "streams", "transfers", "search"]) && state.count < 12, "\(state)")
    let functions = Self.mutatingFunctions(in: files)
    let wrong = files.flatMap { Self.changes(of: state, by: functions, in: $0) }
    #expect(functions.count > 200)
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("a change from elsewhere is found, and a look is not")
  func changeIsFound() {
    let file = TextFile(
      path: "Sources/PiconetEngine/Example.swift",
      text: """
        final class Association {
          @exclusivity(unchecked) var outbox: Outbox
          var search: LinkSearch? { didSet { watch.changed() } }
          private(set) var link: Link?
          var isIdle: Bool { true }
          mutating func append(_ other: Association) { other.outbox.append([]) }
        }
        struct Example {
          func change(_ association: Association, _ other: Association?) {
            association.outbox.append([])
            other?.outbox.append([])
            association.search = nil
            if association.outbox.isEmpty || association.search == nil { outbox.append([]) }
            if association.outbox.contains(1) { return }
          }
        }
        """)
    let state = Self.openState(of: file)
    #expect(state == ["outbox", "search"])
    #expect(Self.changes(of: state, by: Self.mutatingFunctions(in: [file]), in: file).count == 3)
  }
}
