/// The numbers to try for one name, from that of the name itself.
///
/// Up to `eachUpTo` every number is tried. Beyond that they are searched in doubling steps and then by halves, so that
/// thousands of files of one name cost the next one a few looks. Free numbers among taken ones may then stay unused.
struct NameNumbers {
  static let eachUpTo = 64

  private let first: Int
  /// At least `first`.
  private let last: Int
  /// The last one that was returned.
  private var tried: Int

  init(first: Int = 1, last: Int) { (self.first, self.last, tried) = (first, max(first, last), first - 1) }

  /// Returns the next number to try; nil if none is left. Larger than those before it.
  /// - Parameter isTaken: looks whether a number is taken; its answer may be out of date when the number is tried.
  mutating func next<Failure>(isTaken: (Int) throws(Failure) -> Bool) throws(Failure) -> Int? {
    guard tried < last else { return nil }
    guard tried - first + 1 >= Self.eachUpTo else {
      tried += 1
      return tried
    }
    var taken = tried
    var free = tried + 1
    while try isTaken(free) {
      guard free < last else { return nil }
      taken = free
      free = min(last, free.multipliedReportingOverflow(by: 2).overflow ? last : free * 2)
    }
    while free - taken > 1 {
      let middle = taken + (free - taken) / 2
      if try isTaken(middle) { taken = middle } else { free = middle }
    }
    tried = free
    return free
  }
}
