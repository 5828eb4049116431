extension SafeFileName {
  /// The smallest rest of a shortened stem: any single scalar fits.
  private static let leastStemByteCount = 4

  /// Returns the name with a number: "photo.jpg" with 2 gives "photo (2).jpg", and so does "photo (1).jpg".
  ///
  /// The number goes before the ending (`NumberedName`): "a.tar.gz" becomes "a (2).tar.gz", and "photo.jpg.xmp" becomes
  /// "photo (2).jpg.xmp". The stem is shortened by whole characters if the name would be longer than
  /// `maximumByteCount`.
  public func numbered(_ number: Int) -> SafeFileName { numbered(number, fitting: Self.maximumByteCount) }

  /// Returns the name as `numbered(_:)` does, not longer than `limit` bytes as long as a part of the stem is left.
  func numbered(_ number: Int, fitting limit: Int) -> SafeFileName {
    let parts = NumberedName(text)
    return joined(parts.countedStem, number, parts.ending, limit)
  }

  /// The number from which this name counts on; 1 if it has none.
  var firstNumber: Int { NumberedName(text).countedNumber ?? 1 }

  /// Returns the name as former versions numbered it: before the last extension, behind an existing number. Nil if that
  /// is the same name.
  func formerlyNumbered(_ number: Int, fitting limit: Int) -> SafeFileName? {
    let scalars = text.unicodeScalars
    var (stem, tail) = (text, "")
    if let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
      text[dot...].utf8.count <= NumberedName.maximumEndingByteCount
    {
      (stem, tail) = (String(scalars[..<dot]), String(scalars[dot...]))
    }
    let parts = NumberedName(text)
    return stem == parts.countedStem ? nil : joined(stem, number, tail, limit)
  }

  private func joined(_ stem: String, _ number: Int, _ tail: String, _ limit: Int) -> SafeFileName {
    let ending = " (\(number))" + tail
    // A disk that takes hardly more than the ending refuses the name itself.
    let room = max(limit - ending.utf8.count, Self.leastStemByteCount)
    return SafeFileName(unchecked: Self.prefix(of: stem, fitting: room) + ending)
  }

  /// The name without the number, from 2, that `numbered` may have given it; nil if it has no such number.
  public var withoutNumber: SafeFileName? {
    let parts = NumberedName(text)
    guard let number = parts.number, number > 1 else { return nil }
    // The rest may end with a space.
    return try? SafeFileName(parts.stem + parts.ending)
  }

  private static func prefix(of stem: String, fitting room: Int) -> String {
    var shortened = stem
    while shortened.utf8.count > room, !shortened.isEmpty { shortened.removeLast() }
    guard shortened.isEmpty else { return shortened }
    // A single character may be longer than the room: a letter with a hundred combining marks.
    var scalars = stem.unicodeScalars
    while String(scalars).utf8.count > room, !scalars.isEmpty { scalars.removeLast() }
    return String(scalars)
  }
}
