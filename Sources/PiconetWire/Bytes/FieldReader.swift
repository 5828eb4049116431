/// Reads the extensible part of a hello or an offer: fields, each an id, a length and a value. Ids ascend, so none
/// comes twice and there is one order only; ids that the caller doesn't know it leaves alone.
struct FieldReader {
  private var reader: ByteReader
  private let kind: String
  private var lastID: UInt64?
  private var count = 0

  /// - Parameter kind: What errors call a field.
  init(_ reader: ByteReader, kind: String) {
    self.reader = reader
    self.kind = kind
  }

  /// The next field, or nil at the end.
  mutating func next() throws(WireError) -> (id: UInt64, value: ByteReader)? {
    guard !reader.isAtEnd else { return nil }
    let id = try reader.integer("id")
    if let lastID, id <= lastID { throw reader.malformed("\(kind) \(id) after \(lastID)") }
    lastID = id
    count += 1
    guard count <= WireLimits.parameters else { throw reader.malformed("more than \(WireLimits.parameters) \(kind)s") }
    // The frame is the limit of an unknown field; known ones have their own.
    let value = try reader.counted("value", atMost: WireLimits.largestFrame)
    return (id, reader.nested(value))
  }
}
