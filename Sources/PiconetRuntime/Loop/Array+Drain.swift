extension Array {
  /// Moves all elements out, the first one first. The array keeps its capacity.
  ///
  /// Copying elements and then removing them would retain and destroy each twice; only the last one can be moved out of
  /// an array, so the array is reversed first.
  mutating func drain(_ body: (consuming Element) -> Void) {
    turnRound()
    while !isEmpty { body(removeLast()) }
  }

  /// Reverses the array; `reverse` would copy.
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
