/// A name split where its number goes: `IMG_1`, 2 and `.jpg` of `IMG_1 (2).jpg`.
///
/// The ending is the part after the last dot. Two endings count as one if the second only qualifies the first: that of
/// a sidecar (`photo.jpg.xmp`) and that of a compressed archive (`a.tar.gz`).
package struct NumberedName: Hashable, Sendable {
  /// The name without the number and the ending.
  let stem: String
  /// At least 1; nil if the name has no number.
  let number: Int?
  /// With its dot, or empty.
  let ending: String

  /// The longest ending, in bytes with its dots.
  static let maximumEndingByteCount = 32

  init(_ text: String) {
    let parts = Self.split(text)
    if let (stem, number) = Self.number(of: parts.stem) {
      (self.stem, self.number, ending) = (stem, number, parts.ending)
    } else if let (stem, number) = Self.number(of: text) {
      (self.stem, self.number, ending) = (stem, number, "")
    } else {
      (stem, number, ending) = (parts.stem, nil, parts.ending)
    }
  }

  /// The number from which a further one counts on. A year in a name is not counted on: `Rome (2019).jpg`.
  var countedNumber: Int? { number.flatMap { Self.years.contains($0) ? nil : $0 } }

  private static let years = 1900...2099

  /// The stem, with a number from which a further one does not count on.
  var countedStem: String { countedNumber == nil ? stem + (number.map { " (\($0))" } ?? "") : stem }

  package static func split(_ text: String) -> (stem: String, ending: String) {
    let scalars = text.unicodeScalars
    guard let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
      text[dot...].utf8.count <= maximumEndingByteCount
    else { return (text, "") }
    let before = scalars[..<dot]
    if let first = before.lastIndex(of: "."), first != scalars.startIndex,
      text[first...].utf8.count <= maximumEndingByteCount,
      FileEnding.isOne(String(before[first...]), String(scalars[dot...]))
    {
      return (String(scalars[..<first]), String(scalars[first...]))
    }
    return (String(before), String(scalars[dot...]))
  }

  private static func number(of text: String) -> (stem: String, number: Int)? {
    var stem = text.unicodeScalars[...]
    guard stem.popLast() == ")" else { return nil }
    var digits: [Unicode.Scalar] = []
    while let last = stem.last, ("0"..."9").contains(last), digits.count <= 9 {
      digits.append(last)
      stem.removeLast()
    }
    guard let first = digits.last, first != "0", digits.count <= 9, stem.popLast() == "(", stem.popLast() == " ",
      !stem.isEmpty
    else { return nil }
    return (String(stem), digits.reversed().reduce(0) { $0 * 10 + Int($1.value - 0x30) })
  }
}
