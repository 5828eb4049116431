import PiconetCalls

/// Writes one JSON object (RFC 8259) on one line. Members are in the order in which they were added.
struct JSONObject {
  private var text = "{"

  /// Control characters, those that reorder or hide text, the quote and the backslash are escaped; all else stays as it
  /// is, in UTF-8. So a line never contains a newline, and can be looked at in a terminal.
  mutating func add(_ name: StaticString, _ value: String) {
    begin(name)
    append(value)
  }

  mutating func add(_ name: StaticString, _ values: [String]) {
    begin(name)
    text += "["
    for (index, value) in values.enumerated() {
      if index > 0 { text += "," }
      append(value)
    }
    text += "]"
  }

  private mutating func append(_ value: String) { text += CBORValue.text(value).json }

  mutating func add(_ name: StaticString, _ value: Int64) {
    begin(name)
    text += String(value)
  }

  /// Left out if there is no value: a reader sees a member only if it is known.
  mutating func add(_ name: StaticString, ifKnown value: String?) { if let value { add(name, value) } }
  mutating func add(_ name: StaticString, ifKnown value: Int64?) { if let value { add(name, value) } }

  /// The object, without a newline.
  var line: String { text + "}" }

  /// Names are our own words and need no escaping.
  private mutating func begin(_ name: StaticString) {
    if text.utf8.count > 1 { text += "," }
    text += "\"\(name)\":"
  }
}
