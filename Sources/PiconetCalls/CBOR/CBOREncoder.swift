/// Encodes values as data items: structures and dictionaries as maps with keys of text, sequences as arrays, `[UInt8]`
/// as bytes, nil as null.
public struct CBOREncoder {
  /// The depth to which values may be nested; a value that encodes itself without end would use up the stack.
  static let depthLimit = CBORLimits.calls.depth

  /// The values available to types while they encode themselves.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  public init() {}

  /// Writes the value as one item.
  public func encode<Value: Encodable>(_ value: Value, into writer: inout CBORWriter) throws {
    // Most arguments have this type; it needs no container, and a cast costs more than a look at the type.
    if Value.self == String.self, let text = value as? String {
      writer.text(text)
    } else if Value.self == Int.self, let number = value as? Int {
      writer.integer(Int64(number))
    } else if let bytes = Self.bytes(value) {
      writer.byteString(bytes)
    } else {
      writer.value(try self.value(of: value))
    }
  }

  /// Returns the value if it is an array of bytes: an empty array of any type can be cast to one.
  @inline(__always)
  static func bytes<Value>(_ value: Value) -> [UInt8]? { Value.self == [UInt8].self ? value as? [UInt8] : nil }

  /// Returns the value as an item.
  public func value<Value: Encodable>(of value: Value) throws -> CBORValue {
    try CBOREncoding(path: [], userInfo: userInfo).item(value, at: nil)
  }
}

/// One value that is being encoded, and its result.
final class CBOREncoding: Encoder {
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any]
  private enum Content {
    case nothing
    case single(CBORValue)
    case array([Slot])
    case map([(key: String, value: Slot)], indexes: [String: Int])
  }
  /// An element, or a container that is still being filled.
  enum Slot {
    case value(CBORValue)
    case open(CBOREncoding)

    var item: CBORValue {
      switch self {
      case .value(let value): value
      case .open(let encoding): encoding.item
      }
    }
  }
  private var content = Content.nothing

  init(path: [any CodingKey], userInfo: [CodingUserInfoKey: Any]) {
    codingPath = path
    self.userInfo = userInfo
  }

  /// The result; a value that has encoded nothing is an empty map.
  var item: CBORValue {
    switch content {
    case .nothing: .map([])
    case .single(let value): value
    case .array(let slots): .array(slots.map(\.item))
    case .map(let entries, _): .map(entries.map { .init(.text($0.key), $0.value.item) })
    }
  }

  func nested(_ key: (any CodingKey)?) -> CBOREncoding {
    CBOREncoding(path: key.map { codingPath + [$0] } ?? codingPath, userInfo: userInfo)
  }

  /// Returns a value within this one as an item.
  func item<Value: Encodable>(_ value: Value, at key: (any CodingKey)?) throws -> CBORValue {
    if let bytes = CBOREncoder.bytes(value) { return .bytes(bytes) }
    switch value {
    case let text as String: return .text(text)
    case let flag as Bool: return .bool(flag)
    case let number as Int: return .integer(number)
    case let number as Double: return .float(number)
    case let item as CBORValue: return item
    default: break
    }
    let nested = nested(key)
    guard nested.codingPath.count <= CBOREncoder.depthLimit else {
      throw EncodingError.invalidValue(
        value,
        .init(
          codingPath: codingPath, debugDescription: "more than \(CBOREncoder.depthLimit) levels within one another"))
    }
    try value.encode(to: nested)
    return nested.item
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .map = content {} else { content = .map([], indexes: [:]) }
    return KeyedEncodingContainer(CBORKeyedEncoding<Key>(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = content {} else { content = .array([]) }
    return CBORUnkeyedEncoding(encoding: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { CBORSingleEncoding(encoding: self) }

  func set(_ value: CBORValue) { content = .single(value) }

  func append(_ slot: Slot) {
    guard case .array(var slots) = content else { return }
    content = .nothing
    slots.append(slot)
    content = .array(slots)
  }

  var count: Int { if case .array(let slots) = content { slots.count } else { 0 } }

  func set(_ slot: Slot, for key: String) {
    guard case .map(var entries, var indexes) = content else { return }
    content = .nothing
    if let index = indexes[key] {
      entries[index].value = slot
    } else {
      indexes[key] = entries.count
      entries.append((key, slot))
    }
    content = .map(entries, indexes: indexes)
  }

  func slot(for key: String) -> Slot? {
    guard case .map(let entries, let indexes) = content else { return nil }
    return indexes[key].map { entries[$0].value }
  }
}

struct CBORIndexKey: CodingKey {
  var stringValue: String
  var intValue: Int?

  init(_ index: Int) {
    stringValue = "\(index)"
    intValue = index
  }

  init(stringValue: String) { self.stringValue = stringValue }

  init(intValue: Int) { self.init(intValue) }

  static let `super` = CBORIndexKey(stringValue: "super")
}
