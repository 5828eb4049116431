/// Values by key, read and changed where they are.
///
/// A dictionary hands out copies to readers, and a copy of an association costs a dozen reference counts, and the whole queue when
/// the original is changed meanwhile. This one lends the value instead.
struct Table<Key: Hashable & Comparable, Value> {
  private var slots: [Key: Int] = [:]
  private var entries: [Value?] = []
  private var free: [Int] = []

  var count: Int { slots.count }
  var isEmpty: Bool { slots.isEmpty }
  /// In their order, so that nothing depends on that of a hash table.
  var sortedKeys: [Key] { slots.keys.sorted() }
  /// In no order that means anything.
  var values: some Sequence<Value> { entries.lazy.compactMap { $0 } }

  /// Where a key's value is until it is removed.
  func slot(of key: Key) -> Int? { slots[key] }

  subscript(slot slot: Int) -> Value? {
    _read { yield entries[slot] }
    _modify { yield &entries[slot] }
  }

  subscript(key: Key) -> Value? {
    _read {
      if let slot = slots[key] {
        yield entries[slot]
      } else {
        yield nil
      }
    }
    _modify {
      if let slot = slots[key] {
        yield &entries[slot]
        if entries[slot] == nil { release(key, slot) }
      } else {
        var value: Value?
        yield &value
        if let value { insert(value, for: key) }
      }
    }
  }

  private mutating func insert(_ value: Value, for key: Key) {
    if let slot = free.popLast() {
      entries[slot] = value
      slots[key] = slot
    } else {
      slots[key] = entries.count
      entries.append(value)
    }
  }

  private mutating func release(_ key: Key, _ slot: Int) {
    slots[key] = nil
    free.append(slot)
  }

  @discardableResult
  mutating func removeValue(forKey key: Key) -> Value? {
    guard let slot = slots[key] else { return nil }
    let value = entries[slot]
    entries[slot] = nil
    release(key, slot)
    return value
  }
}

extension Table: Sendable where Key: Sendable, Value: Sendable {}
