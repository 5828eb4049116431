extension CBORValue {
  /// The item as JSON on one line (RFC 8259), as RFC 8949, 6.1 converts it. Bytes are base64url without padding, and
  /// tags are left out. Numbers that JSON can't express, and simple values that are neither true nor false, are null. A
  /// key that is not text is written as text. Control characters are escaped, and so are those that reorder or hide
  /// text (such as U+202E); everything else stays as it is.
  public var json: String {
    var text = ""
    write(into: &text)
    return text
  }

  private func write(into text: inout String) {
    switch self {
    case .unsigned(let number): text += "\(number)"
    // -1 - 2^64 + 1 does not fit an integer type of Swift.
    case .negative(let number): text += number == .max ? "-18446744073709551616" : "-\(number + 1)"
    case .bytes(let bytes):
      text += "\"\(String(decoding: Base64Text.url.encode(bytes), as: UTF8.self))\""
    case .text(let content): Self.write(content, into: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.write(into: &text)
      }
      text += "]"
    case .map(let entries):
      text += "{"
      for (index, entry) in entries.enumerated() {
        if index > 0 { text += "," }
        if case .text(let key) = entry.key {
          Self.write(key, into: &text)
        } else {
          Self.write(entry.key.json, into: &text)
        }
        text += ":"
        entry.value.write(into: &text)
      }
      text += "}"
    case .tagged(_, let content): content.write(into: &text)
    case .simple(20): text += "false"
    case .simple(21): text += "true"
    case .simple: text += "null"
    case .float(let number): text += number.isFinite ? "\(number)" : "null"
    }
  }

  private static func write(_ content: String, into text: inout String) {
    text += "\""
    for scalar in content.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        guard isHidden(scalar) else {
          text.unicodeScalars.append(scalar)
          continue
        }
        for unit in String(Character(scalar)).utf16 {
          let digits = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    text += "\""
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Returns the bytes of a base64url text without padding; nil if it is not such a text.
  public static func bytes(base64URL text: String) -> CBORValue? {
    Base64Text.url.decode(text.utf8).map { .bytes($0) }
  }

  /// Reads one JSON text (RFC 8259), as RFC 8949, 6.2 converts it. A number without a fraction or an exponent is an
  /// integer if it fits into 64 bits; any other is a floating-point number.
  /// - Throws: `CBORError`, whose detail says what is wrong, and where.
  public init(json text: String, limits: CBORLimits = .calls) throws(CBORError) {
    var reader = JSONReader(text, limits: limits)
    self = try reader.whole()
  }
}
