/// Numbers as options take them. Digits are ASCII; no sign, no blank, no exponent.
enum OptionNumbers {
  /// A whole number, at least 1.
  static func count(_ argument: OptionArgument) throws(UnacceptableValue) -> Int {
    guard let digits = decimalDigits(argument.text[...]) else { throw .because("not a whole number") }
    guard let count = Int(digits) else { throw .because("too large") }
    guard count > 0 else { throw .because("must be at least 1") }
    return count
  }

  /// Bytes: `1500`, `10M`, `1.5GiB`. As in coreutils, K, M, G, T and KiB... are powers of 1024, KB, MB... powers of
  /// 1000.
  static func byteCount(_ argument: OptionArgument) throws(UnacceptableValue) -> Int64 {
    let text = argument.text[...]
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = byteUnits[text[number.endIndex...].uppercased()] else {
      throw .because(number.isEmpty ? "not a size" : "unknown unit; use K, M, G, T, KiB... or KB...")
    }
    return try scaled(number, by: unit, what: "a size")
  }

  /// Seconds: `30`, `1.5`, `90s`, `2m`, `1h`, `250ms`. More than 0, at most a year.
  static func seconds(_ argument: OptionArgument) throws(UnacceptableValue) -> Duration {
    let text = argument.text[...]
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = millisecondUnits[String(text[number.endIndex...])] else {
      throw .because(number.isEmpty ? "not a time" : "unknown unit; use ms, s, m or h")
    }
    let milliseconds = try scaled(number, by: unit, what: "a time")
    guard milliseconds > 0 else { throw .because("must be more than 0") }
    guard milliseconds <= 365 * 86_400_000 else { throw .because("too large") }
    return .milliseconds(milliseconds)
  }

  /// Whether a word is a time with its unit, and no file that is called by a number.
  static func isTime(_ word: [UInt8]) -> Bool {
    let text = String(decoding: word, as: UTF8.self)
    return text.utf8.last.map { !(0x30...0x39).contains($0) } == true
      && (try? seconds(OptionArgument(bytes: word))) != nil
  }

  private static let byteUnits: [String: Int64] = [
    "": 1, "B": 1,
    "K": 1 << 10, "KIB": 1 << 10, "KB": 1_000,
    "M": 1 << 20, "MIB": 1 << 20, "MB": 1_000_000,
    "G": 1 << 30, "GIB": 1 << 30, "GB": 1_000_000_000,
    "T": 1 << 40, "TIB": 1 << 40, "TB": 1_000_000_000_000,
  ]

  private static let millisecondUnits: [String: Int64] = [
    "": 1_000, "s": 1_000, "ms": 1, "m": 60_000, "min": 60_000, "h": 3_600_000,
  ]

  /// A decimal number times a unit, rounded down, in integers: a Double would lose bytes above 2^53.
  private static func scaled(
    _ number: Substring, by unit: Int64, what: String
  ) throws(UnacceptableValue) -> Int64 {
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = decimalDigits(parts[0]), let integer = Int64(whole) else {
      throw .because(number.allSatisfy(\.isNumber) && !number.isEmpty ? "too large" : "not \(what)")
    }
    let (product, overflow) = integer.multipliedReportingOverflow(by: unit)
    guard !overflow else { throw .because("too large") }
    guard parts.count == 2 else { return product }
    guard let fraction = decimalDigits(parts[1]) else { throw .because("not \(what)") }
    // No one needs more than six decimals, and these fit: 10^6 * 2^40 < 2^63.
    let digits = fraction.prefix(6)
    var scale: Int64 = 1
    for _ in digits { scale *= 10 }
    let (sum, overflowed) = product.addingReportingOverflow((Int64(digits) ?? 0) * unit / scale)
    guard !overflowed else { throw .because("too large") }
    return sum
  }

  private static func decimalDigits(_ text: Substring) -> Substring? {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? text : nil
  }
}
