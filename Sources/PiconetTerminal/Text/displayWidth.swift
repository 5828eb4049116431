/// The columns of a terminal that `text` takes. It does not use wcwidth(3), whose answer depends on the locale. East
/// Asian wide and fullwidth characters (UAX #11) and emoji take two, marks and joiners none.
package func displayWidth(_ text: String) -> Int { text.reduce(0) { $0 + displayWidth(of: $1) } }

/// The columns of one grapheme cluster: those of its widest scalar.
package func displayWidth(of character: Character) -> Int {
  if let ascii = character.asciiValue { return ascii >= 0x20 && ascii < 0x7F ? 1 : 0 }
  var width = 0
  for scalar in character.unicodeScalars {
    // U+FE0F asks for the emoji form of a character that is otherwise text.
    width = max(width, scalar == "\u{FE0F}" ? 2 : displayWidth(of: scalar))
  }
  return width
}

private func displayWidth(of scalar: Unicode.Scalar) -> Int {
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format, .control: return 0
  default: break
  }
  if scalar.properties.isEmojiPresentation { return 2 }
  return wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
}

/// Wide and fullwidth blocks of EastAsianWidth.txt; single unassigned points within them are counted as wide.
private let wideRanges: [ClosedRange<UInt32>] = [
  0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
  0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
  0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
  0x20000...0x3FFFD,
]

/// `text` in at most `columns` columns; it is cut in the middle, with an ellipsis, so that a file name's extension
/// stays.
package func shortened(_ text: String, toColumns columns: Int, unicode: Bool = true) -> String {
  guard displayWidth(text) > columns else { return text }
  let ellipsis = unicode ? "…" : "..."
  let room = columns - displayWidth(ellipsis)
  guard room > 0 else { return String(repeating: ".", count: max(0, columns)) }
  let tail = prefix(text.reversed(), columns: room / 2)
  let head = prefix(text, columns: room - tail.reduce(0) { $0 + displayWidth(of: $1) })
  return String(head) + ellipsis + String(tail.reversed())
}

/// `text` in lines of at most `columns` columns, broken at spaces; those after the first are indented. Text without
/// spaces is left to the terminal.
package func wrapped(_ text: String, toColumns columns: Int) -> [String] {
  let indent = String(text.prefix { $0 == " " })
  var lines = [indent]
  var used = indent.count
  for word in text.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
    let width = displayWidth(String(word))
    if used == indent.count, lines.count == 1 {
      lines[0] += word
    } else if used + 1 + width <= columns {
      lines[lines.count - 1] += " " + word
      used += 1
    } else {
      lines.append(indent + "  " + word)
      used = indent.count + 2
    }
    used += width
  }
  return lines
}

private func prefix(_ characters: some Sequence<Character>, columns: Int) -> [Character] {
  var used = 0
  var result: [Character] = []
  for character in characters {
    used += displayWidth(of: character)
    if used > columns { break }
    result.append(character)
  }
  return result
}
