/// `HOST:PORT` as the command line takes it. An IPv6 address is in brackets (RFC 3986, section 3.2.2), with its zone
/// inside them: `[fe80::1%eth0]:4000`.
struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
  /// A name or an address, without brackets. Empty only if `mayOmitHost` was set: every address of this machine.
  let host: String
  let port: UInt16

  /// The longest host: a DNS name (RFC 1035, section 2.3.4). Any IPv6 address with a zone is shorter.
  static let longestHost = 253

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// - Parameters:
  ///   - mayOmitHost: whether `:4000` is accepted, as for listening.
  ///   - mayBeZero: whether port 0 (any free port) is accepted, as for listening.
  init(
    _ argument: OptionArgument, mayOmitHost: Bool = false, mayBeZero: Bool = false
  ) throws(UnacceptableValue) {
    let text = argument.text
    guard let colon = text.lastIndex(of: ":") else { throw .because("expected HOST:PORT") }
    var host = text[..<colon]
    let digits = text[text.index(after: colon)...]
    if host.hasPrefix("["), host.hasSuffix("]"), host.count > 2 {
      host = host.dropFirst().dropLast()
      guard host.contains(":"), !host.contains(where: { $0 == "[" || $0 == "]" }) else {
        throw .because("brackets are for IPv6 addresses")
      }
    } else if host.contains(where: { $0 == ":" || $0 == "[" || $0 == "]" }) {
      throw .because("an IPv6 address must be in brackets, as in [::1]:4000")
    }
    guard mayOmitHost || !host.isEmpty else { throw .because("the host is missing") }
    guard host.utf8.count <= Self.longestHost, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .because("not a host name or address")
    }
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
      port > 0 || mayBeZero
    else { throw .because("the port must be a number from \(mayBeZero ? 0 : 1) to 65535") }
    self.init(host: String(host), port: port)
  }

  /// Where a program should listen: `:4000` means every address, and port 0 any free port.
  init(whereToListen argument: OptionArgument) throws(UnacceptableValue) {
    try self.init(argument, mayOmitHost: true, mayBeZero: true)
  }

  /// Whether a word after `--listen` says where, and is not an operand.
  static func isWhereToListen(_ word: [UInt8]) -> Bool {
    (try? HostAndPort(whereToListen: OptionArgument(bytes: word))) != nil
  }

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
