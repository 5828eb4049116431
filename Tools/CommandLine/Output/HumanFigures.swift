/// Figures for people.
enum HumanFigures {
  /// `999 B`, `1.5 kB`, `12 MB`: powers of 1000 as the SI has them, two digits at least.
  static func bytes(_ count: Int64) -> String {
    var value = Double(max(0, count))
    if value < 1000 { return "\(max(0, count)) B" }
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

  /// `0:07`, `12:30`, `2:05:00`.
  static func time(_ duration: Duration) -> String {
    let total = max(0, duration.components.seconds)
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60)
    return hours > 0 ? "\(hours):\(padded(minutes)):\(padded(seconds))" : "\(minutes):\(padded(seconds))"
  }

  /// `30 s`, `0.5 s`.
  static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration / .milliseconds(1)
    return milliseconds.truncatingRemainder(dividingBy: 1000) == 0
      ? "\(Int64(milliseconds / 1000)) s" : "\(milliseconds / 1000) s"
  }

  private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
