/// Bytes as base64 text (RFC 4648).
package enum Base64Text: Sendable {
  /// Section 4, with padding.
  case padded
  /// Section 5, for URLs and JSON, without padding.
  case url

  private static let padding = UInt8(ascii: "=")
  private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let paddedDigits = common + Array("+/".utf8)
  private static let urlDigits = common + Array("-_".utf8)

  private var digits: [UInt8] { self == .padded ? Self.paddedDigits : Self.urlDigits }

  package func encode(_ bytes: [UInt8]) -> [UInt8] {
    let digits = digits
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for index in 0...group.count { text.append(digits[Int(bits >> UInt32(18 - 6 * index)) & 0x3F]) }
      if self == .padded { for _ in group.count..<3 { text.append(Self.padding) } }
    }
    return text
  }

  /// Returns nil for text that `encode` never writes.
  package func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var length = text.count
    if self == .padded {
      guard length.isMultiple(of: 4) else { return nil }
      length -= text.suffix(2).reversed().prefix { $0 == Self.padding }.count
    }
    let digits = digits
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length / 4 * 3 + 2)
    var (bits, count) = (UInt32(0), 0)
    for character in text.prefix(length) {
      guard let value = digits.firstIndex(of: character) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= 1 << UInt32(count) - 1
      }
    }
    // The remaining bits belong to no byte, and are zero if the text has no typing error.
    return count < 6 && bits == 0 ? bytes : nil
  }
}
