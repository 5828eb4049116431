/// Fits names into few columns so that they remain distinguishable.
enum NamesApart {
  /// How many times names that became the same are tried again.
  private static let rounds = 8

  /// Returns each name in at most `columns` columns; different ones stay different as far as there is room. They are
  /// cut, with an ellipsis, in the middle, unless a name differs from another one there.
  static func fitted(_ names: [String], toColumns columns: Int, unicode: Bool) -> [String] {
    var result = names.map { shortened($0, toColumns: columns, unicode: unicode) }
    for _ in 0..<rounds {
      let alike = Dictionary(grouping: names.indices) { result[$0] }.values
        .filter { group in Set(group.map { names[$0] }).count > 1 }
      if alike.isEmpty { break }
      for group in alike {
        let start = commonStart(group.map { names[$0] })
        for index in group {
          result[index] = showing(start, of: Array(names[index]), columns: columns, unicode: unicode)
        }
      }
    }
    return result
  }

  /// Returns the number of characters with which all of them begin.
  private static func commonStart(_ names: [String]) -> Int {
    guard let first = names.first else { return 0 }
    return names.dropFirst().reduce(first.count) { least, name in
      min(least, zip(first, name).prefix { $0 == $1 }.count)
    }
  }

  /// Returns the beginning of a name, and the text around its character number `place`.
  private static func showing(_ place: Int, of name: [Character], columns: Int, unicode: Bool) -> String {
    let ellipsis = unicode ? "…" : "..."
    let room = columns - 2 * displayWidth(ellipsis)
    guard room > 1 else { return shortened(String(name), toColumns: columns, unicode: unicode) }
    let head = beginning(of: name[...], columns: room / 3)
    let from = max(head.count, place - room / 4)
    let rest = name[min(from, name.count)...]
    let gap = from > head.count ? ellipsis : ""
    let left = columns - displayWidth(String(head) + gap)
    if displayWidth(String(rest)) <= left { return String(head) + gap + String(rest) }
    return String(head) + gap + String(beginning(of: rest, columns: left - displayWidth(ellipsis))) + ellipsis
  }

  private static func beginning(of characters: ArraySlice<Character>, columns: Int) -> ArraySlice<Character> {
    var used = 0
    return characters.prefix { character in
      used += displayWidth(of: character)
      return used <= columns
    }
  }
}
