/// A dictionary whose first two entries are found without hashing. Nearly always there are one or two links and
/// members, such as a peer and the relay that leads to it. Each message looks them up several times. Further entries
/// cost the same as in a dictionary.
public struct InlineFirstDictionary<Key: Hashable, Value>: ExpressibleByDictionaryLiteral {
  // There is no second entry without a first one, and there are no others without a second one.
  @usableFromInline var firstKey: Key?
  @usableFromInline var firstValue: Value?
  @usableFromInline var secondKey: Key?
  @usableFromInline var secondValue: Value?
  @usableFromInline var others: [Key: Value] = [:]

  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { self[key] = value }
  }

  @inlinable
  public subscript(key: Key) -> Value? {
    get {
      if firstKey == key { return firstValue }
      if secondKey == key { return secondValue }
      return others.isEmpty ? nil : others[key]
    }
    set {
      if firstKey == key {
        firstValue = newValue
        if newValue == nil { removeFirst() }
      } else if secondKey == key {
        secondValue = newValue
        if newValue == nil { removeSecond() }
      } else if secondKey != nil || newValue == nil {
        others[key] = newValue
      } else if firstKey == nil {
        firstKey = key
        firstValue = newValue
      } else {
        secondKey = key
        secondValue = newValue
      }
    }
  }

  @usableFromInline
  mutating func removeFirst() {
    firstKey = secondKey
    firstValue = secondValue
    removeSecond()
  }

  @usableFromInline
  mutating func removeSecond() {
    let next = others.popFirst()
    secondKey = next?.key
    secondValue = next?.value
  }

  @inlinable
  @discardableResult
  public mutating func removeValue(forKey key: Key) -> Value? {
    let value = self[key]
    if value != nil { self[key] = nil }
    return value
  }

  public var isEmpty: Bool { firstKey == nil }
  public var count: Int { (firstKey == nil ? 0 : 1) + (secondKey == nil ? 0 : 1) + others.count }
  public func contains(where fits: (Value) throws -> Bool) rethrows -> Bool {
    if let firstValue, try fits(firstValue) { return true }
    if let secondValue, try fits(secondValue) { return true }
    return try others.values.contains(where: fits)
  }

  /// In no order.
  public var keys: [Key] { [firstKey, secondKey].compactMap { $0 } + others.keys }
  /// In no order.
  public var values: [Value] { [firstValue, secondValue].compactMap { $0 } + others.values }
}

extension InlineFirstDictionary: Sendable where Key: Sendable, Value: Sendable {}
