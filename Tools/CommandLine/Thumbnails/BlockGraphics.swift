/// Pictures of block characters: the upper half of each is one pixel, the lower half the one below it.
enum BlockGraphics {
  /// A line for each two rows. The picture's height is even.
  /// - Parameter isFull: whether colours have 24 bits; otherwise they are those of xterm's 256.
  static func lines(of picture: Picture, isFull: Bool) -> [String] {
    stride(from: 0, to: picture.height - 1, by: 2).map { y in
      var line = ""
      var (upper, lower) = ("", "")
      for x in 0..<picture.width {
        let (front, back) = (colour(picture[x, y], isFull), colour(picture[x, y + 1], isFull))
        var changes: [String] = []
        if front != upper { changes.append("38;\(front)") }
        if back != lower { changes.append("48;\(back)") }
        if !changes.isEmpty { line += "\u{1B}[\(changes.joined(separator: ";"))m" }
        (upper, lower) = (front, back)
        line += "\u{2580}"
      }
      return line + "\u{1B}[0m"
    }
  }

  private static func colour(_ pixel: Picture.Pixel, _ isFull: Bool) -> String {
    isFull ? "2;\(pixel.red);\(pixel.green);\(pixel.blue)" : "5;\(index(of: pixel))"
  }

  /// xterm's 256 colours: after 16 that people change a cube of 216, and 24 greys.
  private static func index(of pixel: Picture.Pixel) -> Int {
    let parts = [pixel.red, pixel.green, pixel.blue].map(Int.init)
    let steps = parts.map { part in levels.indices.min { abs(levels[$0] - part) < abs(levels[$1] - part) } ?? 0 }
    let grey = min(23, max(0, (parts.reduce(0, +) / 3 - 3) / 10))
    func distance(_ other: [Int]) -> Int { zip(parts, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
    let inCube = distance(steps.map { levels[$0] })
    let inGreys = distance(Array(repeating: 8 + 10 * grey, count: 3))
    return inGreys < inCube ? 232 + grey : 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
  }

  private static let levels = [0, 95, 135, 175, 215, 255]
}
