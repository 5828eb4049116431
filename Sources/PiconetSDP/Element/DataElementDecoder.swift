/// Reads data elements of any sender, within `DataElementLimits`: its work and memory are bounded whatever the bytes
/// are.
struct DataElementDecoder {
  private let bytes: [UInt8]
  private var offset = 0
  private var left = DataElementLimits.elements

  init(_ bytes: [UInt8]) throws(DataElementFailure) {
    guard bytes.count <= DataElementLimits.bytes else { throw .tooLong(bytes.count) }
    self.bytes = bytes
  }

  /// The single element that takes up all the bytes.
  mutating func whole() throws(DataElementFailure) -> DataElement {
    let element = try next(before: bytes.count, depth: 1)
    guard offset == bytes.count else { throw .trailingBytes(bytes.count - offset) }
    return element
  }

  private mutating func next(before end: Int, depth: Int) throws(DataElementFailure) -> DataElement {
    guard depth <= DataElementLimits.depth else { throw .tooDeep }
    guard left > 0 else { throw .tooManyElements }
    left -= 1
    let start = offset
    guard start < end else { throw .truncated(at: start) }
    let descriptor = bytes[start]
    offset += 1
    let size = descriptor & 7
    switch descriptor >> 3 {
    case 0 where size == 0: return .null
    case 1 where size <= 4: return try integer(1 << Int(size), isSigned: false, from: start, before: end)
    case 2 where size <= 4: return try integer(1 << Int(size), isSigned: true, from: start, before: end)
    case 3 where [1, 2, 4].contains(size):
      let digits = try take(1 << Int(size), from: start, before: end)
      if let long = BluetoothUUID(bytes: digits) { return .uuid(long) }
      return .uuid(BluetoothUUID(short: UInt32(truncatingIfNeeded: Self.number(digits))))
    case 4 where size >= 5: return .text(Array(try counted(size, from: start, before: end)))
    case 5 where size == 0:
      switch try take(1, from: start, before: end).first {
      case 0: return .boolean(false)
      case 1: return .boolean(true)
      default: throw .badBoolean(at: start)
      }
    case 6 where size >= 5: return .sequence(try members(size, from: start, before: end, depth: depth))
    case 7 where size >= 5: return .alternative(try members(size, from: start, before: end, depth: depth))
    case 8 where size >= 5: return .url(Array(try counted(size, from: start, before: end)))
    default: throw .badDescriptor(descriptor, at: start)
    }
  }

  private mutating func integer(
    _ count: Int, isSigned: Bool, from start: Int, before end: Int
  ) throws(DataElementFailure) -> DataElement {
    let digits = try take(count, from: start, before: end)
    guard let width = DataElement.Width(rawValue: UInt8(count)) else {
      return .wide(isSigned: isSigned, Array(digits))
    }
    let value = Self.number(digits)
    if !isSigned { return .unsigned(value, width) }
    let unused = UInt64(64 - 8 * count)
    return .signed(Int64(bitPattern: value << unused) >> Int64(unused), width)
  }

  private mutating func members(
    _ size: UInt8, from start: Int, before end: Int, depth: Int
  ) throws(DataElementFailure) -> [DataElement] {
    let count = try length(size, from: start, before: end)
    let inside = offset + count
    var members: [DataElement] = []
    while offset < inside { members.append(try next(before: inside, depth: depth + 1)) }
    return members
  }

  private mutating func counted(
    _ size: UInt8, from start: Int, before end: Int
  ) throws(DataElementFailure) -> ArraySlice<UInt8> {
    try take(length(size, from: start, before: end), from: start, before: end)
  }

  /// The length that follows a descriptor; it must fit into the enclosing element.
  private mutating func length(_ size: UInt8, from start: Int, before end: Int) throws(DataElementFailure) -> Int {
    let length = Int(Self.number(try take(1 << Int(size - 5), from: start, before: end)))
    guard length <= end - offset else { throw .truncated(at: start) }
    return length
  }

  private mutating func take(
    _ count: Int, from start: Int, before end: Int
  ) throws(DataElementFailure) -> ArraySlice<UInt8> {
    guard count <= end - offset else { throw .truncated(at: start) }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64 { digits.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension DataElement {
  /// Reads exactly one element.
  public init(decoding bytes: [UInt8]) throws(DataElementFailure) {
    var decoder = try DataElementDecoder(bytes)
    self = try decoder.whole()
  }
}
