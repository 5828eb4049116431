extension PeerPicker {
  /// The list as lines, each narrower than `size`, at most as many as fit.
  ///
  /// - Parameter styled: whether grey and reverse video may be used; words and marks say the same without them.
  func lines(size: TerminalSize, unicode: Bool, styled: Bool = true) -> [String] {
    let columns = max(1, size.columns - 1)
    let visible = visible
    // One line is kept free so that the terminal does not scroll. On a terminal with few lines the rows take precedence
    // over head and foot.
    let height = max(1, size.rows - 1)
    let window = window(visible, rows: max(1, height - 2))
    var lines: [String] = []
    if height > 2 { lines.append(shortened(head(unicode: unicode), toColumns: columns, unicode: unicode)) }
    let texts = PeerPickerRows(visible, columns: max(1, columns - marks), unicode: unicode)
    for index in window {
      lines.append(line(visible[index], texts.text(index), columns: columns, unicode: unicode, styled: styled))
    }
    if height > 1 { lines.append(foot(hidden: visible.count - window.count, columns: columns, unicode: unicode)) }
    return lines
  }

  /// The rows that are shown: all, or as many as fit, including the selected one.
  private func window(_ visible: [Row], rows count: Int) -> Range<Int> {
    guard visible.count > count else { return visible.indices }
    let index = visible.firstIndex { $0.peer.id == selection } ?? 0
    let start = min(max(0, index - count / 2), visible.count - count)
    return start..<(start + count)
  }

  /// The columns before a name.
  private var marks: Int { takesSeveral ? 3 : 2 }

  private func line(_ row: Row, _ text: String, columns: Int, unicode: Bool, styled: Bool) -> String {
    let isSelected = row.peer.id == selection
    let mark = takesSeveral ? (marked.contains(row.peer.id) ? "* " : "  ") : " "
    let line = shortened((isSelected ? ">" : " ") + mark + text, toColumns: columns, unicode: unicode)
    guard styled else { return line }
    switch (isSelected, row.isPresent) {
    case (true, true): return "\u{1B}[7m\(line)\u{1B}[0m"
    case (_, false): return "\u{1B}[2m\(line)\u{1B}[0m"
    case (false, true): return line
    }
  }

  private func head(unicode: Bool) -> String {
    let count = marked.isEmpty ? "" : " \(marked.count)"
    if !filter.isEmpty {
      return "\(title)\(count): \(displaySafe(filter, unicode: unicode))_ (\(visible.count) of \(rows.count))"
    }
    if let remark { return displaySafe(remark, unicode: unicode) }
    guard rows.contains(where: \.isPresent) else { return "Looking for peers..." }
    let names = marked.compactMap { id in rows.first { $0.peer.id == id } }
    if names.isEmpty { return "\(title):" }
    return "\(title)\(count): " + names.map { displaySafe($0.peer.name, unicode: unicode) }.joined(separator: ", ")
  }

  /// Returns why the last key had no effect, or else the available keys, in as many words as there is room for.
  private func foot(hidden: Int, columns: Int, unicode: Bool) -> String {
    if let question = questions.first { return Self.foot(question, columns: columns, unicode: unicode) }
    if let notice { return shortened(displaySafe(notice, unicode: unicode), toColumns: columns, unicode: unicode) }
    let rest = [
      hidden > 0 ? "\(hidden) more" : nil, unlisted.isEmpty ? nil : "\(unlisted.count) not listed\(words.unlistedHint)",
    ].compactMap { $0 }
    let space = takesSeveral ? ", Space marks several" : ""
    let short = takesSeveral ? ", Space" : ""
    let done = isComplete ? ", Tab when done" : ""
    let helps = [
      "type to filter, arrows\(space), Enter \(words.enter)\(done), Esc leaves",
      "type, arrows\(short), Enter\(done), Esc leaves", "Enter\(done), Esc leaves", "Esc leaves",
    ]
    let foots = helps.map { (rest + [$0]).joined(separator: "; ") }
    return foots.first { displayWidth($0) <= columns } ?? shortened(foots[3], toColumns: columns, unicode: unicode)
  }
  /// Returns the foot with a question. A name may be long, but the answers must still be visible.
  private static func foot(_ question: Question, columns: Int, unicode: Bool) -> String {
    let answers = columns < 40 ? " [y/n]" : " [y]es / [n]o"
    let room = columns - displayWidth(answers)
    return shortened(displaySafe(question.text, unicode: unicode), toColumns: room, unicode: unicode) + answers
  }
}
