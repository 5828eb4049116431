/// What one session's node shows another's, so that this one knows which accepted invitation it comes for. Random, told
/// over a link whose other end is proven, and good for one session only.
struct Ticket: Sendable, Hashable {
  let bytes: [UInt8]
  static let byteCount = 16

  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  init(from reader: inout FieldReader) throws(FieldReader.Malformed) {
    bytes = try reader.field(upTo: Self.byteCount)
    guard bytes.count == Self.byteCount else { throw FieldReader.Malformed() }
  }

  init(context: [UInt8]) throws(FieldReader.Malformed) {
    var reader = try FieldReader(context)
    try self.init(from: &reader)
  }

  func write(to writer: inout FieldWriter) { writer.append(field: bytes) }

  var context: [UInt8] {
    var writer = FieldWriter()
    write(to: &writer)
    return writer.bytes
  }
}
