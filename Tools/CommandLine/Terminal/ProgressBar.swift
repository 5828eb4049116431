/// One file's progress as one line. Pure: what is shown is a function of these values.
struct ProgressBar: Hashable, Sendable {
  /// As it came; it is made safe here.
  var name: String
  /// Bytes.
  var done: Int64
  /// Bytes; 0 for an empty file.
  var total: Int64
  var bytesPerSecond: Double?
  var timeLeft: Duration?

  /// The name gets no more than this, so that bars below one another look alike.
  private static let nameColumns = 28
  private static let narrowestName = 8
  private static let narrowestBar = 8
  private static let widestBar = 40

  /// - Parameters:
  ///   - columns: the terminal's width. The line stays one short of it: writing into the last column makes some
  ///     terminals wrap.
  ///   - unicode: whether the terminal shows more than ASCII.
  func line(columns: Int, unicode: Bool) -> String {
    let room = max(0, columns - 1)
    let figures = self.figures()
    // What matters least goes first: the bar, then the time and the rate; name and percentage stay.
    for (tail, bar) in [(figures, Self.narrowestBar), (figures, 0), (Array(figures.prefix(1)), 0)] {
      let text = tail.joined(separator: "  ")
      let fixed = displayWidth(text) + 2 + (bar > 0 ? bar + 2 : 0)
      guard room >= fixed + Self.narrowestName else { continue }
      let nameColumns = min(Self.nameColumns, room - fixed)
      var line = padded(name: nameColumns, unicode: unicode) + "  "
      if bar > 0 {
        let columns = min(Self.widestBar, room - nameColumns - displayWidth(text) - 4)
        line += self.bar(columns: columns, unicode: unicode) + "  "
      }
      return line + text
    }
    return shortened(figures.first ?? "", toColumns: room, unicode: unicode)
  }

  /// From the most to the least important.
  private func figures() -> [String] {
    var result = [aligned("\(percent)%", 4)]
    if let bytesPerSecond, bytesPerSecond.isFinite, bytesPerSecond < 1e18 {
      result.append(aligned(HumanFigures.bytes(Int64(max(0, bytesPerSecond))) + "/s", 8))
      if let timeLeft, done < total { result.append(aligned(HumanFigures.time(timeLeft), 5) + " left") }
    }
    return result
  }

  /// Of what is done; 100 only when all of it is.
  private var percent: Int {
    guard total > 0, done < total else { return 100 }
    return Int(Double(max(0, done)) / Double(total) * 100)
  }

  private func bar(columns: Int, unicode: Bool) -> String {
    let fraction = total > 0 ? min(1, Double(max(0, done)) / Double(total)) : 1
    if unicode {
      let halves = Int(fraction * Double(columns * 2))
      let bar = String(repeating: "━", count: halves / 2) + (halves.isMultiple(of: 2) ? "" : "╸")
      return bar + String(repeating: "·", count: columns - (halves + 1) / 2)
    }
    let filled = Int(fraction * Double(columns - 2))
    let head = filled > 0 && filled < columns - 2 ? ">" : filled > 0 ? "=" : ""
    let body = String(repeating: "=", count: max(0, filled - 1)) + head
    return "[" + body + String(repeating: " ", count: columns - 2 - filled) + "]"
  }

  private func padded(name columns: Int, unicode: Bool) -> String {
    let text = shortened(displaySafe(name, unicode: unicode), toColumns: columns, unicode: unicode)
    return text + String(repeating: " ", count: columns - displayWidth(text))
  }

  private func aligned(_ text: String, _ columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - text.count)) + text
  }
}
