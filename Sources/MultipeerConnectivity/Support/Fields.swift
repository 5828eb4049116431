/// Bytes that the two sides of this module exchange inside greetings, contexts and messages of Piconet: a version, then
/// big-endian integers, and fields with two bytes of length before them. Bytes behind the fields that a reader knows
/// belong to a later version.
struct PaperWriter {
  private(set) var bytes: [UInt8] = [PaperReader.version]

  mutating func append(_ integer: some FixedWidthInteger & UnsignedInteger) {
    withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// - Parameter field: at most 65,535 bytes.
  mutating func append(field: some Collection<UInt8>) {
    append(UInt16(clamping: field.count))
    bytes.append(contentsOf: field.prefix(Int(UInt16.max)))
  }
}

struct PaperReader {
  static let version: UInt8 = 1
  struct Malformed: Error {}

  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Sequence<UInt8>) throws(Malformed) {
    rest = Array(bytes)[...]
    guard try integer(UInt8.self) == Self.version else { throw Malformed() }
  }

  mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
    _ type: Integer.Type
  ) throws(Malformed) -> Integer {
    Integer.decoded(try take(Integer.bitWidth / 8))
  }

  /// - Parameter limit: a longer field is malformed.
  mutating func field(upTo limit: Int) throws(Malformed) -> [UInt8] {
    let count = Int(try integer(UInt16.self))
    guard count <= limit else { throw Malformed() }
    return Array(try take(count))
  }

  /// A field of UTF-8.
  mutating func text(upTo limit: Int) throws(Malformed) -> String {
    guard let text = String(validating: try field(upTo: limit), as: UTF8.self) else { throw Malformed() }
    return text
  }

  private mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw Malformed() }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

extension FixedWidthInteger {
  fileprivate static func decoded(_ bytes: ArraySlice<UInt8>) -> Self {
    bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}
