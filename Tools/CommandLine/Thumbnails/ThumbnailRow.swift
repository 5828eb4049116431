import PiconetTerminal

/// Squares side by side on a terminal, and the name of each file below its own. Pure.
struct ThumbnailRow: Sendable {
  /// As many as there is room for.
  let squares: [Picture]
  let names: [String]
  /// What each has, with the gap behind it.
  let cell: Int

  static let indent = "  "
  private static let gap = 1
  private static let widest = 16
  private static let narrowest = 8
  /// Pixels between squares where pixels are shown.
  private static let gapPixels = 4
  /// What a column has at least on most terminals; sixels are pixels of the screen.
  private static let columnPixels = 8

  /// nil if there is no room for one.
  /// - Parameters:
  ///   - names: of the files, as many as squares, safe to show.
  ///   - columns: of the terminal.
  init?(_ squares: [Picture], names: [String], columns: Int) {
    // The last column stays free: some terminals break the line there.
    let room = columns - 1 - Self.indent.count + Self.gap
    let count = min(squares.count, room / (Self.narrowest + Self.gap))
    guard count > 0, names.count == squares.count else { return nil }
    self.squares = Array(squares.prefix(count))
    self.names = Array(names.prefix(count))
    cell = min(Self.widest + Self.gap, room / count)
  }

  /// The columns and rows of a square: a character is about twice as high as it is wide.
  private var squareColumns: Int { cell - Self.gap }
  private var squareRows: Int { squareColumns / 2 }

  /// Lines for the terminal.
  /// - Parameter unicode: whether names are cut with an ellipsis.
  func lines(_ form: ThumbnailForm, unicode: Bool) -> [String] {
    switch form {
    case .kitty:
      return [Self.indent + KittyGraphics.text(of: strip, columns: columns, rows: squareRows), label(unicode)]
    case .sixel:
      let picture = strip(side: squareColumns * Self.columnPixels)
      return [Self.indent + SixelGraphics.text(of: picture), list(unicode)]
    case .symbols(let isFull):
      let (width, height) = (squareColumns, squareRows * 2)
      let parts = squares.map { square in
        BlockGraphics.lines(
          of: square.scaled(0..<square.width, 0..<square.height, to: width, height), isFull: isFull)
      }
      let gap = String(repeating: " ", count: Self.gap)
      return (0..<squareRows).map { row in Self.indent + parts.map { $0[row] }.joined(separator: gap) }
        + [label(unicode)]
    }
  }

  /// The lines around what another program has drawn.
  func lines(drawn: [String], unicode: Bool, isAligned: Bool) -> [String] {
    drawn.map { Self.indent + $0 } + [isAligned ? label(unicode) : list(unicode)]
  }

  /// The columns of all squares.
  var columns: Int { squares.count * cell - Self.gap }
  /// Their rows.
  var rows: Int { squareRows }

  /// The squares as one picture.
  var strip: Picture { strip(side: ContactSheet.side) }

  private func strip(side: Int) -> Picture {
    var strip = Picture(width: squares.count * (side + Self.gapPixels) - Self.gapPixels, height: side)
    for (index, square) in squares.enumerated() {
      let scaled = square.scaled(0..<square.width, 0..<square.height, to: side, side)
      strip.place(scaled, x: index * (side + Self.gapPixels), y: 0)
    }
    return strip
  }

  private func label(_ unicode: Bool) -> String {
    let parts = names.map { name -> String in
      let short = shortened(name, toColumns: squareColumns, unicode: unicode)
      return short + String(repeating: " ", count: max(0, cell - displayWidth(short)))
    }
    var line = Self.indent + parts.joined()
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Where it isn't known how wide the squares are shown.
  private func list(_ unicode: Bool) -> String {
    Self.indent
      + names.map { shortened($0, toColumns: max(4, squareColumns - 1), unicode: unicode) }.joined(separator: ", ")
  }
}
