/// The outcomes of introductions of two nodes to one another, as far as they are reported. That the two stay apart is
/// reported once while it is so, and then its end.
public struct IntroductionOutcomes: Sendable {
  /// The number of failures in a row without a connection after which the pair is reported. A single one may be chance.
  private static let missesTold = 2

  private var misses = 0
  /// The reported reason for which the two are apart.
  private var told: Ending?

  /// A report about the two nodes.
  public enum News: Equatable, Sendable {
    /// The two stay apart for this reason.
    case apart(Ending)
    /// The two are together now. They were apart for this reason.
    case together(Ending)
  }

  /// Makes an empty record.
  public init() {}

  /// Counts an introduction that has not brought the two together. A failure that may pass is reported the second time,
  /// every other failure at once.
  public mutating func failed(_ ending: Ending) -> News? {
    misses += 1
    let isNews =
      ending.reason.mayPass ? told == nil && misses == Self.missesTold : told?.reason != ending.reason
    guard isNews else { return nil }
    told = ending
    return .apart(ending)
  }

  /// The report when the two have come together; nil if they were not reported apart.
  public var end: News? { told.map(News.together) }
}
