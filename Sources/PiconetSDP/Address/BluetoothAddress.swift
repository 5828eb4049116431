/// The 48-bit address of a Bluetooth controller (BD_ADDR, Core 5.4, Vol 2 Part B 1.2).
public struct BluetoothAddress: Sendable, Hashable, Comparable, LosslessStringConvertible {
  /// The address as a number: the first two digits of its text are the most significant byte.
  public let rawValue: UInt64

  /// Only the lower 48 bits count.
  public init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

  /// `00:11:22:33:44:55`, in either case; anything else gives nil.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 6 else { return nil }
    var value: UInt64 = 0
    for part in parts {
      guard part.count == 2, part.allSatisfy({ ($0 | 0x20) != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let byte = UInt8(String(decoding: part, as: UTF8.self), radix: 16)
      else { return nil }
      value = value << 8 | UInt64(byte)
    }
    self.init(rawValue: value)
  }

  public var description: String {
    stride(from: 40, through: 0, by: -8).map { shift in
      let byte = UInt8(truncatingIfNeeded: rawValue >> UInt64(shift))
      return (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined(separator: ":")
  }

  public static func < (left: BluetoothAddress, right: BluetoothAddress) -> Bool { left.rawValue < right.rawValue }
}
