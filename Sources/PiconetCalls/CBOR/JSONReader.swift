/// Reads a JSON text (RFC 8259) that a person has written. It ends for any text.
struct JSONReader {
  private let bytes: [UInt8]
  private let limits: CBORLimits
  private var position = 0

  init(_ text: String, limits: CBORLimits) {
    bytes = Array(text.utf8)
    self.limits = limits
  }

  /// Reads the whole text as one value.
  mutating func whole() throws(CBORError) -> CBORValue {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw wrong("something stands behind the value") }
    return value
  }

  private func wrong(_ what: String) -> CBORError { CBORError(.malformed, "no JSON at byte \(position + 1): \(what)") }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private mutating func takes(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ word: String, _ value: CBORValue) throws(CBORError) -> CBORValue {
    guard bytes[position...].starts(with: word.utf8) else { throw wrong("no value begins like that") }
    position += word.utf8.count
    return value
  }

  private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
    guard depth <= limits.depth else { throw CBORError(.limit, "more than \(limits.depth) levels") }
    skipSpace()
    switch next {
    case nil: throw wrong("a value is missing")
    case UInt8(ascii: "n"): return try expect("null", .null)
    case UInt8(ascii: "t"): return try expect("true", .bool(true))
    case UInt8(ascii: "f"): return try expect("false", .bool(false))
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "{"): return try object(depth: depth)
    default: return try number()
    }
  }

  private mutating func array(depth: Int) throws(CBORError) -> CBORValue {
    position += 1
    var elements: [CBORValue] = []
    skipSpace()
    if takes("]") { return .array([]) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if takes("]") { return .array(elements) }
      guard takes(",") else { throw wrong("',' or ']' is missing") }
    }
  }

  private mutating func object(depth: Int) throws(CBORError) -> CBORValue {
    position += 1
    var entries: [CBORValue.Entry] = []
    var keys: Set<String> = []
    skipSpace()
    if takes("}") { return .map([]) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw wrong("a key in quotation marks is missing") }
      let key = try string()
      guard keys.insert(key).inserted else { throw wrong("a key comes twice") }
      skipSpace()
      guard takes(":") else { throw wrong("':' is missing") }
      entries.append(.init(.text(key), try value(depth: depth + 1)))
      skipSpace()
      if takes("}") { return .map(entries) }
      guard takes(",") else { throw wrong("',' or '}' is missing") }
    }
  }

  private mutating func number() throws(CBORError) -> CBORValue {
    let start = position
    let isNegative = takes("-")
    let digits = try digits()
    if digits.count > 1, digits.first == UInt8(ascii: "0") { throw wrong("a number begins with 0") }
    var isWhole = true
    if takes(".") {
      _ = try self.digits()
      isWhole = false
    }
    if takes("e") || takes("E") {
      if !takes("+") { _ = takes("-") }
      _ = try self.digits()
      isWhole = false
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let magnitude = UInt64(String(decoding: digits, as: UTF8.self)) {
      if !isNegative { return .unsigned(magnitude) }
      // JSON's -0 is an integer as well.
      return magnitude == 0 ? .unsigned(0) : .negative(magnitude - 1)
    }
    guard let number = Double(text), number.isFinite else { throw wrong("the number is too large") }
    return .float(number)
  }

  private mutating func digits() throws(CBORError) -> ArraySlice<UInt8> {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw wrong("no value begins like that") }
    return bytes[start..<position]
  }

  private mutating func string() throws(CBORError) -> String {
    position += 1
    var text = String.UnicodeScalarView()
    while true {
      let start = position
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
      // Cut at ASCII characters, so it is whole UTF-8.
      text.append(contentsOf: String(decoding: bytes[start..<position], as: UTF8.self).unicodeScalars)
      if takes("\"") { return String(text) }
      guard takes("\\") else { throw wrong(next == nil ? "the text does not end" : "a control character in a text") }
      text.append(try escaped())
    }
  }

  private mutating func escaped() throws(CBORError) -> Unicode.Scalar {
    guard let byte = next else { throw wrong("the text does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let first = try unit()
      if let scalar = Unicode.Scalar(first) { return scalar }
      guard (0xD800..<0xDC00).contains(first), takes("\\"), takes("u") else { throw wrong("half of a character") }
      let second = try unit()
      guard (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      else { throw wrong("half of a character") }
      return scalar
    default:
      position -= 1
      throw wrong("no such escape")
    }
  }

  private mutating func unit() throws(CBORError) -> UInt32 {
    let end = position + 4
    guard end <= bytes.count, bytes[position..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let value = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
    else { throw wrong("four hexadecimal digits are missing") }
    position = end
    return value
  }
}
