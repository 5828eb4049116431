/// A name without everything in which two names may differ and still look alike: case, width, accents, invisible
/// characters, the encoding of an accented letter, and letters of several scripts or digits with the same shape.
///
/// Coarser than the skeletons of UTS #39, section 4: names that a hasty reader would confuse are equal here, and so are
/// some that no reader would confuse. Use it to show more about two devices, never to take one for the other.
public struct NameSkeleton: Sendable, Hashable {
  /// Compared as Swift compares strings, by canonical equivalence.
  private let text: String

  /// Creates the skeleton of a name.
  public init(_ name: String) {
    var letters = ""
    var isLetterBefore = false
    for scalar in name.unicodeScalars {
      let properties = scalar.properties
      switch properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: continue
      case .nonspacingMark, .enclosingMark:
        // An accent on a letter that does not depend on it; in other scripts marks are parts of letters.
        if isLetterBefore || properties.isDefaultIgnorableCodePoint || properties.isVariationSelector { continue }
        letters.unicodeScalars.append(scalar)
        continue
      case .spaceSeparator:
        isLetterBefore = false
        if letters.last != " " { letters += " " }
        continue
      default: break
      }
      if properties.isDefaultIgnorableCodePoint { continue }
      if let shape = Self.shape(of: scalar) {
        letters += shape
        isLetterBefore = true
      } else {
        isLetterBefore = false
        letters += Self.halfwidth(scalar).map(String.init) ?? properties.lowercaseMapping
      }
    }
    while letters.last == " " { letters.removeLast() }
    while letters.first == " " { letters.removeFirst() }
    for (pair, letter) in [("rn", "m"), ("vv", "w"), ("cl", "d")] { letters = letters.replacing(pair, with: letter) }
    text = letters
  }

  /// Returns the Latin letter that a reader would see; nil for a character that looks like none.
  static func shape(of scalar: Unicode.Scalar) -> String? {
    if let drawn = drawings[scalar] { return drawn }
    if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue {
      return ["o", "l", "2", "3", "4", "5", "6", "7", "8", "9"][Int(value)]
    }
    guard let name = scalar.properties.name else { return nil }
    // "LATIN SMALL LETTER U WITH DIAERESIS", "FULLWIDTH LATIN CAPITAL LETTER A", "MATHEMATICAL BOLD SMALL A".
    var words = name.split(separator: " ")
    if let with = words.firstIndex(of: "WITH") { words.removeSubrange(with...) }
    guard let letter = words.last else { return nil }
    if words.contains("LATIN") || words.first == "MATHEMATICAL" || words.first == "MODIFIER"
      || words.first == "REGIONAL",
      letter.utf8.count == 1
    {
      return folded(letter.lowercased())
    }
    if words.contains("LATIN") { return ligatures[letter] }
    if words.first == "GREEK" || words.contains("MATHEMATICAL") { return greek[letter] }
    if words.first == "CYRILLIC" { return cyrillic[letter] }
    return nil
  }

  /// Folds 1, I, l and |, which are all a single stroke.
  private static func folded(_ letter: String) -> String { letter == "i" ? "l" : letter }

  /// Keyed by shape, not by name.
  private static let drawings: [Unicode.Scalar: String] = [
    "|": "l", "!": "l", "\u{2223}": "l", "\u{FF5C}": "l", "\u{2113}": "l", "\u{0131}": "l", "\u{01C0}": "l",
    "\u{0251}": "a", "\u{0261}": "g", "\u{212A}": "k", "\u{212E}": "e", "\u{00DF}": "b", "\u{00F0}": "o",
    "\u{2024}": ".", "\u{FF0E}": ".", "\u{2019}": "'", "\u{2018}": "'", "\u{00B4}": "'", "`": "'", "\u{FF07}": "'",
    "\u{2010}": "-", "\u{2011}": "-", "\u{2012}": "-", "\u{2013}": "-", "\u{2014}": "-", "\u{2212}": "-",
    "\u{FF0D}": "-",
    "_": "-", "\u{FF3F}": "-",
  ]

  private static let ligatures: [Substring: String] = [
    "FI": "fl", "FL": "fl", "FF": "ff", "DOTLESS": "l", "AE": "ae", "OE": "oe",
  ]

  private static let greek: [Substring: String] = [
    "ALPHA": "a", "BETA": "b", "EPSILON": "e", "ZETA": "z", "ETA": "h", "IOTA": "l", "KAPPA": "k", "MU": "m", "NU": "v",
    "OMICRON": "o", "RHO": "p", "TAU": "t", "UPSILON": "u", "CHI": "x", "SIGMA": "o", "GAMMA": "y", "OMEGA": "w",
  ]

  private static let cyrillic: [Substring: String] = [
    "A": "a", "VE": "b", "IE": "e", "IO": "e", "KA": "k", "EM": "m", "EN": "h", "O": "o", "ER": "p", "ES": "c",
    "TE": "t",
    "U": "y", "HA": "x", "I": "l", "YI": "l", "JE": "j", "DZE": "s", "SHHA": "h", "QA": "q", "WE": "w", "PALOCHKA": "l",
    "DE": "d", "IZHITSA": "v", "SIGN": "b", "ZE": "3", "GHE": "r",
  ]

  /// Returns the fullwidth form of halfwidth Katakana, U+FF65 and following.
  private static func halfwidth(_ scalar: Unicode.Scalar) -> Character? {
    guard (0xFF65...0xFF9D).contains(scalar.value) else { return nil }
    return katakana[Int(scalar.value - 0xFF65)]
  }

  private static let katakana = Array(
    "・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン")
}
