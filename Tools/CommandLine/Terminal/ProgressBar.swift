import PiconetTerminal

/// The progress of all files, or of those of one peer, as a line. Pure: what is shown is a function of these values.
struct ProgressBar: Hashable, Sendable {
  struct Files: Hashable, Sendable {
    /// Files that have had their outcome.
    var done: Int
    /// nil: it is not known how many will come. Then the bytes in a line are only those of the files under way.
    var total: Int?
    /// The bytes of the files that have come, if `total` is nil.
    var bytes: Int64 = 0
    /// Whether `total` is all of them; otherwise they are still being counted.
    var isWhole = true
  }

  /// Whose files they are, if there are several lines; unescaped, since it is made safe here.
  var label: String?
  /// nil if there is one file, which has the line to itself.
  var files: Files?
  /// A file that is under way; unescaped, since it is made safe here.
  var name: String?
  /// Whether it is being compared with what the receiver has.
  var isComparing = false
  /// How many other files are under way.
  var others = 0
  /// Bytes.
  var done: Int64
  /// Bytes; 0 for an empty file.
  var total: Int64
  var bytesPerSecond: Double?
  /// Whether nothing can move at the moment: shown in place of the rate and the time that is left.
  var isStalled = false
  var timeLeft: Duration?

  /// The name gets no more columns than this, so that bars below one another look alike.
  static let nameColumns = 28
  private static let narrowestName = 8
  private static let narrowestBar = 8
  private static let widestBar = 40
  /// A longer time is no use as an estimate.
  private static let longestTimeLeft = Duration.seconds(100 * 3600)

  /// What a line has besides the count; if there is no room for it, the next layout is tried.
  private struct Layout {
    var hasName = true
    var hasBar = true
    var figures: [Figure]
  }

  private enum Figure {
    /// `43% of 3.0 GB`.
    case amount
    case percent, rate, timeLeft
  }

  /// What matters least goes first. The last thing to stay is the name if there is one file, and the count if there are
  /// many.
  private static let layouts = [
    Layout(figures: [.amount, .rate, .timeLeft]),
    Layout(figures: [.percent, .rate, .timeLeft]),
    Layout(hasBar: false, figures: [.percent, .rate, .timeLeft]),
    Layout(hasName: false, hasBar: false, figures: [.amount, .rate, .timeLeft]),
    Layout(hasName: false, hasBar: false, figures: [.percent, .rate, .timeLeft]),
    Layout(hasName: false, hasBar: false, figures: [.percent, .timeLeft]),
    Layout(hasBar: false, figures: [.percent]),
    Layout(hasName: false, hasBar: false, figures: [.percent]),
  ]

  /// - Parameters:
  ///   - columns: the terminal's width. Each line stays one column short of it: writing into the last column makes some
  ///     terminals wrap.
  ///   - labelColumns: the columns that the label takes.
  ///   - unicode: whether the terminal shows more than ASCII.
  /// - Returns: one line, or two if there is no room for the file's name beside the count.
  func lines(columns: Int, labelColumns: Int = 0, unicode: Bool) -> [String] {
    let room = max(0, columns - 1)
    let start = start(labelColumns, unicode: unicode)
    for layout in Self.layouts where layout.hasName || !start.isEmpty {
      guard let line = line(layout, behind: start, room: room, unicode: unicode) else { continue }
      guard !layout.hasName, label == nil, name != nil else { return [line] }
      return [line, shortened("  " + file(unicode), toColumns: room, unicode: unicode)]
    }
    return [shortened(start.isEmpty ? text(.percent) : start, toColumns: room, unicode: unicode)]
  }

  /// nil if there is no room for it.
  private func line(_ layout: Layout, behind start: String, room: Int, unicode: Bool) -> String? {
    let figures = layout.figures.map(text).filter { !$0.isEmpty }.joined(separator: "  ")
    let hasName = layout.hasName && (name != nil || start.isEmpty)
    // Nothing is under way between two files from a peer that may send more.
    let hasBar = layout.hasBar && !(isOpenEnded && total == 0)
    let parts = [start, figures].filter { !$0.isEmpty }
    let fixed = parts.reduce(0) { $0 + displayWidth($1) } + 2 * (parts.count - 1)
    var left = room - fixed
    guard left >= (hasName ? Self.narrowestName + 2 : 0) + (hasBar ? Self.narrowestBar + 2 : 0) else {
      return nil
    }
    var line = start.isEmpty ? [] : [start]
    if hasName {
      let columns = min(Self.nameColumns, left - 2 - (hasBar ? Self.narrowestBar + 2 : 0))
      line.append(padded(shortened(file(unicode), toColumns: columns, unicode: unicode), columns))
      left -= columns + 2
    }
    if hasBar { line.append(bar(columns: min(Self.widestBar, left - 2), unicode: unicode)) }
    return (line + [figures]).joined(separator: "  ").trimmedAtEnd
  }

