/// A peer's name as text that can't break a line, hide, or command a terminal. Characters that are not visible become
/// `\u{..}`, and a backslash is doubled.
enum PeerNameEscaping {
  static func escape(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      if scalar == "\\" {
        text += "\\\\"
      } else if isVisible(scalar) {
        text.unicodeScalars.append(scalar)
      } else {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return text
  }

  /// Returns the name that `escape` was given; nil if the text is not one that it writes.
  static func unescape(_ text: String) -> String? {
    var name = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\" else {
        guard isVisible(scalar) else { return nil }
        name.unicodeScalars.append(scalar)
        continue
      }
      switch rest.popFirst() {
      case "\\": name += "\\"
      case "u":
        guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"), rest[..<end].count <= 6,
          let value = UInt32(Substring(rest[..<end]), radix: 16), let scalar = Unicode.Scalar(value)
        else { return nil }
        name.unicodeScalars.append(scalar)
        rest = rest[rest.index(after: end)...]
      default: return nil
      }
    }
    // A name has only one escaped form: characters that need no escape are not escaped.
    return escape(name) == text ? name : nil
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == " " { return true }
    return switch scalar.properties.generalCategory {
    // Format covers the characters that change the direction of writing, with which one name can look like another.
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
      false
    default: true
    }
  }
}
