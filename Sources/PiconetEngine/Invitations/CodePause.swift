/// The pause after a wrong typed code, during which no other code is accepted. The refusal of a try states it in words:
/// the wire has no field for it.
public struct CodePause: Hashable, Sendable {
  /// The pause, in whole milliseconds and not negative.
  public let duration: Duration

  private static let beginning = "tries were wrong before: the next one is taken in "
  /// An upper bound in seconds for every pause.
  private static let longest: Int64 = 1_000_000

  init(_ duration: Duration) { self.duration = duration }

  /// The text that a person reads.
  var words: String { Self.beginning + duration.inWords }

  /// Reads the output of `words`; nil for any other text. A peer may have written the text.
  public init?(words: String) {
    guard words.hasPrefix(Self.beginning) else { return nil }
    let parts = words.dropFirst(Self.beginning.count).split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let number = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = number.first.flatMap(Self.number), whole <= Self.longest else { return nil }
    switch (parts[1], number.count) {
    case ("ms", 1): duration = .milliseconds(whole)
    case ("s", 1): duration = .seconds(whole)
    case ("s", 2):
      guard number[1].count <= 3, let rest = Self.number(number[1]) else { return nil }
      let scale: [Int64] = [1, 100, 10, 1]
      duration = .seconds(whole) + .milliseconds(rest * scale[number[1].count])
    default: return nil
    }
  }

  /// Reads a number that consists of digits only.
  private static func number(_ text: Substring) -> Int64? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(text) : nil
  }
}
