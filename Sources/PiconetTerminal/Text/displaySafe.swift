/// `text` made safe, so that a terminal shows it and does nothing else: every name and message from a peer, a file name
/// or the command line goes through here before it is printed.
///
/// Escaped are control characters (ESC, newline, the C1 controls), format characters that reorder or hide text
/// (bidirectional overrides, zero-width spaces, tags), line separators, code points without a meaning of their own
/// (unassigned, private use), fillers, which take up room and show nothing, and marks without a letter, or beyond the
/// fourth on a letter, which would be drawn over other lines. Joiners stay: Persian and many emoji are spelled with
/// them.
///
/// - Parameter unicode: false if the terminal shows only ASCII; then everything else is escaped, too.
package func displaySafe(_ text: String, unicode: Bool = true) -> String {
  var result = ""
  var marks = mostMarks
  for scalar in text.unicodeScalars {
    if !isJoiner(scalar) { marks = isMark(scalar) ? marks + 1 : 0 }
    switch scalar {
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case " "..."~": result.unicodeScalars.append(scalar)
    default:
      if unicode, isHarmless(scalar), marks <= mostMarks {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
  }
  return result
}

/// No script in use has more on one letter.
private let mostMarks = 4

private func isMark(_ scalar: Unicode.Scalar) -> Bool {
  scalar.value >= 0x300 && [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
}

private func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
  case .format: isJoiner(scalar)
  // Fillers and the Braille pattern without dots take up room and show nothing: with them a name could look like more
  // than itself.
  default: isVariationSelector(scalar) || !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
  }
}

/// For emoji and symbols.
private func isVariationSelector(_ scalar: Unicode.Scalar) -> Bool { ("\u{FE00}"..."\u{FE0F}").contains(scalar) }
