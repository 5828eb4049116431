import PiconetEngine

/// The timers of one loop that have a deadline: a binary heap in which each timer knows its place, so that moving a
/// deadline leaves no dead entry behind.
struct TimerHeap {
  private var heap: [LoopTimer] = []
  private(set) var nextSequence: UInt64 = 0

  var nextDeadline: Instant? { heap.first?.deadline }

  mutating func set(_ timer: LoopTimer, _ deadline: Instant?) {
    if timer.deadline != nil { remove(timer) }
    timer.deadline = deadline
    guard deadline != nil else { return }
    timer.sequence = nextSequence
    nextSequence += 1
    timer.heapIndex = heap.count
    heap.append(timer)
    siftUp(timer.heapIndex)
  }

  /// Takes the first timer that is due at `now` and was set before `sequence`; it has no deadline any more.
  mutating func takeDue(at now: Instant, setBefore sequence: UInt64) -> LoopTimer? {
    guard let first = heap.first, let deadline = first.deadline, deadline <= now, first.sequence < sequence
    else { return nil }
    remove(first)
    first.deadline = nil
    return first
  }

  mutating func removeAll() {
    for timer in heap { timer.deadline = nil }
    heap = []
  }

  private mutating func remove(_ timer: LoopTimer) {
    let index = timer.heapIndex
    let last = heap.removeLast()
    guard index < heap.count else { return }
    place(last, index)
    siftDown(index)
    siftUp(index)
  }

  private mutating func place(_ timer: LoopTimer, _ index: Int) {
    heap[index] = timer
    timer.heapIndex = index
  }

  private func isBefore(_ left: LoopTimer, _ right: LoopTimer) -> Bool {
    if left.deadline == right.deadline { return left.sequence < right.sequence }
    guard let first = left.deadline, let second = right.deadline else { return false }
    return first < second
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    let timer = heap[index]
    while index > 0 {
      let parent = (index - 1) / 2
      guard isBefore(timer, heap[parent]) else { break }
      place(heap[parent], index)
      index = parent
    }
    place(timer, index)
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    let timer = heap[index]
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, isBefore(heap[child + 1], heap[child]) { child += 1 }
      guard isBefore(heap[child], timer) else { break }
      place(heap[child], index)
      index = child
    }
    place(timer, index)
  }
}
