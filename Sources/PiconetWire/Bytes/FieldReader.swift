/// Reads the extensible part of a hello or an offer: fields, each an id, a length and a value. Ids ascend, so none
/// comes twice and there is only one order; the caller skips ids that it doesn't know.
struct FieldReader {
  private var reader: ByteReader
  private let kind: String
  private var lastID: UInt64?
  private var count = 0

  /// - Parameter kind: what errors call a field.
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
    // An unknown field is limited only by the frame; known ones have limits of their own.
    let value = try reader.counted("value", atMost: WireLimits.largestFrame)
    return (id, reader.nested(value))
  }
}
