import PiconetTerminal

/// The names in sight that a person who typed a different one may mean.
enum NearNames {
  /// More would be no help.
  static let mostTold = 3
  /// A device can have any name, and any number of them.
  static let mostLookedAt = 100

  /// The nearest, best first: names that differ only in accents and spaces, that begin with it or have a word that
  /// does, or that differ by one letter in four.
  static func near(_ typed: String, among names: [String]) -> [String] {
    let wanted = FoldedName(typed)
    let ranked = names.prefix(mostLookedAt).enumerated().compactMap { place, name in
      rank(wanted, FoldedName(name)).map { (rank: $0, place: place, name: name) }
    }
    return ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.prefix(mostTold).map(\.name)
  }

  /// Returns the rank; less is nearer; nil: not near.
  private static func rank(_ wanted: FoldedName, _ name: FoldedName) -> Int? {
    let (typed, letters) = (wanted.baseLetters, name.baseLetters)
    guard !typed.isEmpty, !letters.isEmpty else { return nil }
    if typed == letters { return 0 }
    let distance = EditDistance.between(typed, letters)
    if distance <= slips(in: min(typed.count, letters.count)) { return distance }
    if typed.count > 1, letters.starts(with: typed) { return 10 }
    return hasWords(wanted, name) ? 20 : nil
  }

  /// How many typing errors are allowed in a name with this many letters.
  private static func slips(in letters: Int) -> Int { letters < 3 ? 0 : (letters + 1) / 4 + (letters < 7 ? 0 : 1) }

  /// Whether each word of one is the beginning of a word of the other: "room" and "Living room", "kitchen tablet" and
  /// "Kitchen".
  private static func hasWords(_ one: FoldedName, _ other: FoldedName) -> Bool {
    func words(_ name: FoldedName) -> [[Character]] {
      name.text.split { !$0.isLetter && !$0.isNumber }.map { FoldedName(String($0)).baseLetters }
    }
    func covers(_ few: [[Character]], _ many: [[Character]]) -> Bool {
      few.contains { $0.count > 2 } && few.allSatisfy { word in many.contains { $0.starts(with: word) } }
    }
    let (few, many) = (words(one), words(other))
    return covers(few, many) || covers(many, few)
  }
}
