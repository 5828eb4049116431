struct CBORKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoding: CBORDecoding
  let values: [String: CBORValue]
  var codingPath: [any CodingKey] { decoding.codingPath }
  var allKeys: [Key] { values.keys.sorted().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

  private func nested(_ key: any CodingKey) throws -> CBORDecoding {
    guard let item = values[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "there is nothing under '\(key.stringValue)'"))
    }
    return decoding.nested(item, key)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try nested(key).item == .null }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try nested(key).decoded(type) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> { try nested(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try nested(CBORIndexKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

struct CBORUnkeyedDecoding: UnkeyedDecodingContainer {
  let decoding: CBORDecoding
  let elements: [CBORValue]
  var currentIndex = 0
  var codingPath: [any CodingKey] { decoding.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  init(decoding: CBORDecoding, elements: [CBORValue]) {
    self.decoding = decoding
    self.elements = elements
  }

  private func current() throws -> CBORDecoding {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        CBORValue.self, .init(codingPath: codingPath, debugDescription: "there are only \(elements.count) elements"))
    }
    return decoding.nested(elements[currentIndex], CBORIndexKey(currentIndex))
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try current().item == .null
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try current().decoded(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try current().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let nested = try current()
    currentIndex += 1
    return nested
  }
}

struct CBORSingleDecoding: SingleValueDecodingContainer {
  let decoding: CBORDecoding
  var codingPath: [any CodingKey] { decoding.codingPath }

  func decodeNil() -> Bool { decoding.item == .null }

  func decode(_ type: Bool.Type) throws -> Bool {
    switch decoding.item {
    case .simple(20): return false
    case .simple(21): return true
    default: throw decoding.mismatch(type)
    }
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .text(let text) = decoding.item else { throw decoding.mismatch(type) }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    let number: Double? =
      switch decoding.item {
      case .float(let number): number
      case .unsigned(let number): Double(exactly: number)
      case .negative(let number): Double(exactly: number).flatMap { Double(exactly: -1 - $0) }
      default: nil
      }
    guard let number else { throw decoding.mismatch(type) }
    return number
  }

  /// Decodes the nearest value of the type: a number from a decimal fraction is never exact.
  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

  private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    let number: Value? =
      switch decoding.item {
      case .unsigned(let number): Value(exactly: number)
      case .negative(let number): Int64(exactly: number).flatMap { Value(exactly: ~$0) }
      default: nil
      }
    guard let number else { throw decoding.mismatch(type) }
    return number
  }

  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoding.decoded(type) }
}
