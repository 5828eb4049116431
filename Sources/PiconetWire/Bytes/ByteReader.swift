/// Reads the fields of one frame's body. Every failure names the frame and the field.
struct ByteReader {
  private let type: UInt8
  private(set) var rest: Bytes

  init(_ body: Bytes, type: UInt8) {
    self.type = type
    rest = body
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Returns a reader of a part of the same frame.
  func nested(_ part: Bytes) -> ByteReader { ByteReader(part, type: type) }

  func malformed(_ what: String) -> WireError { .malformed(type: type, what: what) }

  mutating func byte(_ field: String) throws(WireError) -> UInt8 {
    guard let first = rest.popFirst() else { throw malformed("\(field) is missing") }
    return first
  }

  mutating func integer(_ field: String, atMost limit: UInt64 = VariableInteger.max) throws(WireError) -> UInt64 {
    switch VariableInteger.read(rest, at: rest.startIndex) {
    case .value(let value, let count):
      guard value <= limit else { throw malformed("\(field) is \(value), above \(limit)") }
      rest = rest.dropFirst(count)
      return value
    case .incomplete: throw malformed("\(field) is cut off")
    case .notShortest: throw malformed("\(field) is not in its shortest form")
    }
  }

  mutating func bytes(_ count: Int, _ field: String) throws(WireError) -> Bytes {
    guard rest.count >= count else { throw malformed("\(field) is cut off") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Reads bytes that follow their length.
  mutating func counted(_ field: String, atMost limit: Int) throws(WireError) -> Bytes {
    let count = try integer(field)
    guard count <= UInt64(limit) else { throw malformed("\(field) has \(count) bytes, above \(limit)") }
    return try bytes(Int(count), field)
  }

  mutating func countedText(_ field: String, atMost limit: Int) throws(WireError) -> String {
    try Self.text(counted(field, atMost: limit), field, type: type)
  }

  /// Reads the rest of the body as text.
  mutating func remainingText(_ field: String, atMost limit: Int) throws(WireError) -> String {
    guard rest.count <= limit else { throw malformed("\(field) has \(rest.count) bytes, above \(limit)") }
    defer { rest = rest.suffix(0) }
    return try Self.text(rest, field, type: type)
  }

  /// Reads the rest of the body.
  mutating func remainingBytes(_ field: String, atMost limit: Int) throws(WireError) -> [UInt8] {
    guard rest.count <= limit else { throw malformed("\(field) has \(rest.count) bytes, above \(limit)") }
    defer { rest = rest.suffix(0) }
    return Array(rest)
  }

  func end() throws(WireError) {
    guard rest.isEmpty else { throw malformed("\(rest.count) bytes too many") }
  }

  static func text(_ bytes: Bytes, _ field: String, type: UInt8) throws(WireError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WireError.malformed(type: type, what: "\(field) is not UTF-8")
    }
    return text
  }
}
