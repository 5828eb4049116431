/// A universally unique identifier of a service or protocol (Core 5.4, Vol 3 Part B 2.5): 128 bits; short ones are
/// offsets from the Bluetooth Base UUID.
public struct BluetoothUUID: Sendable, Hashable, LosslessStringConvertible {
  /// The upper and the lower half, big-endian as in the text.
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A 16-bit or 32-bit UUID on the Bluetooth Base UUID 00000000-0000-1000-8000-00805F9B34FB.
  public init(short: UInt32) { self.init(high: UInt64(short) << 32 | 0x1000, low: 0x8000_0080_5F9B_34FB) }

  /// Exactly 16 bytes, big-endian; any other count gives nil.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for (index, byte) in bytes.enumerated() {
      if index < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// `6f9619ff-8b86-5011-b42d-00cf4fc964ff`, in either case; anything else gives nil.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }),
      let first = UInt64(parts[0...2].joined(), radix: 16), let second = UInt64(parts[3...4].joined(), radix: 16)
    else { return nil }
    self.init(high: first, low: second)
  }

  /// The version 5 UUID (RFC 9562, section 5.5) from the SHA-1 of namespace and name, of which the first 16 bytes
  /// count; nil for fewer.
  public init?(version5 digest: some Collection<UInt8>) {
    guard let plain = BluetoothUUID(bytes: digest.prefix(16)) else { return nil }
    self.init(
      high: plain.high & ~0xF000 | 0x5000, low: plain.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// The number of a 16-bit or 32-bit UUID; nil if this one is not on the Bluetooth Base UUID.
  public var short: UInt32? {
    let short = UInt32(truncatingIfNeeded: high >> 32)
    return self == BluetoothUUID(short: short) ? short : nil
  }

  /// 16 bytes, big-endian.
  public var bytes: [UInt8] {
    [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) } }
  }

  /// Lower case, as BlueZ writes it.
  public var description: String {
    let digits = [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
    var rest = digits[...]
    return [8, 4, 4, 4, 12].map { count in
      defer { rest = rest.dropFirst(count) }
      return String(rest.prefix(count))
    }.joined(separator: "-")
  }

  /// The namespace of the service UUIDs that are derived from session ids: version 5 of SHA-1 over this and the session
  /// id's UTF-8.
  public static let sessionNamespace = BluetoothUUID(high: 0x2F0B_5B1C_7C3E_4A7D, low: 0x9E55_6D0A_3C41_8B92)
}
