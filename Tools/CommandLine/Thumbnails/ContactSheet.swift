import PiconetCalls

/// The first pictures of an offer in one small JPEG: squares side by side, from the left. One picture costs less room
/// in an invitation than several, and a receiver has only one of a peer's to decode.
struct ContactSheet: Hashable, Sendable {
  /// Which of the named files they show, counted from 0 and ascending.
  let places: [Int]
  let jpeg: [UInt8]

  static let pictureLimit = 5
  /// The length of a square's sides in pixels.
  static let side = 64
  /// What the JPEG may have: half of an invitation's context, as text.
  static let byteLimit = 3_072
  /// Only pictures of the first files are shown.
  static let fileLimit = 40

  /// nil for what no sheet can be.
  init?(places: [Int], jpeg: [UInt8]) {
    guard (1...Self.pictureLimit).contains(places.count), (1...Self.byteLimit).contains(jpeg.count),
      places.allSatisfy((0..<Self.fileLimit).contains), zip(places, places.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    (self.places, self.jpeg) = (places, jpeg)
  }

  // MARK: In an announcement

  private static let mark = "sheet="

  /// A word: `sheet=1,2,5:` and the JPEG in base64. Files are counted from 1.
  var word: String {
    Self.mark + places.map { "\($0 + 1)" }.joined(separator: ",") + ":"
      + String(decoding: Base64Text.padded.encode(jpeg), as: UTF8.self)
  }

  /// Reads a word; nil if it is not a sheet.
  init?(word: Substring) {
    guard word.hasPrefix(Self.mark) else { return nil }
    let rest = word.dropFirst(Self.mark.count).utf8
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let text = rest[rest.index(after: colon)...]
    guard text.count <= (Self.byteLimit + 2) / 3 * 4, let jpeg = Base64Text.padded.decode(text) else { return nil }
    var places: [Int] = []
    for number in rest[..<colon].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard places.count < Self.pictureLimit, (1...2).contains(number.count),
        number.allSatisfy({ (0x30...0x39).contains($0) }), number.first != 0x30, let value = Int(Substring(number))
      else { return nil }
      places.append(value - 1)
    }
    self.init(places: places, jpeg: jpeg)
  }

  // MARK: As pixels

  /// The squares side by side.
  /// - Parameter pictures: at least one.
  static func joined(_ pictures: [Picture]) -> Picture {
    var sheet = Picture(width: pictures.count * side, height: side)
    for (index, picture) in pictures.enumerated() { sheet.place(picture.square(side), x: index * side, y: 0) }
    return sheet
  }

  /// What the JPEG shows; nil if it has not the size that goes with the number of files.
  func squares(_ decoded: Picture) -> [Picture]? {
    guard decoded.width == places.count * Self.side, decoded.height == Self.side else { return nil }
    return places.indices.map { index in
      let left = index * Self.side
      return decoded.scaled(left..<(left + Self.side), 0..<Self.side, to: Self.side, Self.side)
    }
  }
}
