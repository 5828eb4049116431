/// A queue in an array: appended at the end, taken from the front in amortised constant time.
struct FirstInFirstOut<Element> {
  private(set) var storage: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == storage.count }
  var count: Int { storage.count - head }
  var first: Element? { isEmpty ? nil : storage[head] }

  mutating func append(_ element: Element) { storage.append(element) }

  mutating func popFirst() -> Element? {
    guard head < storage.count else { return nil }
    // The usual case; `removeAll` would cost some 150 instructions.
    if storage.count == 1 { return storage.removeLast() }
    // The element is moved out, not copied.
    var element: Element?
    swap(&element, &storage[head])
    head += 1
    if head == storage.count {
      storage.removeAll(keepingCapacity: head <= 4096)
      head = 0
    } else if head >= 1024 && head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func replaceFirst(_ element: Element) {
    if !isEmpty { storage[head] = element }
  }

  mutating func removeAll() {
    storage = []
    head = 0
  }

  var elements: [Element] { storage[head...].compactMap { $0 } }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
