import PiconetWire

/// What a frame of the control connection can hold. Each type says how it is written and how it is read, in the same
/// order.
protocol RelayCoded {
  func write(to bytes: inout RelayBytes)
  static func read(from reader: inout RelayReader) throws(RelayError) -> Self
}

/// The limits of one frame: anything above them is refused, no matter who sent it.
enum RelayLimits {
  /// The longest frame, without its length. The bytes of a link come in pieces of at most `piece`.
  static let frame = 96 << 10
  static let piece = 64 << 10
  /// Longer texts are cut when they are written, and refused when they are read.
  static let text = 8 << 10
  static let elements = 256
}

/// The bytes of a frame that is being written.
struct RelayBytes {
  private(set) var bytes: [UInt8] = []

  /// The values, one after the other.
  mutating func callAsFunction<each Value: RelayCoded>(_ value: repeat each Value) {
    repeat (each value).write(to: &self)
  }

  /// One case of an enumeration: its tag, then what it carries.
  mutating func callAsFunction<Tag: RawRepresentable<UInt8>, each Value: RelayCoded>(
    _ tag: Tag, _ value: repeat each Value
  ) {
    bytes.append(tag.rawValue)
    repeat (each value).write(to: &self)
  }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func append(contentsOf more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Eight bytes, the highest first.
  mutating func append(_ number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}

/// Reads what `RelayBytes` wrote; any other bytes give an error, whatever they are.
struct RelayReader {
  private(set) var rest: Bytes

  init(_ bytes: Bytes) { rest = bytes }

  /// The next value, of the type that is asked for.
  mutating func callAsFunction<Value: RelayCoded>() throws(RelayError) -> Value { try Value.read(from: &self) }

  /// The tag of an enumeration's case.
  mutating func tag<Tag: RawRepresentable<UInt8>>(_ type: Tag.Type) throws(RelayError) -> Tag {
    let byte = try byte()
    guard let tag = Tag(rawValue: byte) else { throw RelayError("there is no \(type) \(byte)") }
    return tag
  }

  mutating func byte() throws(RelayError) -> UInt8 {
    guard let first = rest.popFirst() else { throw RelayError("a frame ends too early") }
    return first
  }

  mutating func number() throws(RelayError) -> UInt64 {
    try bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func bytes(_ count: UInt64) throws(RelayError) -> Bytes {
    guard count <= UInt64(rest.count) else { throw RelayError("a frame ends too early") }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  /// How many elements follow.
  mutating func count() throws(RelayError) -> Int {
    let count = try number()
    guard count <= UInt64(RelayLimits.elements) else { throw RelayError("\(count) elements are too many") }
    return Int(count)
  }

  func end() throws(RelayError) {
    guard rest.isEmpty else { throw RelayError("\(rest.count) bytes too many in a frame") }
  }
}
