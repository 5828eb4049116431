extension PeerPicker {
  /// The list as lines, each narrower than `size`, at most as many as fit.
  ///
  /// - Parameter styled: whether grey and reverse video may be used; words and a marker say the same without them.
  func lines(size: TerminalSize, unicode: Bool, styled: Bool = true) -> [String] {
    let columns = max(1, size.columns - 1)
    let head = rows.contains { $0.isPresent } ? "Send to:" : "Looking for peers..."
    var lines = [shortened(head, toColumns: columns, unicode: unicode)]
    // Head, foot, and one line kept free so that the terminal does not scroll.
    let window = window(rows: max(1, size.rows - 3))
    for index in window { lines.append(line(index, columns: columns, unicode: unicode, styled: styled)) }
    lines.append(shortened(foot(hidden: rows.count - window.count), toColumns: columns, unicode: unicode))
    return lines
  }

  /// The rows that are shown: all, or as many as fit with the marked one among them.
  private func window(rows count: Int) -> Range<Int> {
    guard rows.count > count else { return rows.indices }
    let start = min(max(0, selection - count / 2), rows.count - count)
    return start..<(start + count)
  }

  private func line(_ index: Int, columns: Int, unicode: Bool, styled: Bool) -> String {
    let row = rows[index]
    let isSelected = index == selection
    let number = String(index + 1)
    let numberColumns = String(rows.count).count
    let start =
      (isSelected ? "> " : "  ") + String(repeating: " ", count: numberColumns - number.count) + number + "  "
    let state = row.isPresent ? row.peer.detail : "gone"
    let end =
      "  \(displaySafe(String(row.peer.id.prefix(12)), unicode: unicode))  \(displaySafe(state, unicode: unicode))"
    let nameColumns = min(widestName(unicode: unicode), max(4, columns - start.count - displayWidth(end)))
    let name = shortened(displaySafe(row.peer.name, unicode: unicode), toColumns: nameColumns, unicode: unicode)
    let padding = String(repeating: " ", count: max(0, nameColumns - displayWidth(name)))
    let text = shortened(start + name + padding + end, toColumns: columns, unicode: unicode)
    guard styled else { return text }
    switch (isSelected, row.isPresent) {
    case (true, true): return "\u{1B}[7m\(text)\u{1B}[0m"
    case (_, false): return "\u{1B}[2m\(text)\u{1B}[0m"
    case (false, true): return text
    }
  }

  private func widestName(unicode: Bool) -> Int {
    min(40, rows.map { displayWidth(displaySafe($0.peer.name, unicode: unicode)) }.max() ?? 0)
  }

  private func foot(hidden: Int) -> String {
    var parts: [String] = []
    if let notice { parts.append(displaySafe(notice)) }
    parts.append("number or arrows, Enter to send, q to quit")
    if hidden > 0 { parts.append("\(hidden) more rows") }
    if !unlisted.isEmpty { parts.append("\(unlisted.count) peers not listed, use --to") }
    return parts.joined(separator: "; ")
  }
}
