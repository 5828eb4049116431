import PiconetWire

extension UInt64: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.append(self) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> UInt64 { try reader.integer() }
}

extension UInt16: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.append(UInt64(self)) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> UInt16 {
    guard let value = UInt16(exactly: try reader.integer()) else { throw TraceError.malformed("not 16 bits") }
    return value
  }
}

/// Counts of bytes and of other things. They are never negative, and so small that sums of them stay far below what an
/// `Int` holds. Only `Int.max` is larger, and means "without limit".
extension Int: TraceCoded {
  static let traceLimit = 1 << 40

  func write(to bytes: inout TraceBytes) { bytes.append(UInt64(clamping: self)) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Int {
    guard let value = Int(exactly: try reader.integer()), value <= traceLimit || value == .max else {
      throw TraceError.malformed("a count above \(traceLimit)")
    }
    return value
  }
}

extension Int64: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.append(UInt64(bitPattern: self)) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Int64 {
    Int64(bitPattern: try reader.integer())
  }
}

extension Bool: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.bytes.append(self ? 1 : 0) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Bool {
    switch try reader.byte() {
    case 0: return false
    case 1: return true
    default: throw TraceError.malformed("neither true nor false")
    }
  }
}

extension String: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes.append(UInt64(utf8.count))
    bytes.bytes.append(contentsOf: utf8)
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> String {
    guard let text = String(validating: try reader.bytes(reader.integer()), as: UTF8.self) else {
      throw TraceError.malformed("text that is not UTF-8")
    }
    return text
  }
}

extension ArraySlice: TraceCoded where Element == UInt8 {
  func write(to bytes: inout TraceBytes) {
    bytes.append(UInt64(count))
    bytes.bytes.append(contentsOf: self)
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Bytes { try reader.bytes(reader.integer()) }
}

extension UInt8: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes.bytes.append(self) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> UInt8 { try reader.byte() }
}

extension Array: TraceCoded where Element: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes.append(UInt64(count))
    for element in self { element.write(to: &bytes) }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> [Element] {
    var elements: [Element] = []
    for _ in 0..<(try reader.count()) { elements.append(try reader()) }
    return elements
  }
}

extension Optional: TraceCoded where Wrapped: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes(self != nil)
    if let self { bytes(self) }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Wrapped? {
    guard try reader() as Bool else { return nil }
    return try reader() as Wrapped
  }
}

/// Written as pairs in the order of their keys, so that the same dictionary gives the same bytes.
extension Dictionary: TraceCoded where Key == String, Value == String {
  func write(to bytes: inout TraceBytes) {
    bytes.append(UInt64(count))
    for key in keys.sorted() { bytes(key, self[key] ?? "") }
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> [String: String] {
    var pairs: [String: String] = [:]
    for _ in 0..<(try reader.count()) { pairs[try reader()] = try reader() as String }
    return pairs
  }
}

extension Duration: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    let (seconds, attoseconds) = components
    bytes(seconds, attoseconds)
  }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Duration {
    let (seconds, attoseconds): (Int64, Int64) = (try reader(), try reader())
    guard attoseconds.magnitude < 1_000_000_000_000_000_000 else { throw TraceError.malformed("not a duration") }
    return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
  }
}

extension Instant: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(nanoseconds) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> Instant {
    Instant(nanoseconds: try reader())
  }
}
