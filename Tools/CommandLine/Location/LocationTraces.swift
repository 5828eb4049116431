import Glibc
import Piconet

/// Searches all bytes of a file for text that only a location has, wherever it is. It is a second check beside
/// exiftool's, which reads the parts that it knows. XMP names its fields, and films have their position as ISO 6709
/// behind one of two names.
enum LocationTraces {
  private static let marks: [[UInt8]] = [
    Array("GPSLatitude".utf8), Array("GPSLongitude".utf8), Array("location.ISO6709".utf8),
  ]
  /// `©xyz` of QuickTime, its length and language, and the sign that a position begins with.
  private static let position: [UInt8] = [0xA9, 0x78, 0x79, 0x7A]
  private static let pieceSize = 1 << 20
  /// The longest that is looked for, and may lie across two pieces.
  private static let overlap = 32

  /// - found: the form of the first trace; nil: no trace was found.
  /// - digest: SHA-256 of the whole content; nil if OpenSSL failed.
  struct Outcome: Hashable, Sendable {
    var found: String?
    var digest: [UInt8]?
  }

  /// Blocks on the disk.
  static func look(_ descriptor: Int32) throws(SystemFailure) -> Outcome {
    let digest = ContentDigest()
    var outcome = Outcome()
    var buffer = [UInt8](repeating: 0, count: overlap + pieceSize)
    var (kept, offset) = (0, 0)
    while true {
      let count = buffer.withUnsafeMutableBytes { bytes in
        pread(descriptor, bytes.baseAddress.map { $0 + kept }, pieceSize, off_t(offset))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw SystemFailure(number: errno) }
      if count == 0 { break }
      buffer.withUnsafeBytes { bytes in
        digest?.update(UnsafeRawBufferPointer(rebasing: bytes[kept..<(kept + count)]))
        if outcome.found == nil { outcome.found = mark(in: UnsafeRawBufferPointer(rebasing: bytes[..<(kept + count)])) }
      }
      offset += count
      let rest = min(overlap, kept + count)
      buffer.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        memmove(start, start + (kept + count - rest), rest)
      }
      kept = rest
    }
    outcome.digest = digest?.finish()
    return outcome
  }

  static func mark(in bytes: UnsafeRawBufferPointer) -> String? {
    for mark in marks where find(mark, in: bytes) != nil { return String(decoding: mark, as: UTF8.self) }
    var rest = bytes
    while let at = find(position, in: rest) {
      let sign = at + position.count + 4
      if sign < rest.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(rest[sign]) { return "a film's position" }
      rest = UnsafeRawBufferPointer(rebasing: rest[(at + 1)...])
    }
    return nil
  }

  private static func find(_ mark: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let first = mark.first else { return nil }
    var offset = 0
    while offset + mark.count <= bytes.count,
      let found = memchr(start + offset, Int32(first), bytes.count - mark.count + 1 - offset)
    {
      if memcmp(found, mark, mark.count) == 0 { return UnsafeRawPointer(found) - start }
      offset = UnsafeRawPointer(found) - start + 1
    }
    return nil
  }
}
