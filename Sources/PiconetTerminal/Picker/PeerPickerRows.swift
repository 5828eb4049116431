import Piconet

/// The rows of the peer list as text, each in at most this many columns.
///
/// The name comes first and is cut last: other information is left out from the end as room gets short, the address
/// first. Only text that distinguishes two rows whose names look alike stays beside a name that is cut for it.
struct PeerPickerRows {
  private struct Field {
    var text: String
    /// Its width in all rows, so that the next field is aligned.
    var columns = 0
    var isRequired = false

    var width: Int { max(displayWidth(text), columns) }

    /// The width that must be reserved for it in any case, including the gap before it.
    var owed: Int { isRequired ? displayWidth(text) + PeerPickerRows.gap : 0 }
  }

  private static let gap = 2
  /// Below this width, digits are shown only as far as they distinguish rows.
  private static let narrow = 24
  private static let fewestDigits = 4

  private let rows: [PeerPicker.Row]
  private let names: [String]
  private let fields: [[Field]]
  private let nameColumns: Int
  private let columns: Int

  init(_ rows: [PeerPicker.Row], columns: Int, unicode: Bool) {
    self.rows = rows
    self.columns = columns
    fields = Self.fields(rows, columns: columns, unicode: unicode)
    let whole = rows.map { Self.name($0.peer.name, unicode: unicode) }
    // Longer names get the room they need, but not by widening all rows.
    let most = max(8, columns / 2)
    nameColumns = whole.map(displayWidth).filter { $0 <= most }.max() ?? 0
    names = Self.fitted(whole, fields, columns: columns, unicode: unicode)
  }

  /// The text after a row's marks.
  func text(_ index: Int) -> String {
    var text = names[index]
    var owed = fields[index].reduce(0) { $0 + $1.owed }
    var start = max(nameColumns, displayWidth(text))
    // A warning about a name takes precedence over alignment.
    let warning = fields[index].prefix(2).reduce(0) { $1.width > 0 ? $0 + $1.width + Self.gap : $0 }
    if start + max(owed, fields[index][1].text.isEmpty ? 0 : warning) > columns { start = displayWidth(text) }
    var isFull = false
    for field in fields[index] where field.width > 0 {
      owed -= field.owed
      let end = start + Self.gap + displayWidth(field.text)
      isFull = isFull || end + owed > columns
      guard !isFull || field.isRequired else { continue }
      if !field.text.isEmpty {
        text += String(repeating: " ", count: max(0, start + Self.gap - displayWidth(text))) + field.text
      }
      start += Self.gap + field.width
    }
    return text
  }

  /// Two spaces end a name, so no name may contain them.
  private static func name(_ name: String, unicode: Bool) -> String {
    let words = displaySafe(name, unicode: unicode).split(whereSeparator: \.isWhitespace)
    return words.isEmpty || !KnownPeers.isVisible(name: name) ? "''" : words.joined(separator: " ")
  }

  /// Names that need the same room beside them are cut together, so that they stay different.
  private static func fitted(_ whole: [String], _ fields: [[Field]], columns: Int, unicode: Bool) -> [String] {
    var result = whole
    let rooms = fields.map { $0.reduce(columns) { $0 - $1.owed } }
    for (room, group) in Dictionary(grouping: whole.indices, by: { rooms[$0] }) {
      let names = NamesApart.fitted(group.map { whole[$0] }, toColumns: max(1, room), unicode: unicode)
      for (index, name) in zip(group, names) { result[index] = name }
    }
    return result
  }

  // MARK: Other fields

  /// In the order in which they are shown, and in which they are kept.
  private static func fields(_ rows: [PeerPicker.Row], columns: Int, unicode: Bool) -> [[Field]] {
    let alike = Dictionary(grouping: rows, by: \.look)
    let room = columns - (rows.map { displayWidth(standing($0)) }.max() ?? 0)
    let texts = rows.map { row -> [Field] in
      let others = (alike[row.look] ?? []).filter { $0.peer.id != row.peer.id }
      let namesakes = others.filter { standing($0) == standing(row) }
      let digits =
        !namesakes.isEmpty && columns < narrow ? fewDigits(row, namesakes) : displaySafe(row.peer.digits)
      let isTold = namesakes.isEmpty && !others.isEmpty
      var fields = [
        Field(text: standing(row), isRequired: isTold), Field(text: row.peer.warning),
        Field(text: row.isPresent ? row.peer.transports.joined(separator: "+") : ""),
        Field(text: row.isPresent ? row.peer.signalStrength.map { "\($0) dBm" } ?? "" : ""), Field(text: digits),
        Field(text: row.peer.remark), Field(text: row.isPresent ? row.peer.address : ""),
      ]
      fields[1] = Field(text: warning(row, columns, room: room, unicode), isRequired: !row.peer.warning.isEmpty)
      fields[4].isRequired = !namesakes.isEmpty
      for index in fields.indices { fields[index].text = displaySafe(fields[index].text, unicode: unicode) }
      return fields
    }
    return aligned(texts)
  }

  /// Returns the warning, which stays visible however long names are.
  /// - Parameter room: the room left beside the field that says whether the peer is known.
  private static func warning(_ row: PeerPicker.Row, _ columns: Int, room: Int, _ unicode: Bool) -> String {
    let shown = [name(row.peer.name, unicode: unicode), displaySafe(row.peer.warning, unicode: unicode)]
    if row.peer.warning.isEmpty || shown.reduce(2 * gap, { $0 + displayWidth($1) }) <= room { return row.peer.warning }
    return columns < 40 ? "other key" : "not the known one"
  }

  private static func standing(_ row: PeerPicker.Row) -> String { row.isPresent ? row.peer.standing : "gone" }

  private static func fewDigits(_ row: PeerPicker.Row, _ others: [PeerPicker.Row]) -> String {
    let digits = row.peer.digits
    let count = (fewestDigits...max(fewestDigits, digits.count)).first { count in
      !others.contains { $0.peer.digits.hasPrefix(digits.prefix(count)) }
    }
    return displaySafe(String(digits.prefix(count ?? digits.count)))
  }

  /// Aligns short fields that all rows have in a separate column.
  private static func aligned(_ fields: [[Field]]) -> [[Field]] {
    var result = fields
    for place in [0, 2, 3, 4] {
      let columns = fields.map { displayWidth($0[place].text) }.max() ?? 0
      for index in result.indices { result[index][place].columns = columns }
    }
    return result
  }
}
