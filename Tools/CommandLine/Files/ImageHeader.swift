extension ImageKind {
  /// Recognises a file by its first bytes (64 are enough, fewer may do); nil for anything else. If the magic number is
  /// short, more than that is checked: many texts begin with "BM".
  init?(header: some Collection<UInt8>) {
    let bytes = Array(header.prefix(Self.headerLength))
    let readers: [([UInt8]) -> ImageKind?] = [
      Self.jpegOrPNG, Self.gif, Self.webp, Self.isoMedia, Self.tiff, Self.fujifilm, Self.bmp, Self.jpegXL, Self.qoi,
      Self.oldQuickTime, Self.xmp,
    ]
    guard let kind = readers.lazy.compactMap({ $0(bytes) }).first else { return nil }
    self = kind
  }

  private static func jpegOrPNG(_ bytes: [UInt8]) -> ImageKind? {
    // SOI, then the FF of the next marker and its code (ISO/IEC 10918-1, annex B): never 00, never below C0; FF is a
    // fill byte.
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]), bytes.count > 3, bytes[3] >= 0xC0, bytes[3] != 0xD8 { return .jpeg }
    // The signature and IHDR, which comes first (PNG, section 5.6).
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), has("IHDR", in: bytes, at: 12) {
      return .png
    }
    return nil
  }

  private static func gif(_ bytes: [UInt8]) -> ImageKind? {
    has("GIF87a", in: bytes, at: 0) || has("GIF89a", in: bytes, at: 0) ? .gif : nil
  }

  /// RFC 9649, section 2.
  private static func webp(_ bytes: [UInt8]) -> ImageKind? {
    guard has("RIFF", in: bytes, at: 0), has("WEBP", in: bytes, at: 8) else { return nil }
    return ["VP8 ", "VP8L", "VP8X"].contains { has($0, in: bytes, at: 12) } ? .webp : nil
  }

  /// The file type box of ISO/IEC 14496-12, section 4.3: a major brand, a version, compatible brands.
  private static func isoMedia(_ bytes: [UInt8]) -> ImageKind? {
    guard has("ftyp", in: bytes, at: 4), let size = bigEndian32(bytes, at: 0), size >= 16, size % 4 == 0, size <= 1024
    else { return nil }
    let brands = [8] + Array(stride(from: 16, to: min(Int(size), bytes.count) - 3, by: 4))
    let kinds = brands.map { brand(Array(bytes.dropFirst($0).prefix(4))) }
    // `mif1` and `msf1` only mean "an image"; a compatible brand tells which kind. A film may name an image brand among
    // the compatible ones, and an image a film's: the major brand decides.
    guard let major = kinds.first ?? nil else { return nil }
    return major == .heif ? kinds.lazy.compactMap { $0 }.first { $0 != .heif && !$0.isVideo } ?? .heif : major
  }

  private static func brand(_ name: [UInt8]) -> ImageKind? {
    switch String(decoding: name, as: UTF8.self) {
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heic
    case "avif", "avis": .avif
    case "mif1", "mif2", "msf1": .heif
    case "crx ": .canonRaw3
    case "qt  ": .quickTime
    // The registered ones that cameras and phones write (mp4ra.org). Sound has brands of its own.
    case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "mp71", "avc1", "M4V ", "M4VH", "M4VP", "MSNV",
      "NDAS", "XAVC", "CAEP":
      .mp4
    default: name.starts(with: "3gp".utf8) || name.starts(with: "3g2".utf8) ? .threeGP : nil
    }
  }

  /// Apple's QuickTime File Format before it had a file type box: cameras begin with the film's table or its data, or
  /// with the room for a larger size of that.
  private static func oldQuickTime(_ bytes: [UInt8]) -> ImageKind? {
    guard let size = bigEndian32(bytes, at: 0), has("wide", in: bytes, at: 4) || has("moov", in: bytes, at: 4) else {
      return nil
    }
    if has("wide", in: bytes, at: 4) { return size == 8 && has("mdat", in: bytes, at: 12) ? .quickTime : nil }
    return size >= 16 && has("mvhd", in: bytes, at: 12) ? .quickTime : nil
  }

  /// The start of a RAF file, as exiftool's documentation of the format has it.
  private static func fujifilm(_ bytes: [UInt8]) -> ImageKind? {
    has("FUJIFILMCCD-RAW ", in: bytes, at: 0) ? .fujifilmRaw : nil
  }

  /// ISO 16684-1: a packet, or its root element, with or without an XML declaration before it.
  private static func xmp(_ bytes: [UInt8]) -> ImageKind? {
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    let starts = ["<?xpacket", "<x:xmpmeta"]
    if starts.contains(where: { has($0, in: text, at: 0) }) { return .xmp }
    guard has("<?xml", in: text, at: 0), let end = text.firstIndex(of: UInt8(ascii: ">")) else { return nil }
    let rest = text[(end + 1)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return starts.contains { rest.starts(with: $0.utf8) } ? .xmp : nil
  }

  /// TIFF 6.0, section 2, and the camera formats that are based on it.
  private static func tiff(_ bytes: [UInt8]) -> ImageKind? {
    guard bytes.count >= 8 else { return nil }
    switch Array(bytes[..<4]) {
    case [0x49, 0x49, 0x2A, 0x00]:
      guard let directory = littleEndian32(bytes, at: 4), directory >= 8 else { return nil }
      return has("CR\u{02}", in: bytes, at: 8) ? .canonRaw2 : .tiff
    case [0x4D, 0x4D, 0x00, 0x2A]: return (bigEndian32(bytes, at: 4) ?? 0) >= 8 ? .tiff : nil
    // BigTIFF: 8-byte offsets.
    case [0x49, 0x49, 0x2B, 0x00]: return bytes[4...].starts(with: [8, 0, 0, 0]) ? .tiff : nil
    case [0x4D, 0x4D, 0x00, 0x2B]: return bytes[4...].starts(with: [0, 8, 0, 0]) ? .tiff : nil
    case [0x49, 0x49, 0x55, 0x00]: return .panasonicRaw
    case [0x49, 0x49, 0x52, 0x4F], [0x49, 0x49, 0x52, 0x53], [0x4D, 0x4D, 0x4F, 0x52]: return .olympusRaw
    default: return nil
    }
  }

  /// BITMAPFILEHEADER and the start of the information header after it.
  private static func bmp(_ bytes: [UInt8]) -> ImageKind? {
    guard has("BM", in: bytes, at: 0), let reserved = littleEndian32(bytes, at: 6), reserved == 0,
      let pixels = littleEndian32(bytes, at: 10), let header = littleEndian32(bytes, at: 14),
      [12, 16, 40, 52, 56, 64, 108, 124].contains(header), pixels >= 14 + header, pixels < 1 << 20,
      let planes = littleEndian16(bytes, at: header == 12 ? 22 : 26), planes == 1,
      let depth = littleEndian16(bytes, at: header == 12 ? 24 : 28), [0, 1, 2, 4, 8, 16, 24, 32].contains(depth)
    else { return nil }
    return .bmp
  }

  /// ISO/IEC 18181-2: the container's signature box, or the bare codestream.
  private static func jpegXL(_ bytes: [UInt8]) -> ImageKind? {
    let container: [UInt8] = [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
    return bytes.starts(with: container) || (bytes.count >= 12 && bytes.starts(with: [0xFF, 0x0A])) ? .jpegXL : nil
  }

  /// The QOI specification: magic, width, height, 3 or 4 channels, one of two colour spaces.
  private static func qoi(_ bytes: [UInt8]) -> ImageKind? {
    guard has("qoif", in: bytes, at: 0), bytes.count >= 14, let width = bigEndian32(bytes, at: 4),
      let height = bigEndian32(bytes, at: 8), width > 0, height > 0, bytes[12] == 3 || bytes[12] == 4, bytes[13] <= 1
    else { return nil }
    return .qoi
  }

  private static func has(_ text: String, in bytes: [UInt8], at offset: Int) -> Bool {
    bytes.dropFirst(offset).starts(with: text.utf8)
  }

  private static func bigEndian32(_ bytes: [UInt8], at offset: Int) -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func littleEndian32(_ bytes: [UInt8], at offset: Int) -> UInt32? {
    bigEndian32(bytes, at: offset)?.byteSwapped
  }

  private static func littleEndian16(_ bytes: [UInt8], at offset: Int) -> UInt16? {
    guard offset + 2 <= bytes.count else { return nil }
    return UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
  }
}
