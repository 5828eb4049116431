/// The variable-length integers of RFC 9000, section 16. The two high bits of the first byte give the length (1, 2, 4
/// or 8 bytes). The rest is the value, big-endian. Only the shortest form of a value is legal here, so that every value
/// has exactly one encoding. Because values have at most 62 bits, the sum of two never overflows an `Int`.
public enum VariableInteger {
  /// The largest value: 2^62 - 1.
  public static let max: UInt64 = 1 << 62 - 1

  /// Returns how many bytes the value takes.
  @inlinable
  public static func byteCount(of value: UInt64) -> Int {
    value < 0x40 ? 1 : value < 0x4000 ? 2 : value < 0x4000_0000 ? 4 : 8
  }

  /// Appends the value, which must not be above `max` (a larger value is cut to `max`).
  @inlinable
  public static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    switch value {
    case ..<0x40:
      bytes.append(UInt8(truncatingIfNeeded: value))
    case ..<0x4000:
      bytes.append(0x40 | UInt8(truncatingIfNeeded: value >> 8))
      bytes.append(UInt8(truncatingIfNeeded: value))
    case ..<0x4000_0000:
      bytes.append(0x80 | UInt8(truncatingIfNeeded: value >> 24))
      for shift: UInt64 in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    default:
      let value = Swift.min(value, max)
      bytes.append(0xC0 | UInt8(truncatingIfNeeded: value >> 56))
      for shift: UInt64 in [48, 40, 32, 24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
  }

  /// The outcome of reading an integer at the start of some bytes.
  public enum Reading: Equatable, Sendable {
    case value(UInt64, byteCount: Int)
    /// More bytes are needed.
    case incomplete
    /// The form is longer than the value needs.
    case notShortest
  }

  /// Reads the integer at `index` of `bytes`.
  @inlinable
  public static func read(_ bytes: Bytes, at index: Int) -> Reading {
    guard index < bytes.endIndex else { return .incomplete }
    let first = bytes[index]
    if first < 0x40 { return .value(UInt64(first), byteCount: 1) }
    let count = 1 << Int(first >> 6)
    guard bytes.endIndex - index >= count else { return .incomplete }
    var value = UInt64(first & 0x3F)
    for offset in 1..<count { value = value << 8 | UInt64(bytes[index + offset]) }
    guard byteCount(of: value) == count else { return .notShortest }
    return .value(value, byteCount: count)
  }
}
