/// The machines' random numbers, from a generator that the maker of a machine supplies: the same seed gives the same
/// run again.
struct Jitter: Sendable, RandomNumberGenerator {
  private var numbers: any RandomNumberGenerator & Sendable

  init(_ numbers: any RandomNumberGenerator & Sendable) { self.numbers = numbers }

  mutating func next() -> UInt64 { numbers.next() }

  mutating func milliseconds(_ range: ClosedRange<UInt64>) -> Duration {
    .milliseconds(Int64(clamping: UInt64.random(in: range, using: &self)))
  }
}
