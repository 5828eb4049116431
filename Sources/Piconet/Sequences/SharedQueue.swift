import Synchronization

/// One reader of events: an iterator, from its creation to its end.
struct ReaderID: Hashable, Sendable {
  private let rawValue: UInt64
  private static let last = Atomic<UInt64>(0)

  init() { rawValue = Self.last.add(1, ordering: .relaxed).newValue }
}

/// Events that not every reader has read yet, in order. Part of a queue's state, under its lock.
///
/// Each reader gets all of them: a new one gets the events that are still kept, and those that come after. Events that
/// all readers have passed are dropped; while the queue has no reader, all events wait for the next one.
struct SharedQueue<Element: Sendable>: Sendable {
  private var kept: [(number: UInt64, element: Element)] = []
  /// How much of `kept` each reader has passed.
  private var readers: [(id: ReaderID, passed: Int)] = []

  var count: Int { kept.count }

  var elements: some Sequence<Element> { kept.lazy.map(\.element) }

  /// - Parameter number: greater than that of every element before.
  mutating func append(_ element: Element, number: UInt64) { kept.append((number, element)) }

  mutating func attach(_ reader: ReaderID) { readers.append((reader, 0)) }

  /// Returns the next element for the reader, and its number; nil if it has passed all elements, or does not read this
  /// queue.
  func next(for reader: ReaderID) -> (number: UInt64, element: Element)? {
    guard let passed = readers.first(where: { $0.id == reader })?.passed, passed < kept.count else { return nil }
    return kept[passed]
  }

  /// Notes that the reader is done with what `next` has given; no effect if that was removed meanwhile.
  /// - Returns: whether every reader is done with it now.
  @discardableResult
  mutating func pass(_ reader: ReaderID, _ number: UInt64) -> Bool {
    guard let index = index(of: reader, holding: number) else { return false }
    readers[index].passed += 1
    if readers.contains(where: { $0.passed == 0 }) { return false }
    for index in readers.indices { readers[index].passed -= 1 }
    // The usual case costs less this way.
    if kept.count == 1 { kept.removeLast() } else { kept.removeFirst() }
    return true
  }

  private func index(of reader: ReaderID, holding number: UInt64) -> Int? {
    guard let index = readers.firstIndex(where: { $0.id == reader }), readers[index].passed < kept.count,
      kept[readers[index].passed].number == number
    else { return nil }
    return index
  }

  /// Changes the element that the only reader leaves half read, for readers that come later.
  mutating func leave(_ reader: ReaderID, _ number: UInt64, _ change: (inout Element) -> Void) {
    guard readers.count == 1, let index = index(of: reader, holding: number) else { return }
    change(&kept[readers[index].passed].element)
  }

  /// Removes a reader.
  /// - Returns: what all others had passed already.
  @discardableResult
  mutating func detach(_ reader: ReaderID) -> [Element] {
    readers.removeAll { $0.id == reader }
    guard let count = readers.lazy.map(\.passed).min(), count > 0 else { return [] }
    for index in readers.indices { readers[index].passed -= count }
    defer { kept.removeFirst(count) }
    return kept[..<count].map(\.element)
  }

  /// Removes what not every reader has read.
  mutating func removeAll(where isMeant: (Element) -> Bool) {
    for index in kept.indices.reversed() where isMeant(kept[index].element) { remove(at: index) }
  }

  /// Drops the oldest element, even if readers have not read it yet.
  mutating func removeFirst() {
    if !kept.isEmpty { remove(at: 0) }
  }

  /// Drops the oldest of these elements, even if readers have not read it yet.
  mutating func removeFirst(where isMeant: (Element) -> Bool) {
    if let index = kept.firstIndex(where: { isMeant($0.element) }) { remove(at: index) }
  }

  private mutating func remove(at index: Int) {
    kept.remove(at: index)
    for reader in readers.indices where readers[reader].passed > index { readers[reader].passed -= 1 }
  }
}
