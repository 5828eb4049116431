/// Counts of bytes as a person reads them.
package enum ByteFigures {
  /// Returns a count such as `999 B`, `1.5 kB`, `12 MB`: powers of 1000 as in the SI, with at least two digits.
  package static func text(_ count: UInt64) -> String {
    var value = Double(count)
    if value < 1000 { return "\(count) B" }
    for unit in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      value /= 1000
      // 9.95 would be shown as 10.0, 999.5 as 1000.
      if value < 9.95 {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
      }
      if value < 999.5 { return "\(Int(value.rounded())) \(unit)" }
    }
    return "\(Int(value.rounded())) EB"
  }
}
