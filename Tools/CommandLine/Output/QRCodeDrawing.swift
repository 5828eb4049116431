import PiconetTerminal

/// A QR code as lines of text, with the light modules that must surround it: half as many lines as it has rows.
struct QRCodeDrawing: Sendable {
  let code: QRCode
  /// Whether it sets the colours itself; otherwise it counts on a dark terminal's.
  let hasColours: Bool

  /// - Throws: `QRCodeFailure`, also if it would not be shown correctly.
  static func lines(
    of text: String, on terminal: TerminalTraits, columns: Int
  ) throws(QRCodeFailure) -> [String] {
    guard terminal.unicode else { throw .notUnicode }
    let code = try QRCode(text)
    let width = code.modules.count + 2 * QRCode.quietZone
    guard width <= columns else { throw .tooNarrow(columns, needed: width) }
    // A terminal's colours are not known, and a code must be dark on light.
    return QRCodeDrawing(code: code, hasColours: terminal.canRedraw).lines
  }

  var lines: [String] {
    let first = -QRCode.quietZone
    let last = code.modules.count + QRCode.quietZone
    return stride(from: first, to: last, by: 2).map { row in
      let line = (first..<last).map { column in
        switch (isLight(row, column), isLight(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }.joined()
      // Bright white on black (ECMA-48, section 8.3.117), whatever the terminal's colours are.
      return hasColours ? "\u{1B}[97;40m\(line)\u{1B}[0m" : line
    }
  }

  private func isLight(_ row: Int, _ column: Int) -> Bool {
    guard code.modules.indices.contains(row), code.modules.indices.contains(column) else { return true }
    return !code.modules[row][column]
  }
}
