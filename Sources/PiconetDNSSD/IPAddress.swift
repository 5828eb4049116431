/// An address of either family, without a zone.
public enum IPAddress: Sendable, Hashable, Comparable {
  /// In host order: 127.0.0.1 is 0x7F00_0001.
  case v4(UInt32)
  case v6(high: UInt64, low: UInt64)

  /// Reads 4 or 16 bytes in network order; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      let high = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let low = bytes.dropFirst(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      self = .v6(high: high, low: low)
    default: return nil
    }
  }

  public var bytes: [UInt8] {
    switch self {
    case .v4(let value): stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    case .v6(let high, let low):
      [high, low].flatMap { word in
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
      }
    }
  }

  public var isIPv6: Bool { if case .v6 = self { true } else { false } }

  /// 127.0.0.0/8 and ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low): high == 0 && low == 1
    }
  }

  /// 169.254.0.0/16 and fe80::/10.
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xA9FE
    case .v6(let high, _): high >> 54 == 0xFE80 >> 6
    }
  }

  /// True if a single host can have it: neither unspecified nor multicast nor broadcast, nor IPv4 mapped into IPv6.
  public var isUnicast: Bool {
    switch self {
    case .v4(let value): value >> 24 != 0 && value >> 28 != 0xE && value != .max
    case .v6(let high, let low): high >> 56 != 0xFF && (high != 0 || low >> 32 != 0xFFFF && low != 0)
    }
  }

  /// True if both share the first `length` bits, and the family.
  public func hasPrefix(of other: IPAddress, length: Int) -> Bool {
    switch (self, other) {
    case (.v4(let left), .v4(let right)):
      let bits = min(max(length, 0), 32)
      return bits == 0 || (left ^ right) >> UInt32(32 - bits) == 0
    case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
      let bits = min(max(length, 0), 128)
      if bits <= 64 { return bits == 0 || (high ^ otherHigh) >> UInt64(64 - bits) == 0 }
      return high == otherHigh && (low ^ otherLow) >> UInt64(128 - bits) == 0
    default: return false
    }
  }
}

extension IPAddress: CustomStringConvertible {
  /// Dotted quads, and RFC 5952's form for IPv6.
  public var description: String {
    switch self {
    case .v4: return bytes.map { String($0) }.joined(separator: ".")
    case .v6(let high, let low):
      let groups = [high, low].flatMap { word in
        stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: word >> UInt64($0)) }
      }
      let zeros = Self.longestZeroRun(groups)
      let text = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
      guard let zeros else { return text(groups[...]) }
      return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }
  }

  /// The first longest run of at least two zero groups.
  private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
    var best: Range<Int>?
    var start: Int?
    for index in 0...groups.count {
      if index < groups.count, groups[index] == 0 {
        start = start ?? index
      } else if let first = start {
        if index - first > max(best?.count ?? 0, 1) { best = first..<index }
        start = nil
      }
    }
    return best
  }
}
