/// The first label of a service instance's name, which any DNS-SD browser shows.
public enum InstanceLabel {
  /// `Anna's laptop (3f2a9c)`: the name is cut at a character boundary so that the whole fits into 63 bytes.
  ///
  /// - Parameter identifier: hexadecimal digits that make the label unique; the first six are shown.
  public static func make(name: String, identifier: String) -> [UInt8] {
    joined(name: displayable(name), suffix: " (\(identifier.prefix(6)))")
  }

  /// Returns the label after `attempt - 1` conflicts: `Name (2)`, `Name (3)` ... (RFC 6762, section 9).
  public static func renamed(_ label: [UInt8], attempt: Int) -> [UInt8] {
    attempt < 2 ? label : joined(name: String(decoding: label, as: UTF8.self), suffix: " (\(attempt))")
  }

  /// Returns text that is safe to show on a terminal: control and format characters, which move the cursor or change
  /// the direction of writing, become U+FFFD.
  public static func displayable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      // Joiners are part of emoji and of several scripts.
      case .format where scalar.value == 0x200C || scalar.value == 0x200D: scalars.append(scalar)
      case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: scalars.append("\u{FFFD}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// Returns the longest prefix of whole characters within `limit` bytes of UTF-8; if not even one fits, of whole
  /// scalars.
  public static func cut(_ text: String, to limit: Int) -> String {
    if text.utf8.count <= limit { return text }
    var count = 0
    var characters = ""
    for character in text {
      count += character.utf8.count
      if count > limit { break }
      characters.append(character)
    }
    if !characters.isEmpty { return characters }
    count = 0
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      count += UTF8.width(scalar)
      if count > limit { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  private static func joined(name: String, suffix: String) -> [UInt8] {
    Array((cut(name, to: MulticastDNS.labelLength - suffix.utf8.count) + suffix).utf8)
  }
}
