extension Sequence<UInt8> {
  /// Lower-case hexadecimal digits, two a byte.
  public var hexadecimal: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(underestimatedCount * 2)
    for byte in self {
      for nibble in [byte >> 4, byte & 0x0F] { digits.append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble) }
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Reads hexadecimal digits of either case, two a byte; nil for any other text.
  public init?(hexadecimal text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.nibble(digits[index]), let low = Self.nibble(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self = bytes
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
