/// A picture as a PNG (PNG, third edition) in which nothing is compressed, for programs that read pictures of every
/// kind.
enum UncompressedPNG {
  /// - Parameter picture: of rows shorter than 64 KiB.
  static func bytes(of picture: Picture) -> [UInt8] {
    var header = big(UInt32(picture.width)) + big(UInt32(picture.height))
    // Eight bits of red, green and blue.
    header += [8, 2, 0, 0, 0]
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    bytes += chunk("IHDR", header)
    bytes += chunk("IDAT", data(of: picture))
    bytes += chunk("IEND", [])
    return bytes
  }

  /// Rows behind a filter that does nothing, each a stored block of RFC 1951, in the frame of RFC 1950.
  private static func data(of picture: Picture) -> [UInt8] {
    var bytes: [UInt8] = [0x78, 0x01]
    var (low, high) = (UInt32(1), UInt32(0))
    for y in 0..<picture.height {
      let row = [0] + picture.bytes[(y * picture.width * 3)..<((y + 1) * picture.width * 3)]
      let length = UInt16(truncatingIfNeeded: row.count)
      bytes.append(y == picture.height - 1 ? 1 : 0)
      bytes += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)] + row
      for byte in row {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
      }
    }
    return bytes + big(high << 16 | low)
  }

  private static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(kind.utf8) + content
    let sum = body.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    return big(UInt32(content.count)) + body + big(~sum)
  }

  /// Of the cyclic redundancy code that each chunk ends with.
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  private static func big(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }
}
