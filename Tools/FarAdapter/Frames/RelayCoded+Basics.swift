import PiconetWire

extension UInt64: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes.append(self) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> UInt64 { try reader.number() }
}

extension UInt16: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes.append(UInt64(self)) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> UInt16 {
    guard let value = UInt16(exactly: try reader.number()) else { throw RelayError("a number above 65535") }
    return value
  }
}

extension Int: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes.append(UInt64(bitPattern: Int64(self))) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Int {
    Int(Int64(bitPattern: try reader.number()))
  }
}

extension Bool: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes.append(self ? 1 as UInt8 : 0) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Bool {
    switch try reader.byte() {
    case 0: return false
    case 1: return true
    case let byte: throw RelayError("\(byte) is neither true nor false")
    }
  }
}

extension String: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    // A character that is cut becomes one of three bytes.
    let text =
      utf8.count <= RelayLimits.text
      ? self : String(decoding: utf8.prefix(RelayLimits.text - 3), as: UTF8.self)
    bytes.append(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> String {
    let count = try reader.number()
    guard count <= UInt64(RelayLimits.text) else { throw RelayError("a text of \(count) bytes") }
    guard let text = String(validating: try reader.bytes(count), as: UTF8.self) else {
      throw RelayError("a text that is not UTF-8")
    }
    return text
  }
}

extension ArraySlice: RelayCoded where Element == UInt8 {
  func write(to bytes: inout RelayBytes) {
    bytes.append(UInt64(count))
    bytes.append(contentsOf: self)
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Bytes {
    let count = try reader.number()
    guard count <= UInt64(RelayLimits.piece) else { throw RelayError("a piece of \(count) bytes") }
    return try reader.bytes(count)
  }
}

extension Array: RelayCoded where Element: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    bytes.append(UInt64(Swift.min(count, RelayLimits.elements)))
    for element in prefix(RelayLimits.elements) { element.write(to: &bytes) }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> [Element] {
    var elements: [Element] = []
    for _ in 0..<(try reader.count()) { elements.append(try reader()) }
    return elements
  }
}

extension Optional: RelayCoded where Wrapped: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    bytes(self != nil)
    if let self { bytes(self) }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> Wrapped? {
    guard try reader() as Bool else { return nil }
    return try reader() as Wrapped
  }
}

/// Pairs in the order of their keys.
extension Dictionary: RelayCoded where Key: RelayCoded & Comparable, Value: RelayCoded {
  func write(to bytes: inout RelayBytes) {
    let pairs = sorted { $0.key < $1.key }.prefix(RelayLimits.elements)
    bytes.append(UInt64(pairs.count))
    for (key, value) in pairs { bytes(key, value) }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> [Key: Value] {
    var pairs: [Key: Value] = [:]
    for _ in 0..<(try reader.count()) {
      let key: Key = try reader()
      pairs[key] = try reader() as Value
    }
    return pairs
  }
}
