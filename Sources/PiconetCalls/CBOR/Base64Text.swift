/// Bytes as the text of RFC 4648, section 4.
enum Base64Text {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(3))
      rest = rest.dropFirst(3)
      let bits = (0..<3).reduce(UInt32(0)) { $0 << 8 | ($1 < part.count ? UInt32(part[$1]) : 0) }
      for digit in 0..<4 {
        text.append(digit <= part.count ? digits[Int(bits >> UInt32(18 - 6 * digit) & 0x3F)] : padding)
      }
    }
    return text
  }

  /// nil for what `encode` never writes.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var rest = text[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(4))
      rest = rest.dropFirst(4)
      let missing = part.reversed().prefix { $0 == padding }.count
      guard missing <= 2, missing == 0 || rest.isEmpty else { return nil }
      var bits: UInt32 = 0
      for digit in part.dropLast(missing) {
        guard let value = value(digit) else { return nil }
        bits = bits << 6 | value
      }
      bits <<= UInt32(6 * missing)
      // Bits that stand for nothing are 0.
      guard bits & (1 << UInt32(8 * missing) - 1) == 0 else { return nil }
      for index in 0..<(3 - missing) { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))) }
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
