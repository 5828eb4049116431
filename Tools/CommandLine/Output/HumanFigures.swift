import Piconet

/// Figures in readable form.
enum HumanFigures {
  /// `999 B`, `1.5 kB`, `12 MB`: powers of 1000 as in the SI, with at least two digits.
  static func bytes(_ count: Int64) -> String { ByteFigures.text(UInt64(max(0, count))) }

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

  /// `less than 0.1 s`, `0.4 s`, `12 s`, `2:10`: how long something took.
  static func elapsed(_ duration: Duration) -> String {
    let tenths = Int64(max(.zero, duration) / .milliseconds(100))
    if tenths == 0 { return "less than 0.1 s" }
    if tenths < 100 { return "\(tenths / 10).\(tenths % 10) s" }
    return tenths < 600 ? "\(tenths / 10) s" : time(duration)
  }

  /// `999`, `1,000`, `12,345,678`.
  static func count(_ count: Int) -> String {
    let digits = String(abs(count))
    let grouped = digits.enumerated().reduce(into: count < 0 ? "-" : "") { text, digit in
      if digit.offset > 0, (digits.count - digit.offset).isMultiple(of: 3) { text += "," }
      text.append(digit.element)
    }
    return grouped
  }

  /// `1 file`, `1,000 files`.
  static func files(_ count: Int) -> String { "\(self.count(count)) file\(count == 1 ? "" : "s")" }

  private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
