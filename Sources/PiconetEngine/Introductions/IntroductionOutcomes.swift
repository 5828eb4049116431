/// What introductions of two nodes to one another have come to, as far as anybody is to be told of it: that they stay
/// apart, once as long as it is so, and that it is over.
public struct IntroductionOutcomes: Sendable {
  /// After so many in a row that have found no way it is told. One may fail by chance.
  private static let missesTold = 2

  private var misses = 0
  /// Why the two are apart, as it was told.
  private var told: Ending?

  /// What is to be told.
  public enum News: Equatable, Sendable {
    /// The two stay apart for this reason.
    case apart(Ending)
    /// They are not apart any more, as they were for this reason.
    case together(Ending)
  }

  /// None yet.
  public init() {}

  /// An introduction has ended without bringing the two together. One that may succeed later is told the second time,
  /// every other one at once.
  public mutating func failed(_ ending: Ending) -> News? {
    misses += 1
    let isNews =
      ending.reason.mayPass ? told == nil && misses == Self.missesTold : told?.reason != ending.reason
    guard isNews else { return nil }
    told = ending
    return .apart(ending)
  }

  /// What is to be told when the two have come together; nil if they were not told of as apart.
  public var end: News? { told.map(News.together) }
}
