/// The machines' random numbers, drawn by a generator that whoever makes a machine gives it: one of a seed gives the
/// same run again.
struct Jitter: Sendable, RandomNumberGenerator {
  private var numbers: any RandomNumberGenerator & Sendable

  init(_ numbers: any RandomNumberGenerator & Sendable) { self.numbers = numbers }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func milliseconds(_ range: ClosedRange<UInt64>) -> Duration {
    .milliseconds(Int64(clamping: UInt64.random(in: range, using: &self)))
  }
}
