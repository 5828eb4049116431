import Testing

/// A user who needs a variable should find it documented; one that no program reads should not be there.
@Suite("The variables of the environment")
struct EnvironmentTests {
  /// Names in quotes, after a dollar sign, or being set: names in C have none of these.
  private static func names(in text: String) -> Set<String> {
    var found: Set<String> = []
    for match in text.matches(of: /["$]\{?(PICONET_[A-Z_]+)|\b(PICONET_[A-Z_]+)=/) {
      if let name = match.output.1 ?? match.output.2 { found.insert(String(name)) }
    }
    return found
  }

  private static func table() throws -> Set<String> {
    let document = try #require(Repository.text("CONTRIBUTING.md")).text
    return Set(document.matches(of: /\n\| `(PICONET_[A-Z_]+)` \|/).map { String($0.output.1) })
  }

  @Test("each that is read or set anywhere is in the table of CONTRIBUTING.md, and no other")
  func tableIsComplete() throws {
    var used: Set<String> = []
    for file in Repository.texts where !file.path.hasSuffix(".md") && !file.path.hasSuffix("EnvironmentTests.swift") {
      used.formUnion(Self.names(in: file.text))
    }
    let table = try Self.table()
    #expect(used.subtracting(table) == [], "they are in no table")
    #expect(table.subtracting(used) == [], "nobody reads them")
  }

  @Test("a name is seen as shells, Swift and Python write it, and a constant of C is none")
  func namesAreSeen() {
    let uses = #"getenv("PICONET_A") ${PICONET_B-} PICONET_C=1 environ["PICONET_D"] $PICONET_E"#
    #expect(Self.names(in: uses).count == 5)
    #expect(Self.names(in: "enum { PICONET_LEAST = 2048 }; x < PICONET_LEAST").isEmpty)
  }
}
