/// A name without the differences between ways of typing it: letter case, Unicode form, width, and the forms of spaces,
/// apostrophes and dashes. It only suggests which peer is meant; only keys prove identity.
package struct FoldedName: Hashable, Sendable {
  /// Compared as Swift compares strings, by canonical equivalence.
  package let text: String

  package init(_ name: String) {
    var letters = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let plain = Self.plain(scalar)
      if plain != " " || letters.last.map({ $0 != " " }) ?? false { letters.append(plain) }
    }
    if letters.last == " " { letters.removeLast() }
    // In both directions: characters like "ß" or "ﬁ" become several letters in the other case.
    text = String(letters).uppercased().lowercased()
  }

  /// Its letters without accents and spaces, as typed by a person who looks for it.
  package var baseLetters: [Character] {
    text.unicodeScalars.filter { !$0.properties.isWhitespace }.compactMap(Self.base)
  }

  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    // Fullwidth forms of ASCII.
    case 0xFF01...0xFF5E: Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    case 0x2018, 0x2019, 0x02BC, 0x00B4, 0x0060: "'"
    case 0x2010...0x2015, 0x2212: "-"
    default: scalar.properties.generalCategory == .spaceSeparator ? " " : scalar
    }
  }

  /// nil for a mark on a letter.
  private static func base(_ scalar: Unicode.Scalar) -> Character? {
    let properties = scalar.properties
    if properties.generalCategory == .nonspacingMark { return nil }
    // "LATIN SMALL LETTER U WITH DIAERESIS"
    guard !scalar.isASCII, let words = properties.name?.split(separator: " "), words.first == "LATIN",
      let with = words.firstIndex(of: "WITH"), let letter = words[..<with].last, letter.count == 1
    else { return Character(scalar) }
    return letter.lowercased().first
  }
}
