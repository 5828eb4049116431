/// Pictures for terminals with DEC's sixels (VT330/VT340 Programmer Reference Manual, volume 2, chapter 14): rows of
/// six lines, and for each colour in one which of the six have it.
enum SixelGraphics {
  /// Steps of red, green and blue: 216 colours, as such terminals have 256.
  private static let steps = 6

  /// Shows a picture at the cursor, in its own pixels.
  static func text(of picture: Picture) -> String {
    var text = "\u{1B}P0;1q\"1;1;\(picture.width);\(picture.height)"
    let colours = (0..<picture.height).map { y in (0..<picture.width).map { colour(of: picture[$0, y]) } }
    for colour in Set(colours.joined()).sorted() {
      let parts = [colour / steps / steps, colour / steps % steps, colour % steps].map { "\($0 * 100 / (steps - 1))" }
      text += "#\(colour);2;\(parts.joined(separator: ";"))"
    }
    for top in stride(from: 0, to: picture.height, by: 6) {
      let lines = colours[top..<min(top + 6, picture.height)]
      let layers = Set(lines.joined()).sorted().map { colour in "#\(colour)" + layer(colour, lines, picture.width) }
      text += layers.joined(separator: "$") + "-"
    }
    return text + "\u{1B}\\"
  }

  private static func colour(of pixel: Picture.Pixel) -> Int {
    func step(_ value: UInt8) -> Int { (Int(value) * (steps - 1) + 127) / 255 }
    return (step(pixel.red) * steps + step(pixel.green)) * steps + step(pixel.blue)
  }

  /// What one colour has of six lines.
  private static func layer(_ colour: Int, _ lines: ArraySlice<[Int]>, _ width: Int) -> String {
    var text = ""
    var (last, count) = (0, 0)
    func run() -> String {
      let character = String(UnicodeScalar(UInt8(63 + last)))
      return count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
    }
    for x in 0..<width {
      let bits = lines.enumerated().reduce(0) { $0 | ($1.element[x] == colour ? 1 << $1.offset : 0) }
      if bits != last {
        text += run()
        (last, count) = (bits, 0)
      }
      count += 1
    }
    // What is empty at the end need not be said.
    return last == 0 ? text : text + run()
  }
}
