/// Noughts and crosses: only the rules, not who plays or how moves arrive.
struct Board {
  enum Mark: Character { case cross = "X", nought = "O" }

  private static let lines = [
    [0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6],
  ]
  private var marks = [Mark?](repeating: nil, count: 9)

  var turn: Mark { marks.count { $0 != nil } % 2 == 0 ? .cross : .nought }

  var winner: Mark? {
    Self.lines.lazy.map { $0.map { marks[$0] } }.first { $0[0] != nil && Set($0).count == 1 }?[0]
  }

  var isOver: Bool { winner != nil || !marks.contains(nil) }

  /// False for a move that the rules do not allow. Squares are 1 to 9, by lines.
  mutating func put(_ mark: Mark, on square: Int) -> Bool {
    guard (1...9).contains(square), !isOver, turn == mark, marks[square - 1] == nil else { return false }
    marks[square - 1] = mark
    return true
  }

  var text: String {
    let squares = marks.enumerated().map { number, mark in mark?.rawValue ?? Character("\(number + 1)") }
    return (0..<3).map { String(squares[($0 * 3)...].prefix(3)) }.joined(separator: "\n")
  }
}
