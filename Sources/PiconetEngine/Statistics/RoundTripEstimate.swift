/// The time for a frame and its answer, as measured by pings. Time spent waiting for the link counts, since an
/// application would see it too.
public struct RoundTripEstimate: Sendable, Hashable {
  /// The round trip of the last ping.
  public private(set) var last: Duration
  /// Smoothed as in RFC 6298, section 2: each new ping counts for an eighth.
  public private(set) var smoothed: Duration
  /// The shortest so far.
  public private(set) var shortest: Duration
  /// The number of pings answered on this link.
  public private(set) var count: UInt64

  init(first: Duration) {
    last = first
    smoothed = first
    shortest = first
    count = 1
  }

  mutating func add(_ sample: Duration) {
    last = sample
    smoothed += (sample - smoothed) / 8
    shortest = min(shortest, sample)
    count += 1
  }
}
