/// Texts as roff(7) wants them, so that each character is shown as itself.
enum RoffText {
  /// A line of text in which nothing is taken for a request, an escape or a dash other than hyphen-minus.
  static func line(_ text: String) -> String {
    let escaped = escaped(text)
    // A full stop at the beginning would turn the line into a request; so would an apostrophe, but that has been
    // escaped.
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }

  /// A macro's argument, between quotes.
  static func argument(_ text: String) -> String { "\"" + escaped(text) + "\"" }

  static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

  static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "\"": result += "\\(dq"
      case "`": result += "\\(ga"
      case "~": result += "\\(ti"
      case "^": result += "\\(ha"
      case " "..."~": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
      }
    }
    return result
  }
}
