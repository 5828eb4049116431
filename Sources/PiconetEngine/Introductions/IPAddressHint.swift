/// An IP address as bytes, with its scope, as an introduction states it.
struct IPAddressHint: Hashable, Sendable {
  /// The range within which an address means the same device (RFC 6890, RFC 4291).
  enum Scope: Hashable, Sendable {
    /// This very device (127/8, ::1).
    case device
    /// One link (169.254/16, fe80::/10).
    case link
    /// A private network (RFC 1918, RFC 6598, RFC 4193).
    case site
    /// Everywhere.
    case global
  }

  /// 4 or 16 bytes, the most significant first.
  let bytes: [UInt8]

  init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// The range of the address. Nil for an address of no device or of many devices, and for IPv4-mapped IPv6.
  var scope: Scope? { bytes.count == 4 ? scopeOfIPv4 : scopeOfIPv6 }

  private var scopeOfIPv4: Scope? {
    switch (bytes[0], bytes[1]) {
    case (0, _), (224..., _): nil
    case (127, _): .device
    case (169, 254): .link
    case (10, _), (192, 168), (172, 16...31), (100, 64...127): .site
    default: .global
    }
  }

  private var scopeOfIPv6: Scope? {
    switch (bytes[0], bytes[1]) {
    // Loopback, the unspecified address, IPv4-mapped and IPv4-compatible addresses, and multicast.
    case (0, 0): isLoopbackOfIPv6 ? .device : nil
    case (0xFF, _): nil
    case (0xFE, 0x80...0xBF): .link
    case (0xFC...0xFD, _): .site
    default: .global
    }
  }
}

extension IPAddressHint {
  private var isLoopbackOfIPv6: Bool { bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 } }
}

// MARK: - Text

extension IPAddressHint {
  /// - Parameter host: the host in the form of `LinkTraits.remoteHost` of a TCP link: `192.168.1.7`, `[fd00::7]`,
  ///   `[fe80::7%eth0]`.
  init?(host: String) {
    if host.first == "[", host.last == "]" {
      let inside = host.dropFirst().dropLast()
      guard let bytes = Self.ipv6(inside.prefix { $0 != "%" }) else { return nil }
      self.bytes = bytes
    } else {
      guard let bytes = Self.ipv4(host) else { return nil }
      self.bytes = bytes
    }
  }

  /// Returns the address as text, in the form in which it precedes the port in a TCP address.
  /// - Parameter zone: the interface of a link-local IPv6 address.
  func host(zone: String?) -> String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    return "[\(ipv6Text)\(zone.map { "%" + $0 } ?? "")]"
  }

  /// Returns the interface that the text of a link-local address names.
  static func zone(of host: String) -> String? {
    guard let percent = host.firstIndex(of: "%"), host.last == "]" else { return nil }
    return String(host[host.index(after: percent)...].dropLast())
  }

  private static func ipv4(_ text: String) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { part in part.first == "+" || part.count > 3 ? nil : UInt8(part) }
    return bytes.count == 4 && parts.count == 4 ? bytes : nil
  }

  private static func ipv6(_ text: Substring) -> [UInt8]? {
    var head: [UInt8] = []
    var tail: [UInt8]?
    var parts = text.split(separator: ":", omittingEmptySubsequences: false)
    // "::" leaves an empty part in the middle, and one more if it is at either end.
    if text.hasPrefix("::") { parts.removeFirst() } else if parts.first?.isEmpty != false { return nil }
    if text.hasSuffix("::") { parts.removeLast() } else if parts.last?.isEmpty != false { return nil }
    for part in parts {
      if part.isEmpty {
        guard tail == nil else { return nil }
        tail = []
        continue
      }
      guard part.count <= 4, part.first != "+", let group = UInt16(part, radix: 16) else { return nil }
      let bytes = [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
      if tail == nil { head += bytes } else { tail? += bytes }
    }
    guard let tail else { return head.count == 16 ? head : nil }
    let missing = 16 - head.count - tail.count
    return missing > 0 ? head + [UInt8](repeating: 0, count: missing) + tail : nil
  }

  /// The text as in RFC 5952, without the longest run of zeros.
  private var ipv6Text: String {
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    var zeros = 0..<0
    var index = 0
    while index < groups.count {
      let end = groups[index...].firstIndex { $0 != 0 } ?? groups.count
      if end - index > max(1, zeros.count) { zeros = index..<end }
      index = max(end, index + 1)
    }
    func text(_ groups: ArraySlice<UInt16>) -> String {
      groups.map { String($0, radix: 16) }.joined(separator: ":")
    }
    if zeros.isEmpty { return text(groups[...]) }
    return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
  }
}
