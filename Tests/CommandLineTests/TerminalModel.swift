@testable import PiconetTerminal

/// What a terminal in a window shows of what is written to it, with what has scrolled off, and how that changes with
/// the window's size: as far as the programs need it, and no further.
struct TerminalModel {
  private struct Row {
    var cells: [Character] = []
    /// Whether the next row goes on with the same line.
    var goesOn = false

    var text: String { String(cells.reversed().drop { $0 == " " }.reversed()) }

    mutating func put(_ character: Character, at column: Int) {
      while cells.count <= column { cells.append(" ") }
      cells[column] = character
    }
  }

  private struct Screen {
    /// With what has scrolled off.
    var rows = [Row()]
    /// The first that is shown.
    var top = 0
    var row = 0
    var column = 0
    /// The last column was written, and the next character goes to the next row.
    var isFull = false

    mutating func show(_ row: Int) {
      while rows.count <= row { rows.append(Row()) }
      self.row = row
    }
  }

  private(set) var columns: Int
  private(set) var rows: Int
  /// Whether lines are wrapped anew when the window gets another width, as most terminals do it, and not xterm.
  let reflows: Bool
  private var screen = Screen()
  /// The first screen, while the other one is shown.
  private var first: Screen?
  private var wraps = true
  /// A sequence that is not over.
  private var sequence: String?

  init(columns: Int, rows: Int, reflows: Bool) { (self.columns, self.rows, self.reflows) = (columns, rows, reflows) }

  /// All lines, as a person who scrolls back reads them, without those that are empty.
  var lines: [String] {
    var lines = [""]
    for row in (first ?? screen).rows {
      lines[lines.count - 1] += row.goesOn ? String(row.cells) : row.text
      if !row.goesOn { lines.append("") }
    }
    return lines.filter { !$0.isEmpty }
  }

  /// The rows that are shown.
  var shown: [String] { screen.rows[screen.top...].map(\.text) }

  // MARK: What is written

  mutating func write(_ text: String) {
    for scalar in text.unicodeScalars {
      if sequence != nil {
        sequence?.unicodeScalars.append(scalar)
        let isOver = scalar.value >= 0x40 && scalar != "[" && scalar.value < 0x7F
        if isOver, let whole = sequence {
          sequence = nil
          control(whole)
        }
        continue
      }
      switch scalar {
      case "\u{1B}": sequence = ""
      case "\r": (screen.column, screen.isFull) = (0, false)
      case "\n": lineFeed()
      case "\u{07}": break
      default: put(Character(scalar))
      }
    }
  }

  private mutating func put(_ character: Character) {
    if screen.isFull, wraps {
      screen.rows[screen.row].goesOn = true
      lineFeed()
      screen.column = 0
    }
    screen.isFull = false
    screen.rows[screen.row].put(character, at: screen.column)
    if screen.column < columns - 1 { screen.column += 1 } else { screen.isFull = true }
  }

  private mutating func lineFeed() {
    screen.isFull = false
    screen.show(screen.row + 1)
    screen.top = max(screen.top, screen.row - rows + 1)
  }

  private mutating func control(_ sequence: String) {
    let number = Int(sequence.filter(\.isNumber)) ?? 0
    switch (sequence.last, sequence.contains("?")) {
    case ("A", false): screen.row = max(screen.top, screen.row - max(1, number))
    case ("H", false): (screen.row, screen.column) = (screen.top, 0)
    case ("K", false):
      screen.rows[screen.row].cells.removeSubrange(min(screen.column, screen.rows[screen.row].cells.count)...)
      screen.rows[screen.row].goesOn = false
    case ("J", false):
      if number == 2 {
        screen.rows = screen.rows[..<screen.top] + Array(repeating: Row(), count: screen.row - screen.top + 1)
      } else {
        control("[K")
        screen.rows.removeSubrange((screen.row + 1)...)
      }
    case ("h", true) where number == 7: wraps = true
    case ("l", true) where number == 7: wraps = false
    case ("h", true) where number == 1049 && first == nil: (first, screen) = (screen, Screen())
    case ("l", true) where number == 1049:
      screen = first ?? screen
      first = nil
    case ("m", false), ("h", true), ("l", true): return
    default: preconditionFailure("not modelled: \(sequence)")
    }
    screen.isFull = false
  }

  // MARK: Another size

  mutating func resize(columns: Int, rows: Int) {
    (self.columns, self.rows) = (columns, rows)
    // No terminal wraps the other screen, which its program draws anew.
    fit(&screen, wrapped: reflows && first == nil)
    if var first {
      fit(&first, wrapped: reflows)
      self.first = first
    }
  }

  private func fit(_ screen: inout Screen, wrapped: Bool) {
    if wrapped {
      wrap(&screen)
      // Rows come back that had scrolled off, if there is room.
      screen.top = max(0, screen.rows.count - rows)
    } else {
      for index in screen.rows.indices[screen.top...] {
        screen.rows[index].cells.removeSubrange(min(columns, screen.rows[index].cells.count)...)
      }
    }
    screen.column = min(screen.column, columns - 1)
    screen.isFull = false
    // What is below the cursor goes first, then what is at the top.
    screen.top = min(max(screen.top, screen.row - rows + 1), screen.row)
    let end = screen.top + rows
    if screen.rows.count > end { screen.rows.removeSubrange(end...) }
  }

  private func wrap(_ screen: inout Screen) {
    var wrapped: [Row] = []
    var cursor = (row: 0, column: 0)
    var line: [Character] = []
    var place: Int?
    for (index, row) in screen.rows.enumerated() {
      if index == screen.row { place = line.count + screen.column + (screen.isFull ? 1 : 0) }
      line += row.cells
      if row.goesOn { continue }
      let start = wrapped.count
      if let place {
        cursor = (start + place / columns, place % columns)
        while line.count < place { line.append(" ") }
      }
      var rest = line[...]
      repeat {
        wrapped.append(Row(cells: Array(rest.prefix(columns)), goesOn: rest.count > columns))
        rest = rest.dropFirst(columns)
      } while !rest.isEmpty
      while place != nil, wrapped.count <= cursor.row {
        wrapped[wrapped.count - 1].goesOn = true
        wrapped.append(Row())
      }
      (line, place) = ([], nil)
    }
    (screen.rows, screen.row, screen.column) = (wrapped, cursor.row, cursor.column)
  }
}
