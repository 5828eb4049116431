/// Files that are made to harm the program that decodes them.
enum HostilePictures {
  private static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
  private static func big32(_ value: Int) -> [UInt8] { big16(value >> 16) + big16(value & 0xFFFF) }

  // MARK: JPEG

  /// A marker with its content.
  static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + big16(content.count + 2) + content
  }

  /// A grey picture of this size, with so many scans of nothing.
  /// - Parameter frame: 0xC0 for one of one scan, 0xC2 for one that gets better with each.
  static func jpeg(width: Int, height: Int, frame: UInt8 = 0xC0, scans: Int = 1) -> [UInt8] {
    let scan: [UInt8] = frame == 0xC2 ? [1, 1, 0, 0, 0, 0] : [1, 1, 0, 0, 63, 0]
    let codes = [1] + [UInt8](repeating: 0, count: 15) + [0]
    return [0xFF, 0xD8] + segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
      + segment(frame, [8] + big16(height) + big16(width) + [1, 1, 0x11, 0])
      + segment(0xC4, [0x00] + codes) + segment(0xC4, [0x10] + codes)
      + (0..<scans).flatMap { _ in segment(0xDA, scan) + [0x00] } + [0xFF, 0xD9]
  }

  /// With an EXIF block that says how it is turned, behind the start.
  static func turned(_ jpeg: [UInt8], orientation: UInt8) -> [UInt8] {
    var exif = Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0]
    exif += [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
    return Array(jpeg[..<2]) + segment(0xE1, exif) + Array(jpeg[2...])
  }

  /// With so many blocks of that kind, as large as they can be, behind the start.
  static func stuffed(_ jpeg: [UInt8], marker: UInt8, count: Int) -> [UInt8] {
    let block = segment(marker, Array("Exif\0\0MM".utf8) + [UInt8](repeating: 0xFF, count: 65_500))
    return Array(jpeg[..<2]) + (0..<count).flatMap { _ in block } + Array(jpeg[2...])
  }

  // MARK: PNG

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    let sum = body.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    return big32(content.count) + body + big32(Int(~sum))
  }

  /// So many zeros, as zlib would write them: 258 of them take 13 bits.
  static func zeros(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = [0x78, 0x01]
    var (bits, held): (UInt32, UInt32) = (0, 0)
    // Huffman codes go in from their highest bit, RFC 1951, 3.1.1.
    func put(_ code: UInt32, _ length: UInt32) {
      for index in (0..<length).reversed() {
        bits |= (code >> index & 1) << held
        held += 1
        if held == 8 {
          bytes.append(UInt8(bits))
          (bits, held) = (0, 0)
        }
      }
    }
    put(1, 1)
    put(0b10, 2)
    put(0x30, 8)
    for _ in 0..<((count - 1) / 258) { put(0xC5, 8); put(0, 5) }
    for _ in 0..<((count - 1) % 258) { put(0x30, 8) }
    put(0, 7)
    while held > 0 { put(0, 1) }
    // Adler-32 of zeros.
    return bytes + big16(count % 65_521) + [0, 1]
  }

  /// - Parameters:
  ///   - depth: bits a pixel, of grey.
  ///   - extra: chunks before the pixels.
  static func png(
    width: Int, height: Int, depth: UInt8 = 8, isInterlaced: Bool = false, extra: [UInt8] = [], data: [UInt8]
  ) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", big32(width) + big32(height) + [depth, 0, 0, 0, isInterlaced ? 1 : 0]) + extra
      + chunk("IDAT", data) + chunk("IEND", [])
  }
}
