/// A dictionary whose first entry is found without hashing: nearly always there is one link, to one member, and each
/// message looks them up several times. Further entries cost what they cost in a dictionary.
public struct InlineFirstDictionary<Key: Hashable, Value>: ExpressibleByDictionaryLiteral {
  @usableFromInline var firstKey: Key?
  @usableFromInline var firstValue: Value?
  @usableFromInline var others: [Key: Value] = [:]

  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { self[key] = value }
  }

  @inlinable
  public subscript(key: Key) -> Value? {
    get {
      if firstKey == key { return firstValue }
      return others.isEmpty ? nil : others[key]
    }
    set {
      if firstKey == key {
        firstValue = newValue
        if newValue == nil { promote() }
      } else if firstKey == nil, newValue != nil {
        firstKey = key
        firstValue = newValue
      } else {
        others[key] = newValue
      }
    }
  }

  @usableFromInline
  mutating func promote() {
    let next = others.popFirst()
    firstKey = next?.key
    firstValue = next?.value
  }

  @inlinable
  @discardableResult
  public mutating func removeValue(forKey key: Key) -> Value? {
    let value = self[key]
    if value != nil { self[key] = nil }
    return value
  }

  public var isEmpty: Bool { firstKey == nil }
  public var count: Int { (firstKey == nil ? 0 : 1) + others.count }
  public func contains(where fits: (Value) throws -> Bool) rethrows -> Bool {
    if let firstValue, try fits(firstValue) { return true }
    return try others.values.contains(where: fits)
  }

  /// In no order.
  public var keys: [Key] { (firstKey.map { [$0] } ?? []) + others.keys }
  /// In no order.
  public var values: [Value] { (firstValue.map { [$0] } ?? []) + others.values }
}

extension InlineFirstDictionary: Sendable where Key: Sendable, Value: Sendable {}
