/// An http or https URL (RFC 3986, section 3; RFC 9110, section 4.2), checked as far as that is possible without a
/// network.
public struct HTTPAddress: Sendable, Hashable {
  /// As it was given.
  public let text: String
  /// Without the brackets of an IPv6 address.
  public let host: String
  /// nil: the scheme's default.
  public let port: UInt16?

  /// The longest URL, in bytes.
  public static let longest = 8192

  /// - Throws: `invalidURL`, with the fault.
  public init(_ text: String) throws(HTTPFailure) {
    let lower = text.prefix(8).lowercased()
    let scheme = lower == "https://" ? 8 : lower.hasPrefix("http://") ? 7 : 0
    guard scheme > 0 else { throw Self.invalid("an address begins with http:// or https://") }
    guard text.utf8.count <= Self.longest else {
      throw Self.invalid("an address has at most \(Self.longest) bytes")
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw Self.invalid("an address has no blanks; write %20")
    }
    let authority = text.utf8.dropFirst(scheme).prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    // The part before the last @ is for the server: a name and a password.
    let place = authority.lastIndex(of: 0x40).map { authority[authority.index(after: $0)...] } ?? authority
    let host: Substring.UTF8View
    var rest: Substring.UTF8View
    if place.first == 0x5B {
      guard let end = place.firstIndex(of: 0x5D) else {
        throw Self.invalid("the bracket of the IPv6 address is not closed")
      }
      host = place[place.index(after: place.startIndex)..<end]
      rest = place[place.index(after: end)...]
      guard !host.isEmpty, host.contains(0x3A) else { throw Self.invalid("brackets are for IPv6 addresses") }
    } else {
      host = place.prefix { $0 != 0x3A }
      rest = place.dropFirst(host.count)
      guard !rest.dropFirst().contains(0x3A) else {
        throw Self.invalid("an IPv6 address must be in brackets, as in http://[::1]:8000/")
      }
    }
    guard !host.isEmpty else { throw Self.invalid("the host is missing") }
    var port: UInt16?
    if let first = rest.popFirst() {
      // An empty port means the scheme's default.
      port = UInt16(Substring(rest))
      guard first == 0x3A, rest.isEmpty || rest.allSatisfy({ (0x30...0x39).contains($0) }) && port ?? 0 > 0 else {
        throw Self.invalid("the port must be a number from 1 to 65535")
      }
    }
    self.text = text
    self.host = String(Substring(host))
    self.port = port
  }

  private static func invalid(_ why: String) -> HTTPFailure { HTTPFailure(.invalidURL, why) }
}
