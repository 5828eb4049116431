import PiconetWire

extension HostAddress {
  /// Used in place of an address: the introducer itself passes tunnels on to the node.
  static let overIntroducer = HostAddress(transport: 5, host: [], port: 1)

  /// Makes an address as an introduction states it. Nil for an address that means nothing to the other member: one of
  /// this very device if the member is elsewhere, one that is not numeric, and one over LE, where addresses change.
  /// - Parameter reached: the hosts of the member that is told the address.
  init?(_ address: TransportAddress, to reached: [TransportKind: String]) {
    guard let transport = address.kind.listeningNumber else { return nil }
    switch address.kind {
    case .tcp:
      guard let colon = address.text.lastIndex(of: ":"),
        let port = Self.number(address.text[address.text.index(after: colon)...], radix: 10), port > 0,
        let ip = IPAddressHint(host: String(address.text[..<colon])), let scope = ip.scope,
        scope != .device || reached[.tcp].flatMap({ IPAddressHint(host: $0) })?.scope == .device
      else { return nil }
      self.init(transport: transport, host: ip.bytes, port: port)
    case .l2cap, .rfcomm:
      guard let slash = address.text.firstIndex(of: "/"),
        let host = Self.bluetoothAddress(address.text[..<slash]),
        let port = Self.channel(address.text[address.text.index(after: slash)...]), port > 0
      else { return nil }
      self.init(transport: transport, host: host, port: port)
    case .le, .relay, .simulated: return nil
    }
  }

  /// Returns where the address may be dialled; nil if it may not. It may be dialled only over a transport, and within a
  /// scope, over which the introducer itself has been reached. So the introducer can't send us to places where it can't
  /// be itself.
  /// - Parameter reached: the introducer's hosts.
  func address(near reached: [TransportKind: String]) -> TransportAddress? {
    guard let kind = TransportKind.allCases.first(where: { $0.listeningNumber == transport }),
      let introducer = reached[kind]
    else { return nil }
    switch kind {
    case .tcp:
      guard let ip = IPAddressHint(bytes: host), let scope = ip.scope, scope == IPAddressHint(host: introducer)?.scope
      else { return nil }
      guard scope == .link, host.count == 16 else {
        return TransportAddress(kind, host: ip.host(zone: nil), port: port)
      }
      // The interface is the one that we reach the introducer over. Without an interface such an address leads nowhere.
      guard let zone = IPAddressHint.zone(of: introducer) else { return nil }
      return TransportAddress(kind, host: ip.host(zone: zone), port: port)
    case .l2cap, .rfcomm:
      guard host.count == 6 else { return nil }
      let digits = host.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
      return TransportAddress(kind, host: digits.joined(separator: ":"), port: port)
    case .le, .relay, .simulated: return nil
    }
  }

  private static func bluetoothAddress(_ text: Substring) -> [UInt8]? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { $0.count == 2 && $0.first != "+" ? UInt8($0, radix: 16) : nil }
    return bytes.count == 6 && parts.count == 6 ? bytes : nil
  }

  /// Parses a PSM, which is written in hexadecimal, or a channel of RFCOMM, which is written in decimal.
  private static func channel(_ text: Substring) -> UInt16? {
    text.hasPrefix("0x") ? number(text.dropFirst(2), radix: 16) : number(text, radix: 10)
  }

  /// Parses a number. Refuses a leading `+`, which the standard library accepts.
  private static func number(_ text: Substring, radix: Int) -> UInt16? {
    text.first == "+" ? nil : UInt16(text, radix: radix)
  }
}
