import PiconetWire

/// Numbers of outgoing transfers on the wire. The smallest free one is used, so that they stay short.
struct TransferNumbers: Sendable {
  /// Numbers that were given back, the smallest last.
  private var free: [UInt64] = []
  private var next: UInt64 = 0

  /// The largest number of numbers that were in use at once.
  var usedCount: Int { Int(next) }

  mutating func take() -> UInt64? {
    if let number = free.popLast() { return number }
    guard next < WireLimits.transferNumbers else { return nil }
    defer { next += 1 }
    return next
  }

  mutating func giveBack(_ number: UInt64) {
    var (low, high) = (0, free.count)
    while low < high {
      let middle = (low + high) / 2
      if free[middle] > number { low = middle + 1 } else { high = middle }
    }
    free.insert(number, at: low)
  }
}
