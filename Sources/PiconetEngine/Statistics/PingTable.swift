import PiconetWire

/// Pings of one link that wait for their answers: those of the heartbeat, and those that the application asked for.
struct PingTable: Sendable {
  private struct Waiting: Sendable {
    let token: UInt64
    let sentAt: Instant
    /// Nil for a heartbeat.
    let caller: Caller<ResultKind.RoundTrip>?
    let deadline: Instant?
  }

  private var waiting: [Waiting] = []
  private var nextToken: UInt64 = 0
  private(set) var roundTrip: RoundTripEstimate?

  /// The maximum number of the application's pings that may wait on one link.
  static let limit = 16
  /// The maximum number of heartbeats that may wait for their answers; beyond it the oldest is forgotten.
  private static let heartbeatLimit = 4

  var isFull: Bool { waiting.count { $0.caller != nil } >= Self.limit }
  /// When the first of the application's pings runs out of time.
  var nextDeadline: Instant? { waiting.compactMap(\.deadline).min() }
  /// The application's pings, oldest first.
  var callers: [Caller<ResultKind.RoundTrip>] { waiting.compactMap(\.caller) }

  /// - Returns: the token to send.
  mutating func begin(
    _ caller: Caller<ResultKind.RoundTrip>?, deadline: Instant? = nil, at now: Instant
  ) -> UInt64 {
    if caller == nil, waiting.count(where: { $0.caller == nil }) >= Self.heartbeatLimit,
      let oldest = waiting.firstIndex(where: { $0.caller == nil })
    {
      waiting.remove(at: oldest)
    }
    defer { nextToken = (nextToken + 1) & VariableInteger.max }
    waiting.append(Waiting(token: nextToken, sentAt: now, caller: caller, deadline: deadline))
    return nextToken
  }

  /// Takes out a ping of the application. Its token is not used again, so a late answer can't be taken for another
  /// ping's.
  /// - Returns: nil if the ping does not wait here.
  mutating func cancel(_ command: CommandID) -> Caller<ResultKind.RoundTrip>? {
    guard let index = waiting.firstIndex(where: { $0.caller?.command == command }) else { return nil }
    return waiting.remove(at: index).caller
  }

  /// Takes an incoming pong. A pong that nothing waits for is ignored: the remote side may invent them.
  mutating func answered(
    _ token: UInt64, at now: Instant
  ) -> (caller: Caller<ResultKind.RoundTrip>, roundTrip: Duration)? {
    guard let index = waiting.firstIndex(where: { $0.token == token }) else { return nil }
    let ping = waiting.remove(at: index)
    let sample = now - ping.sentAt
    if roundTrip == nil { roundTrip = RoundTripEstimate(first: sample) } else { roundTrip?.add(sample) }
    return ping.caller.map { ($0, sample) }
  }

  /// Takes out the application's pings that have waited too long.
  mutating func expired(at now: Instant) -> [Caller<ResultKind.RoundTrip>] {
    let over = waiting.filter { ping in ping.deadline.map { $0 <= now } ?? false }
    if !over.isEmpty { waiting.removeAll { ping in ping.deadline.map { $0 <= now } ?? false } }
    return over.compactMap(\.caller)
  }
}
