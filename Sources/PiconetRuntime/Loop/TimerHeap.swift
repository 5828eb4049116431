import PiconetEngine

/// The timers of one loop that have a deadline: a binary heap in which each timer knows its place, so that moving a
/// deadline leaves no dead entry behind.
struct TimerHeap {
  private struct Entry {
    let timer: LoopTimer
    let deadline: Instant
    /// Orders equal deadlines.
    let sequence: UInt64

    func isBefore(_ other: Entry) -> Bool {
      deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
    }
  }

  private var heap: [Entry] = []
  private(set) var nextSequence: UInt64 = 0

  var nextDeadline: Instant? { heap.first?.deadline }

  mutating func set(_ timer: LoopTimer, _ deadline: Instant?) {
    if timer.deadline != nil { remove(timer) }
    timer.deadline = deadline
    guard let deadline else { return }
    let entry = Entry(timer: timer, deadline: deadline, sequence: nextSequence)
    nextSequence += 1
    heap.append(entry)
    siftUp(entry, heap.count - 1)
  }

  /// Takes out the first timer that is due at `now` and was set before `sequence`; its deadline is cleared.
  mutating func takeDue(at now: Instant, setBefore sequence: UInt64) -> LoopTimer? {
    guard let first = heap.first, first.deadline <= now, first.sequence < sequence else { return nil }
    remove(first.timer)
    first.timer.deadline = nil
    return first.timer
  }

  mutating func removeAll() {
    for entry in heap { entry.timer.deadline = nil }
    heap = []
  }

  private mutating func remove(_ timer: LoopTimer) {
    let index = timer.heapIndex
    let last = heap.removeLast()
    guard index < heap.count else { return }
    place(last, index)
    siftDown(last, index)
    siftUp(heap[index], index)
  }

  private mutating func place(_ entry: Entry, _ index: Int) {
    heap[index] = entry
    entry.timer.heapIndex = index
  }

  private mutating func siftUp(_ entry: Entry, _ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entry.isBefore(heap[parent]) else { break }
      place(heap[parent], index)
      index = parent
    }
    place(entry, index)
  }

  private mutating func siftDown(_ entry: Entry, _ start: Int) {
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
      guard heap[child].isBefore(entry) else { break }
      place(heap[child], index)
      index = child
    }
    place(entry, index)
  }
}
