/// Reads data items from bytes, within limits. It ends for any bytes, and keeps no more than they hold.
public struct CBORReader: Sendable {
  private let source: ArraySlice<UInt8>
  /// The index of the slice where it reads next.
  public private(set) var position: Int
  private let limits: CBORLimits
  private var items = 0

  public init(_ source: ArraySlice<UInt8>, limits: CBORLimits = .calls) {
    self.source = source
    self.limits = limits
    position = source.startIndex
  }

  public init(_ source: [UInt8], limits: CBORLimits = .calls) { self.init(source[...], limits: limits) }

  public var isAtEnd: Bool { position == source.endIndex }

  /// The first bytes of an item.
  struct Head {
    var major: UInt8
    /// The low five bits of the first byte.
    var form: UInt8
    var argument: UInt64
    var isIndefinite: Bool { form == 31 }
  }

  @inline(__always)
  private mutating func byte() throws(CBORError) -> UInt8 {
    guard position < source.endIndex else { throw CBORError(.truncated, "the bytes end within an item") }
    defer { position += 1 }
    return source[position]
  }

  mutating func head() throws(CBORError) -> Head {
    items += 1
    guard items <= limits.items else { throw CBORError(.limit, "more than \(limits.items) items") }
    let first = try byte()
    let form = first & 0x1F
    var head = Head(major: first >> 5, form: form, argument: UInt64(form))
    switch form {
    case 0..<24: break
    case 24...27:
      head.argument = 0
      for _ in 0..<(1 << (form - 24)) { head.argument = head.argument << 8 | UInt64(try byte()) }
      if head.major == 7, form == 24, head.argument < 32 { throw CBORError(.malformed, "a simple value below 32") }
    case 31 where (2...5).contains(head.major) || head.major == 7: break
    default: throw CBORError(.malformed, "a reserved form of a head")
    }
    return head
  }

  /// Takes this many bytes, as they are.
  private mutating func take(_ count: UInt64) throws(CBORError) -> ArraySlice<UInt8> {
    guard count <= UInt64(source.endIndex - position) else {
      throw CBORError(.truncated, "the bytes end within an item")
    }
    defer { position += Int(count) }
    return source[position..<position + Int(count)]
  }

  /// Skips these bytes if they come next.
  /// - Parameter items: how many whole items they hold.
  mutating func passes(_ bytes: [UInt8], items count: Int) -> Bool {
    guard source.endIndex - position >= bytes.count, items + count <= limits.items else { return false }
    guard source[position..<position + bytes.count].elementsEqual(bytes) else { return false }
    position += bytes.count
    items += count
    return true
  }

  /// Returns the bytes that were read from there on.
  func bytes(since start: Int) -> ArraySlice<UInt8> { source[start..<position] }

  // MARK: One item of a kind that is known

  public mutating func unsigned() throws(CBORError) -> UInt64 {
    let head = try head()
    guard head.major == 0 else { throw CBORError(.unexpected, "no unsigned integer") }
    return head.argument
  }

  /// An integer that fits 64 bits with a sign.
  public mutating func integer() throws(CBORError) -> Int64 {
    let head = try head()
    guard head.major < 2, let value = Int64(exactly: head.argument) else {
      throw CBORError(.unexpected, "no integer of 64 bits")
    }
    return head.major == 0 ? value : ~value
  }

  public mutating func text() throws(CBORError) -> String {
    let head = try head()
    guard head.major == 3 else { throw CBORError(.unexpected, "no text") }
    return try text(after: head)
  }

  public mutating func byteString() throws(CBORError) -> ArraySlice<UInt8> {
    let head = try head()
    guard head.major == 2 else { throw CBORError(.unexpected, "no bytes") }
    return try string(after: head)
  }

  /// Reads the number of items of an array with a definite length.
  public mutating func array() throws(CBORError) -> Int {
    let head = try head()
    guard head.major == 4, !head.isIndefinite, let count = Int(exactly: head.argument) else {
      throw CBORError(.unexpected, "no array of a definite length")
    }
    return count
  }

  public mutating func bool() throws(CBORError) -> Bool {
    let head = try head()
    guard head.major == 7, head.form == 20 || head.form == 21 else { throw CBORError(.unexpected, "no truth value") }
    return head.form == 21
  }

  private mutating func text(after head: Head) throws(CBORError) -> String {
    if head.isIndefinite {
      // RFC 8949, 3.2.3: each chunk is valid text by itself.
      var whole = ""
      while let chunk = try chunk(of: 3) { whole += try Self.utf8(chunk) }
      return whole
    }
    return try Self.utf8(try take(head.argument))
  }

  private static func utf8(_ bytes: ArraySlice<UInt8>) throws(CBORError) -> String {
    // Not `String(validating:as:)`, which is generic: it takes 900 instructions more for a word of few bytes.
    guard let text = try? UTF8Span(validating: bytes.span) else { throw CBORError(.malformed, "text that is no UTF-8") }
    return String(copying: text)
  }

