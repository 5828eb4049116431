/// Decodes values from data items, as `CBOREncoder` writes them. A number is accepted if the type can hold it exactly.
public struct CBORDecoder {
  /// The values available to types while they decode themselves.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  public init() {}

  /// Returns whether values of this type decode themselves without `userInfo`, which may then be left out.
  public static func isPlain(_ type: Any.Type) -> Bool {
    type == String.self || type == Int.self || type == [UInt8].self || type == Bool.self
  }

  /// Decodes the next item of the reader as this type.
  public func decode<Value: Decodable>(_ type: Value.Type, from reader: inout CBORReader) throws -> Value {
    // Most arguments have this type; it needs no container.
    if type == String.self, let text = try reader.text() as? Value { return text }
    if type == Int.self, let number = Int(exactly: try reader.integer()) as? Value { return number }
    return try decode(type, from: try reader.value())
  }

  public func decode<Value: Decodable>(_ type: Value.Type, from item: CBORValue) throws -> Value {
    try CBORDecoding(item, path: [], userInfo: userInfo).decoded(type)
  }
}

/// One item that is being decoded.
struct CBORDecoding: Decoder {
  let item: CBORValue
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any]

  init(_ item: CBORValue, path: [any CodingKey], userInfo: [CodingUserInfoKey: Any]) {
    self.item = item
    codingPath = path
    self.userInfo = userInfo
  }

  func nested(_ item: CBORValue, _ key: any CodingKey) -> CBORDecoding {
    CBORDecoding(item, path: codingPath + [key], userInfo: userInfo)
  }

  func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Not through `init(from:)`: it would take each byte for an integer, and does not know items.
    if type == [UInt8].self, case .bytes(let bytes) = item, let value = bytes as? Value { return value }
    if type == CBORValue.self, let value = item as? Value { return value }
    return try Value(from: self)
  }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "\(type) is needed here, and it is \(item.kind)"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let entries) = item else { throw mismatch([String: Any].self) }
    var values: [String: CBORValue] = [:]
    for entry in entries {
      switch entry.key {
      case .text(let key): values[key] = entry.value
      case .unsigned(let number): values["\(number)"] = entry.value
      default: throw mismatch([String: Any].self)
      }
    }
    return KeyedDecodingContainer(CBORKeyedDecoding<Key>(decoding: self, values: values))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = item else { throw mismatch([Any].self) }
    return CBORUnkeyedDecoding(decoding: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { CBORSingleDecoding(decoding: self) }
}

extension CBORValue: Codable {
  /// Only `CBORDecoder` gives items as they are.
  public init(from decoder: any Decoder) throws {
    guard let decoding = decoder as? CBORDecoding else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "this is not CBOR"))
    }
    self = decoding.item
  }

  /// Only `CBOREncoder` takes items as they are.
  public func encode(to encoder: any Encoder) throws {
    guard let encoding = encoder as? CBOREncoding else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "this is not CBOR"))
    }
    encoding.set(self)
  }
}
