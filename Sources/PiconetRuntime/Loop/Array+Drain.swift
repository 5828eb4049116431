extension Array {
  /// Moves all elements out, the first one first. The array keeps its room.
  ///
  /// Elements that are copied and then removed are counted twice and destroyed twice; only the last one can be moved
  /// out of an array, so it is turned round first.
  mutating func drain(_ body: (consuming Element) -> Void) {
    turnRound()
    while !isEmpty { body(removeLast()) }
  }

  /// As `reverse`, which copies.
  private mutating func turnRound() {
    guard count > 1 else { return }
    withUnsafeMutableBufferPointer { elements in
      guard var low = elements.baseAddress else { return }
      var high = low + (elements.count - 1)
      while low < high {
        let element = low.move()
        low.moveInitialize(from: high, count: 1)
        high.initialize(to: element)
        low += 1
        high -= 1
      }
    }
  }
}
