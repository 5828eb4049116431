/// Pixels: rows from the top, red, green and blue.
struct Picture: Hashable, Sendable {
  let width: Int
  let height: Int
  /// Three for each pixel.
  private(set) var bytes: [UInt8]

  struct Pixel: Hashable, Sendable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    static let black = Pixel(red: 0, green: 0, blue: 0)
  }

  /// - Parameters: at least 1 each.
  init(width: Int, height: Int, filledWith pixel: Pixel = .black) {
    (self.width, self.height) = (width, height)
    bytes = []
    bytes.reserveCapacity(width * height * 3)
    for _ in 0..<(width * height) { bytes += [pixel.red, pixel.green, pixel.blue] }
  }

  subscript(x: Int, y: Int) -> Pixel {
    get {
      let start = 3 * (y * width + x)
      return Pixel(red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2])
    }
    set {
      let start = 3 * (y * width + x)
      (bytes[start], bytes[start + 1], bytes[start + 2]) = (newValue.red, newValue.green, newValue.blue)
    }
  }

  // MARK: To and from piconet-thumbnail

  /// Width and height, two bytes each with the higher one first, and the pixels.
  var encoded: [UInt8] {
    [UInt8(width >> 8 & 0xFF), UInt8(width & 0xFF), UInt8(height >> 8 & 0xFF), UInt8(height & 0xFF)] + bytes
  }

  /// nil where it is not exactly that, or larger than this.
  init?(_ encoded: [UInt8], atMost width: Int, _ height: Int) {
    guard let length = Self.encodedLength(encoded, atMost: width, height), encoded.count == length else { return nil }
    self.width = Int(encoded[0]) << 8 | Int(encoded[1])
    self.height = Int(encoded[2]) << 8 | Int(encoded[3])
    bytes = Array(encoded[4...])
  }

  /// How long something is that begins so; nil if that is not known yet, or it can't be one.
  static func encodedLength(_ start: [UInt8], atMost width: Int, _ height: Int) -> Int? {
    guard start.count >= 4 else { return nil }
    let (columns, rows) = (Int(start[0]) << 8 | Int(start[1]), Int(start[2]) << 8 | Int(start[3]))
    guard (1...width).contains(columns), (1...height).contains(rows) else { return nil }
    return 4 + columns * rows * 3
  }

  // MARK: Other sizes

  /// A part of it, stretched to that size: each pixel the mean of those that it stands for, or the nearest one.
  /// - Parameters:
  ///   - columns: the part, not empty.
  ///   - rows: the same.
  func scaled(_ columns: Range<Int>, _ rows: Range<Int>, to width: Int, _ height: Int) -> Picture {
    var result = Picture(width: width, height: height)
    for y in 0..<height {
      let lines = Self.source(y, of: height, in: rows)
      for x in 0..<width {
        let points = Self.source(x, of: width, in: columns)
        var (red, green, blue) = (0, 0, 0)
        for line in lines {
          for point in points {
            let pixel = self[point, line]
            red += Int(pixel.red)
            green += Int(pixel.green)
            blue += Int(pixel.blue)
          }
        }
        let count = lines.count * points.count
        result[x, y] = Pixel(red: UInt8(red / count), green: UInt8(green / count), blue: UInt8(blue / count))
      }
    }
    return result
  }

  private static func source(_ index: Int, of count: Int, in range: Range<Int>) -> Range<Int> {
    let start = range.lowerBound + index * range.count / count
    return start..<max(start + 1, range.lowerBound + (index + 1) * range.count / count)
  }

  /// Its middle, as a square.
  func square(_ side: Int) -> Picture {
    let part = min(width, height)
    let (left, top) = ((width - part) / 2, (height - part) / 2)
    return scaled(left..<(left + part), top..<(top + part), to: side, side)
  }

  /// Puts another one into it, as far as there is room.
  mutating func place(_ other: Picture, x: Int, y: Int) {
    for row in 0..<max(0, min(other.height, height - y)) {
      for column in 0..<max(0, min(other.width, width - x)) { self[x + column, y + row] = other[column, row] }
    }
  }
}
