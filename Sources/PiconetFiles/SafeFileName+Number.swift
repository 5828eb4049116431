extension SafeFileName {
  /// The longest extension that keeps its place after the number, in bytes with its dot.
  static let maximumExtensionByteCount = 32

  /// What is left at least of a stem that is shortened: any single scalar fits.
  private static let leastStemByteCount = 4

  /// "photo.jpg" with 2 gives "photo (2).jpg".
  ///
  /// The extension is what follows the last dot ("archive.tar.gz" becomes "archive.tar (2).gz"). The stem is shortened
  /// by whole characters if the name would be longer than `maximumByteCount`.
  public func numbered(_ number: Int) -> SafeFileName { numbered(number, fitting: Self.maximumByteCount) }

  /// As `numbered(_:)`, not longer than so many bytes as long as something of the stem is left.
  func numbered(_ number: Int, fitting limit: Int) -> SafeFileName {
    let scalars = text.unicodeScalars
    var stem = scalars[...]
    var tail = scalars[scalars.endIndex...]
    if let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
      scalars[dot...].reduce(0, { $0 + UTF8.width($1) }) <= Self.maximumExtensionByteCount
    {
      stem = scalars[..<dot]
      tail = scalars[dot...]
    }
    let ending = " (\(number))" + String(tail)
    // A disk that takes hardly more than the ending refuses the name itself.
    let room = max(limit - ending.utf8.count, Self.leastStemByteCount)
    return SafeFileName(unchecked: Self.prefix(of: String(stem), fitting: room) + ending)
  }

  /// The name without the number, from 2, that `numbered` may have given it; nil if it has none.
  public var withoutNumber: SafeFileName? {
    let scalars = text.unicodeScalars
    var tail = scalars[scalars.endIndex...]
    if let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex, scalars[..<dot].last == ")" {
      tail = scalars[dot...]
    }
    var stem = scalars[..<tail.startIndex]
    guard stem.popLast() == ")" else { return nil }
    var digits: [Unicode.Scalar] = []
    while let last = stem.last, ("0"..."9").contains(last), digits.count <= 9 {
      digits.append(last)
      stem.removeLast()
    }
    guard let first = digits.last, first != "0", digits != ["1"], digits.count <= 9, stem.popLast() == "(",
      stem.popLast() == " "
    else { return nil }
    // What is left may be nothing, or end with a space.
    return try? SafeFileName(String(stem) + String(tail))
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
