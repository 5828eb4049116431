import Glibc

/// How fast a file moves: an exponentially weighted estimate, so that the figure neither jumps with each chunk nor
/// reflects what was true a minute ago. The clock is an argument.
struct TransferRate: Sendable {
  /// After this time, what was measured before counts for 1/e.
  static let memory = Duration.seconds(3)
  /// Measurements closer together than this are merged: a burst out of a buffer says nothing about the rate.
  static let shortestSample = Duration.milliseconds(100)

  private var sampleStart: (bytes: Int64, at: ContinuousClock.Instant)?
  /// Sums in which each second and its bytes lose weight at the same pace; their quotient is right from the first
  /// sample on.
  private var weightedBytes = 0.0
  private var weightedSeconds = 0.0

  /// `done` bytes of the file had been moved at `now`. A smaller count than before (a file sent again) starts over.
  mutating func record(done: Int64, at now: ContinuousClock.Instant) {
    guard let start = sampleStart, done >= start.bytes else {
      self = TransferRate()
      sampleStart = (done, now)
      return
    }
    let elapsed = now - start.at
    guard elapsed >= Self.shortestSample else { return }
    let seconds = elapsed / .seconds(1)
    let keep = exp(-(elapsed / Self.memory))
    weightedBytes = weightedBytes * keep + Double(done - start.bytes)
    weightedSeconds = weightedSeconds * keep + seconds
    sampleStart = (done, now)
  }

  /// Bytes per second; nil until there is an estimate.
  var bytesPerSecond: Double? { weightedSeconds > 0 ? weightedBytes / weightedSeconds : nil }

  /// The time that `bytes` more will take; nil if there is no estimate.
  func timeLeft(forBytes bytes: Int64) -> Duration? {
    guard let rate = bytesPerSecond, rate > 0 else { return nil }
    let seconds = Double(max(0, bytes)) / rate
    return seconds < 1e9 ? .milliseconds(Int64(seconds * 1000)) : nil
  }
}