  /// The label and the count.
  private func start(_ labelColumns: Int, unicode: Bool) -> String {
    let label = self.label.map {
      padded(shortened(displaySafe($0, unicode: unicode), toColumns: labelColumns, unicode: unicode), labelColumns)
    }
    return [label, files.map(Self.text)].compactMap { $0 }.joined(separator: "  ")
  }

  private static func text(_ files: Files) -> String {
    guard let total = files.total else {
      return "\(HumanFigures.files(files.done)), \(HumanFigures.bytes(files.bytes))"
    }
    let all = HumanFigures.count(total) + (files.isWhole ? "" : "+")
    let done = HumanFigures.count(files.done)
    return String(repeating: " ", count: max(0, HumanFigures.count(total).count - done.count)) + "\(done) of \(all)"
  }

  private func file(_ unicode: Bool) -> String {
    (isComparing ? "comparing " : "") + displaySafe(name ?? "", unicode: unicode) + (others > 0 ? " +\(others)" : "")
  }

  /// An unknown figure keeps its place if there are several lines, but takes none in a single line.
  private func text(_ figure: Figure) -> String {
    switch figure {
    case .percent where total == 0 && isOpenEnded: return unknown(3)
    case .amount where isOpenEnded: return text(.percent)
    case .amount: return text(.percent) + (total > 0 ? " of " + HumanFigures.bytes(total) : "")
    case .percent: return aligned("\(percent)%", files == nil ? 4 : 3)
    case .rate:
      if isStalled { return aligned("stalled", 8) }
      guard let bytesPerSecond, bytesPerSecond.isFinite, bytesPerSecond < 1e18 else { return unknown(8) }
      return aligned(HumanFigures.bytes(Int64(max(0, bytesPerSecond))) + "/s", 8)
    case .timeLeft:
      guard !isStalled, let timeLeft, timeLeft < Self.longestTimeLeft, percent < 100 else { return unknown(10) }
      return aligned(HumanFigures.time(timeLeft), 5) + " left"
    }
  }

  private var isOpenEnded: Bool { files != nil && files?.total == nil }

  private func unknown(_ columns: Int) -> String { label == nil ? "" : aligned("", columns) }

  /// How much is done; 100 only when all of it is.
  private var percent: Int {
    let isLacking = (files?.total).map { $0 > files?.done ?? 0 } ?? false
    guard total > 0, done < total else { return isLacking ? (total > 0 ? 99 : 0) : 100 }
    return Int(Double(max(0, done)) / Double(total) * 100)
  }

  private func bar(columns: Int, unicode: Bool) -> String {
    let fraction = total > 0 ? min(1, Double(max(0, done)) / Double(total)) : Double(percent) / 100
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

  private func padded(_ text: String, _ columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - displayWidth(text)))
  }

  private func aligned(_ text: String, _ columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - text.count)) + text
  }
}

extension ProgressBar {
  /// The most lines at the foot of a terminal.
  static let lineLimit = 9
  private static let widestLabel = 16

  /// Bars below one another, as many as fit; if some are left out, the last line says how many.
  static func lines(of bars: [ProgressBar], size: TerminalSize, unicode: Bool) -> [String] {
    let rows = max(1, min(lineLimit, size.rows - 1))
    let labels = bars.compactMap(\.label).map { displayWidth(displaySafe($0, unicode: unicode)) }
    let labelColumns = min(labels.max() ?? 0, widestLabel, max(4, size.columns / 4))
    let lines = bars.map { $0.lines(columns: size.columns, labelColumns: labelColumns, unicode: unicode) }
    guard bars.count > rows else { return Array(lines.joined().prefix(rows)) }
    let more = shortened("and \(bars.count - rows + 1) more", toColumns: max(0, size.columns - 1), unicode: unicode)
    return Array(lines.compactMap(\.first).prefix(rows - 1)) + [more]
  }
}

extension String {
  fileprivate var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}
