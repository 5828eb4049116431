/// Reads the extensible part of a hello or an offer: fields, each an id, a length and a value. Ids ascend, so no id
/// comes twice and there is only one order. The caller skips ids that it doesn't know.
struct FieldReader {
  private var reader: ByteReader
  private let kind: String
  private var lastID: UInt64?
  private var count = 0

  /// - Parameter kind: the name of a field in errors.
  init(_ reader: ByteReader, kind: String) {
    self.reader = reader
    self.kind = kind
  }

  /// Returns the next field, or nil at the end.
  mutating func next() throws(WireError) -> (id: UInt64, value: ByteReader)? {
    guard !reader.isAtEnd else { return nil }
    let id = try reader.integer("id")
    if let lastID, id <= lastID { throw reader.malformed("\(kind) \(id) after \(lastID)") }
    lastID = id
    count += 1
    guard count <= WireLimits.parameters else { throw reader.malformed("more than \(WireLimits.parameters) \(kind)s") }
    // Only the frame limits an unknown field; known fields have limits of their own.
    let value = try reader.counted("value", atMost: WireLimits.largestFrame)
    return (id, reader.nested(value))
  }
}
