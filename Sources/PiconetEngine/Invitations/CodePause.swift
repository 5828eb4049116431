/// The pause after a wrong typed code in which no other is taken, as the refusal of a try words it: the wire has no
/// field for it.
public struct CodePause: Hashable, Sendable {
  /// Not negative, to the millisecond.
  public let duration: Duration

  private static let beginning = "tries were wrong before: the next one is taken in "
  /// More seconds than any pause has.
  private static let longest: Int64 = 1_000_000

  init(_ duration: Duration) { self.duration = duration }

  /// What a person reads.
  var words: String { Self.beginning + duration.inWords }

  /// Reads what `words` gives; nil for any other text. A peer may have written it.
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

  /// Of digits alone.
  private static func number(_ text: Substring) -> Int64? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int64(text) : nil
  }
}
