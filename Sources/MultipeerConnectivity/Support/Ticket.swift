/// The proof that one session's node shows another's, so that the latter knows for which accepted invitation it comes.
/// Random, sent over a link whose other end is proven, and valid for one session only.
struct Ticket: Sendable, Hashable {
  let bytes: [UInt8]
  static let byteCount = 16

  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  init(from reader: inout PaperReader) throws(PaperReader.Malformed) {
    bytes = try reader.field(upTo: Self.byteCount)
    guard bytes.count == Self.byteCount else { throw PaperReader.Malformed() }
  }

  init(context: [UInt8]) throws(PaperReader.Malformed) {
    var reader = try PaperReader(context)
    try self.init(from: &reader)
  }

  func write(to writer: inout PaperWriter) { writer.append(field: bytes) }

  var context: [UInt8] {
    var writer = PaperWriter()
    write(to: &writer)
    return writer.bytes
  }
}
