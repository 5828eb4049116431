/// Which files of this side a disk does not give. A value: its owner looks again and again, and supplies the time.
struct SlowReads<Key: Hashable & Sendable>: Sendable {
  /// A call that lasts as long is not waited for.
  let limit: Duration
  private var seen: [Key: Seen] = [:]
  private var last: ContinuousClock.Instant?

  private struct Seen: Sendable {
    /// When the call began.
    let since: ContinuousClock.Instant
    /// For how long it has been seen, as far as this process ran.
    var lasted: Duration
  }

  init(limit: Duration) { self.limit = limit }

  /// How often it is looked.
  var interval: Duration { min(.seconds(1), limit / 4) }

  /// Whether a call has lasted for so long that the receiver waits for this side.
  var isAny: Bool { seen.values.contains { $0.lasted >= interval } }

  /// - Parameter calls: since when one call has been reading each file.
  /// - Returns: the files of calls that have lasted for too long.
  mutating func look(_ calls: [Key: ContinuousClock.Instant], at now: ContinuousClock.Instant) -> [Key] {
    // A look that comes far too late tells that this process did not run.
    let passed = last.map { min(now - $0, interval + WaitingTime.tolerance) } ?? .zero
    last = now
    var next: [Key: Seen] = [:]
    for (key, since) in calls {
      if var call = seen[key], call.since == since {
        call.lasted += passed
        next[key] = call
      } else {
        next[key] = Seen(since: since, lasted: min(now - since, passed))
      }
    }
    seen = next
    return next.filter { $0.value.lasted >= limit }.map(\.key)
  }
}
