/// What is to happen, by time, and by the order in which it was entered where times are equal: a binary heap.
struct Agenda<Item> {
  private struct Entry {
    let time: UInt64
    let order: UInt64
    let item: Item

    func comes(before other: Entry) -> Bool { time == other.time ? order < other.order : time < other.time }
  }

  private var heap: [Entry] = []
  private var entered: UInt64 = 0

  var isEmpty: Bool { heap.isEmpty }
  var nextTime: UInt64? { heap.first?.time }

  mutating func enter(_ item: Item, at time: UInt64) {
    entered += 1
    heap.append(Entry(time: time, order: entered, item: item))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].comes(before: heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popNext() -> (time: UInt64, item: Item)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].comes(before: heap[least])
        {
          least = child
        }
        if least == parent { break }
        heap.swapAt(parent, least)
        parent = least
      }
    }
    return (first.time, first.item)
  }
}
