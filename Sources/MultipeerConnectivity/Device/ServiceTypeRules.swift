/// The rules for the type of a service (RFC 6335, section 5.1), which programs share to find each other. It is the
/// session id of the nodes that advertise and browse.
enum ServiceTypeRules {
  /// - Returns: the broken rule; nil if none is broken. Upper case is taken for lower case.
  static func brokenRule(_ type: String) -> String? {
    let text = "the service type '\(type)' "
    guard (1...15).contains(type.utf8.count) else { return text + "has to have 1 to 15 characters" }
    guard type.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == hyphen }) else {
      return text + "may have letters of ASCII, digits and hyphens only"
    }
    guard type.utf8.contains(where: isLetter) else { return text + "has to have a letter" }
    guard type.utf8.first != hyphen, type.utf8.last != hyphen else {
      return text + "may not begin or end with a hyphen"
    }
    guard !type.contains("--") else { return text + "may not have two hyphens side by side" }
    return nil
  }

  static func sessionID(_ type: String) -> String { type.lowercased() }

  private static let hyphen = UInt8(ascii: "-")

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
