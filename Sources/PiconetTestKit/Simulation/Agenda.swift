/// Future events, ordered by time, then by order of entry.
struct Agenda<Item> {
  // The heap holds only numbers, and moves no item, because a run spends much of its time here.
  private var places = Places()
  private var items: [Item?] = []
  private var free: [Int] = []

  var isEmpty: Bool { places.heap.isEmpty }
  var nextTime: UInt64? { places.heap.first?.time }

  mutating func enter(_ item: Item, at time: UInt64) {
    let slot: Int
    if let last = free.popLast() {
      slot = last
      items[slot] = item
    } else {
      slot = items.count
      items.append(item)
    }
    places.enter(slot: slot, at: time)
  }

  mutating func popNext() -> (time: UInt64, item: Item)? {
    guard let first = places.popFirst() else { return nil }
    var item: Item?
    swap(&item, &items[first.slot])
    free.append(first.slot)
    return item.map { (first.time, $0) }
  }
}

/// A binary heap of the times at which slots are due.
private struct Places {
  struct Place {
    let time: UInt64
    let order: UInt64
    let slot: Int

    func comes(before other: Place) -> Bool { time == other.time ? order < other.order : time < other.time }
  }

  private(set) var heap: [Place] = []
  private var entered: UInt64 = 0

  mutating func enter(slot: Int, at time: UInt64) {
    entered += 1
    let place = Place(time: time, order: entered, slot: slot)
    heap.append(place)
    heap.withUnsafeMutableBufferPointer { heap in
      var child = heap.count - 1
      while child > 0 {
        let parent = (child - 1) / 2
        let other = heap[parent]
        if !place.comes(before: other) { break }
        heap[child] = other
        child = parent
      }
      heap[child] = place
    }
  }

  mutating func popFirst() -> Place? {
    guard let first = heap.first else { return nil }
    let place = heap.removeLast()
    heap.withUnsafeMutableBufferPointer { heap in
      if heap.isEmpty { return }
      var parent = 0
      while true {
        var child = 2 * parent + 1
        if child >= heap.count { break }
        if child + 1 < heap.count, heap[child + 1].comes(before: heap[child]) { child += 1 }
        let other = heap[child]
        if !other.comes(before: place) { break }
        heap[parent] = other
        parent = child
      }
      heap[parent] = place
    }
    return first
  }
}
