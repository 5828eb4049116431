/// Writes one JSON object (RFC 8259) on one line. Members are in the order in which they were added.
struct JSONObject {
  private var text = "{"

  /// Control characters, the quote and the backslash are escaped; all else stays as it is, in UTF-8. So a line never
  /// contains a newline, and U+2028 does not end a line in JSON.
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

  private mutating func append(_ value: String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // DEL and the C1 controls are legal in JSON, but terminals obey some of them.
      case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

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
