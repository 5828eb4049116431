import PiconetWire

/// A type that a trace can hold. It defines how it is written and how it is read, field by field in the same order.
protocol TraceCoded {
  func write(to bytes: inout TraceBytes)
  static func read(from reader: inout TraceReader) throws(TraceError) -> Self
}

/// The bytes of a trace, to which more are appended.
struct TraceBytes {
  var bytes: [UInt8] = []

  /// Appends the values, one after the other.
  mutating func callAsFunction<each Value: TraceCoded>(_ value: repeat each Value) {
    repeat (each value).write(to: &self)
  }

  /// Appends one case of an enumeration: its tag, then its values.
  mutating func callAsFunction<Tag: RawRepresentable<UInt8>, each Value: TraceCoded>(
    _ tag: Tag, _ value: repeat each Value
  ) {
    bytes.append(tag.rawValue)
    repeat (each value).write(to: &self)
  }

  /// Appends an integer: seven bits a byte, the lowest first. The high bit says that more follow.
  mutating func append(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}

/// Reads what `TraceBytes` wrote. Any other bytes give an error, whatever they are.
struct TraceReader {
  private(set) var rest: Bytes

  init(_ bytes: Bytes) { rest = bytes }

  /// Reads the next value, of the requested type.
  mutating func callAsFunction<Value: TraceCoded>() throws(TraceError) -> Value { try Value.read(from: &self) }

  /// Reads the tag of an enumeration's case.
  mutating func tag<Tag: RawRepresentable<UInt8>>(_ type: Tag.Type) throws(TraceError) -> Tag {
    let byte = try byte()
    guard let tag = Tag(rawValue: byte) else { throw TraceError.malformed("no case has the tag \(byte)") }
    return tag
  }

  mutating func byte() throws(TraceError) -> UInt8 {
    guard let first = rest.popFirst() else { throw TraceError.malformed("a record ends too early") }
    return first
  }

  mutating func integer() throws(TraceError) -> UInt64 {
    var value: UInt64 = 0
    for shift: UInt64 in stride(from: 0, through: 63, by: 7) {
      let byte = try byte()
      let bits = UInt64(byte & 0x7F)
      guard shift < 63 || bits <= 1 else { break }
      value |= bits << shift
      if byte < 0x80 { return value }
    }
    throw TraceError.malformed("an integer above 64 bits")
  }

  mutating func bytes(_ count: UInt64) throws(TraceError) -> Bytes {
    guard count <= UInt64(rest.count) else { throw TraceError.malformed("a record ends too early") }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  /// Reads how many elements follow. Each takes at least a byte, so no count can ask for more memory than there are
  /// bytes.
  mutating func count() throws(TraceError) -> Int {
    let count = try integer()
    guard count <= UInt64(rest.count) else { throw TraceError.malformed("\(count) elements in \(rest.count) bytes") }
    return Int(count)
  }

  func end() throws(TraceError) {
    guard rest.isEmpty else { throw TraceError.malformed("\(rest.count) bytes too many in a record") }
  }
}
