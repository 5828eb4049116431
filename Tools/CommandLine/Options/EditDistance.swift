/// How far two words are apart.
enum EditDistance {
  /// The least number of letters that must be inserted, removed, replaced, or swapped with the next one, each at most
  /// once per place (optimal string alignment).
  static func between(_ one: [Character], _ other: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (row, letter) in one.enumerated() {
      var current = [row + 1]
      for (column, candidate) in other.enumerated() {
        var least = min(last[column] + (letter == candidate ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == other[column - 1], one[row - 1] == candidate {
          least = min(least, before[column - 1] + 1)
        }
        current.append(least)
      }
      (before, last) = (last, current)
    }
    return last[other.count]
  }
}
