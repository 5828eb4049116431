/// `text` so that a terminal shows it and does nothing else: every name and message that came from a peer, from a file
/// name or from the command line goes through here before it is printed.
///
/// Escaped are control characters (ESC, newline, the C1 controls), format characters that reorder or hide text
/// (bidirectional overrides, zero-width spaces, tags), line separators, and code points without a meaning of their own
/// (unassigned, private use). Joiners stay: Persian and many emoji are spelled with them.
///
/// - Parameter unicode: false where the terminal shows ASCII only; then everything else is escaped too.
func displaySafe(_ text: String, unicode: Bool = true) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case " "..."~": result.unicodeScalars.append(scalar)
    default:
      if unicode, isHarmless(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
  }
  return result
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
  case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
  default: true
  }
}
