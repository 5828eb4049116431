import Glibc

/// Which of a sender's files a person wants.
enum OfferSelection: Hashable, Sendable {
  case all
  /// Those with these names, as they were announced, and those that a pattern of the shell fits.
  case some(names: Set<String>, patterns: [String])

  struct Problem: Error, Hashable, Sendable {
    /// In words; may contain what was typed.
    let message: String
  }

  /// Reads what a person has typed: numbers of the list, ranges of them and patterns, in any order, with blanks or
  /// commas in between, such as `1-3 7 *.jpg`.
  init(_ line: String, of announced: AnnouncedFiles, shown: Int) throws(Problem) {
    var names: Set<String> = []
    var patterns: [String] = []
    for word in line.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\t" }) {
      if let range = try Self.range(word, atMost: shown) {
        names.formUnion(announced.first[range].map(\.name))
      } else {
        let pattern = String(word)
        let isListed = announced.first.contains { Self.fits($0.name, pattern) }
        // Of those without a name here it may fit one.
        guard isListed || announced.first.count < announced.files || !announced.isWhole else {
          throw Problem(message: "'\(pattern)' fits none of them")
        }
        patterns.append(pattern)
      }
    }
    guard !names.isEmpty || !patterns.isEmpty else { throw Problem(message: "nothing is chosen") }
    self = .some(names: names, patterns: patterns)
  }

  /// nil: it is no number.
  private static func range(_ word: Substring, atMost limit: Int) throws(Problem) -> Range<Int>? {
    let ends = word.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count <= 2, ends.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return nil
    }
    guard let first = Int(ends[0]), let last = Int(ends[ends.count - 1]), first >= 1, first <= last, last <= limit
    else { throw Problem(message: "the numbers are 1 to \(limit)") }
    return (first - 1)..<last
  }

  /// Whether a file of this name, with its folders, is wanted.
  func takes(_ name: String) -> Bool {
    switch self {
    case .all: true
    case .some(let names, let patterns): names.contains(name) || patterns.contains { Self.fits(name, $0) }
    }
  }

  /// How many files and bytes that can be at most: of all that was announced, what is not listed as something else.
  func most(of announced: AnnouncedFiles) -> (files: Int, bytes: Int64) {
    let others = announced.first.filter { !takes($0.name) }
    return (
      announced.files - others.count,
      others.reduce(announced.bytes) { $0.subtractingReportingOverflow($1.bytes).partialValue }
    )
  }

  /// The whole name or its last part, in whatever letters.
  private static func fits(_ name: String, _ pattern: String) -> Bool {
    let last = name.split(separator: "/").last.map(String.init) ?? name
    // FNM_CASEFOLD is GNU's, and not imported.
    let foldsCase: Int32 = 1 << 4
    return [name, last].contains { (text: String) in fnmatch(pattern, text, foldsCase) == 0 }
  }
}
