import PiconetEngine

/// Random draws for one part of the world, so that a new draw in one part doesn't shift all others.
struct Dice: Sendable {
  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// Returns separate dice, derived from these.
  mutating func fork() -> Dice { Dice(seed: random.next()) }

  mutating func word() -> UInt64 { random.next() }

  /// Returns true in `percent` of a hundred throws.
  mutating func chance(_ percent: Int) -> Bool { Int(random.next() % 100) < percent }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// Returns a number that is usually near the lower end: each power of two of the span is as likely as the next.
  mutating func skewed(_ range: ClosedRange<Int>) -> Int {
    let span = range.upperBound - range.lowerBound + 1
    let bits = Int.bitWidth - (span - 1).leadingZeroBitCount
    let limit = min(span, 1 << number(0...bits))
    return range.lowerBound + number(0...(limit - 1))
  }

  mutating func microseconds(_ range: ClosedRange<Int>) -> UInt64 { UInt64(number(range)) * 1_000 }

  mutating func milliseconds(_ range: ClosedRange<Int>) -> UInt64 {
    UInt64(number((range.lowerBound * 1_000)...(range.upperBound * 1_000))) * 1_000
  }

  /// Returns one of the choices. There must be at least one.
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[number(0...(choices.count - 1))] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
      let word = random.next()
      for shift: UInt64 in [0, 8, 16, 24, 32, 40, 48, 56] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
