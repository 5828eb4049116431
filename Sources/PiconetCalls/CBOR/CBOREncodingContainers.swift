struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: CBOREncoding
  var codingPath: [any CodingKey] { encoding.codingPath }

  func encodeNil(forKey key: Key) { encoding.set(.value(.null), for: key.stringValue) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    encoding.set(.value(try encoding.item(value, at: key)), for: key.stringValue)
  }

  private func open(_ key: any CodingKey) -> CBOREncoding {
    // A nested container that is requested twice is the same one.
    if case .open(let nested) = encoding.slot(for: key.stringValue) { return nested }
    let nested = encoding.nested(key)
    encoding.set(.open(nested), for: key.stringValue)
    return nested
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> { open(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { open(key).unkeyedContainer() }

  func superEncoder() -> any Encoder { open(CBORIndexKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { open(key) }
}

struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
  let encoding: CBOREncoding
  var codingPath: [any CodingKey] { encoding.codingPath }
  var count: Int { encoding.count }

  func encodeNil() { encoding.append(.value(.null)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    encoding.append(.value(try encoding.item(value, at: CBORIndexKey(count))))
  }

  private func open() -> CBOREncoding {
    let nested = encoding.nested(CBORIndexKey(count))
    encoding.append(.open(nested))
    return nested
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    open().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { open().unkeyedContainer() }

  func superEncoder() -> any Encoder { open() }
}

struct CBORSingleEncoding: SingleValueEncodingContainer {
  let encoding: CBOREncoding
  var codingPath: [any CodingKey] { encoding.codingPath }

  func encodeNil() { encoding.set(.null) }
  func encode(_ value: Bool) { encoding.set(.bool(value)) }
  func encode(_ value: String) { encoding.set(.text(value)) }
  func encode(_ value: Double) { encoding.set(.float(value)) }
  func encode(_ value: Float) { encoding.set(.float(Double(value))) }
  func encode(_ value: Int) { encoding.set(.integer(value)) }
  func encode(_ value: Int8) { encoding.set(.integer(value)) }
  func encode(_ value: Int16) { encoding.set(.integer(value)) }
  func encode(_ value: Int32) { encoding.set(.integer(value)) }
  func encode(_ value: Int64) { encoding.set(.integer(value)) }
  func encode(_ value: UInt) { encoding.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { encoding.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt16) { encoding.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt32) { encoding.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt64) { encoding.set(.unsigned(value)) }
  func encode<Value: Encodable>(_ value: Value) throws { encoding.set(try encoding.item(value, at: nil)) }
}