  private mutating func string(after head: Head) throws(CBORError) -> ArraySlice<UInt8> {
    if !head.isIndefinite { return try take(head.argument) }
    var whole: [UInt8] = []
    while let chunk = try chunk(of: 2) { whole += chunk }
    return whole[...]
  }

  /// Reads the next chunk of an indefinite-length string; nil at its end.
  private mutating func chunk(of major: UInt8) throws(CBORError) -> ArraySlice<UInt8>? {
    if try breaks() { return nil }
    let head = try head()
    guard head.major == major, !head.isIndefinite else {
      throw CBORError(.malformed, "a string within a string of another kind")
    }
    return try take(head.argument)
  }

  /// Returns whether the next byte is the break, which it then reads.
  private mutating func breaks() throws(CBORError) -> Bool {
    guard position < source.endIndex else { throw CBORError(.truncated, "the bytes end within an item") }
    guard source[position] == 0xFF else { return false }
    position += 1
    return true
  }

  // MARK: Any item

  /// Reads the next item of any kind.
  public mutating func value() throws(CBORError) -> CBORValue { try value(depth: 0) }

  private func deeper(_ depth: Int) throws(CBORError) -> Int {
    guard depth < limits.depth else { throw CBORError(.limit, "more than \(limits.depth) levels within one another") }
    return depth + 1
  }

  private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
    let head = try head()
    switch head.major {
    case 0: return .unsigned(head.argument)
    case 1: return .negative(head.argument)
    case 2: return .bytes(Array(try string(after: head)))
    case 3: return .text(try text(after: head))
    case 4: return .array(try elements(head, try deeper(depth)))
    case 5: return .map(try entries(head, try deeper(depth)))
    case 6: return .tagged(head.argument, try value(depth: try deeper(depth)))
    default:
      switch head.form {
      case 25: return .float(CBORHalf.value(of: UInt16(head.argument)))
      case 26: return .float(Double(Float(bitPattern: UInt32(head.argument))))
      case 27: return .float(Double(bitPattern: head.argument))
      case 31: throw CBORError(.malformed, "a break without a beginning")
      default: return .simple(UInt8(head.argument))
      }
    }
  }

  private mutating func elements(_ head: Head, _ depth: Int) throws(CBORError) -> [CBORValue] {
    var elements: [CBORValue] = []
    if head.isIndefinite {
      while try !breaks() { elements.append(try value(depth: depth)) }
      return elements
    }
    // The announced length may be false: each element has at least a byte.
    guard head.argument <= UInt64(source.endIndex - position) else {
      throw CBORError(.truncated, "an array announces more than there is")
    }
    elements.reserveCapacity(min(Int(head.argument), 1_024))
    for _ in 0..<head.argument { elements.append(try value(depth: depth)) }
    return elements
  }

  private mutating func entries(_ head: Head, _ depth: Int) throws(CBORError) -> [CBORValue.Entry] {
    var entries: [CBORValue.Entry] = []
    if head.isIndefinite {
      while try !breaks() { entries.append(.init(try value(depth: depth), try value(depth: depth))) }
    } else {
      guard head.argument <= UInt64(source.endIndex - position) / 2 else {
        throw CBORError(.truncated, "a map announces more than there is")
      }
      for _ in 0..<head.argument { entries.append(.init(try value(depth: depth), try value(depth: depth))) }
    }
    var keys: Set<CBORValue> = []
    for entry in entries where !keys.insert(entry.key).inserted {
      throw CBORError(.malformed, "a map with one key twice")
    }
    return entries
  }

  /// Skips the next item, with the same limits.
  /// - Returns: its bytes.
  public mutating func skip() throws(CBORError) -> ArraySlice<UInt8> {
    let start = position
    try skip(depth: 0)
    return source[start..<position]
  }

  private mutating func skip(depth: Int) throws(CBORError) {
    let head = try head()
    switch head.major {
    case 0, 1: break
    case 2, 3:
      if head.isIndefinite {
        while try chunk(of: head.major) != nil {}
      } else {
        _ = try take(head.argument)
      }
    case 4, 5:
      let depth = try deeper(depth)
      if head.isIndefinite {
        while try !breaks() {
          try skip(depth: depth)
          if head.major == 5 { try skip(depth: depth) }
        }
      } else {
        guard head.argument <= UInt64(limits.items) else { throw CBORError(.limit, "more than \(limits.items) items") }
        for _ in 0..<(head.argument * UInt64(head.major - 3)) { try skip(depth: depth) }
      }
    case 6: try skip(depth: try deeper(depth))
    default: if head.isIndefinite { throw CBORError(.malformed, "a break without a beginning") }
    }
  }
}

extension CBORValue {
  /// Reads bytes that hold one item and nothing behind it.
  public init(decoding bytes: ArraySlice<UInt8>, limits: CBORLimits = .calls) throws(CBORError) {
    var reader = CBORReader(bytes, limits: limits)
    self = try reader.value()
    if !reader.isAtEnd { throw CBORError(.malformed, "something behind the item") }
  }

  public init(decoding bytes: [UInt8], limits: CBORLimits = .calls) throws(CBORError) {
    try self.init(decoding: bytes[...], limits: limits)
  }
}
