extension SafeFileName {
  /// The longest extension that keeps its place after the number, in bytes with its dot.
  static let maximumExtensionByteCount = 32

  /// "photo.jpg" with 2 gives "photo (2).jpg".
  ///
  /// The extension is what follows the last dot ("archive.tar.gz" becomes "archive.tar (2).gz"). The stem is shortened
  /// by whole characters if the name would be longer than `maximumByteCount`.
  public func numbered(_ number: Int) -> SafeFileName {
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
    let room = Self.maximumByteCount - ending.utf8.count
    return SafeFileName(unchecked: Self.prefix(of: String(stem), fitting: room) + ending)
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
