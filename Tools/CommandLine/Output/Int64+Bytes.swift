extension Int64 {
  /// Sizes are what peers claim: a sum beyond 64 bits stays at the largest number.
  mutating func add(bytes: Int64) {
    let (sum, isBeyond) = addingReportingOverflow(bytes)
    self = isBeyond ? (bytes < 0 ? .min : .max) : sum
  }

  init(sumOf bytes: [Int64]) {
    self = 0
    for bytes in bytes { add(bytes: bytes) }
  }
}
