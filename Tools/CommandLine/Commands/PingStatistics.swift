/// The outcome of the pings: pure, with the times as arguments.
struct PingStatistics: Sendable {
  private(set) var sent: UInt64 = 0
  private(set) var received: UInt64 = 0
  private var shortest = Duration.zero
  private var longest = Duration.zero
  private var total = Duration.zero
  /// Pings without an answer; only the latest, since the remote side may take pings and never answer.
  private var waiting: [UInt64: ContinuousClock.Instant] = [:]
  /// The most pings that are waited for.
  static let waitingLimit: UInt64 = 1 << 14

  /// Whether the last ping has been sent.
  private(set) var hasSentAll = false

  /// Whether no further answer can come. Once true, it stays so: an answer to the ping before the last one does not end
  /// the wait for the last.
  var isComplete: Bool { hasSentAll && waiting.isEmpty }

  mutating func sendNoMore() { hasSentAll = true }

  /// The number of the ping that is sent now.
  mutating func send(at now: ContinuousClock.Instant) -> UInt64 {
    sent += 1
    waiting[sent] = now
    if sent > Self.waitingLimit { waiting[sent - Self.waitingLimit] = nil }
    return sent
  }

  /// Notes an answer and returns the round trip; nil for an answer that was not requested, or has come before.
  mutating func receive(_ number: UInt64, at now: ContinuousClock.Instant) -> Duration? {
    guard let start = waiting.removeValue(forKey: number) else { return nil }
    let time = now - start
    shortest = received == 0 ? time : min(shortest, time)
    longest = max(longest, time)
    total += time
    received += 1
    return time
  }

  /// Withdraws the latest ping, which ended before its answer was due: it is not lost.
  mutating func takeBack(_ number: UInt64) {
    guard number == sent, waiting.removeValue(forKey: number) != nil else { return }
    sent -= 1
  }

  /// In the style of ping(8).
  func summary(name: String, transport: String) -> [String] {
    let lost = sent > received ? sent - received : 0
    let percent = sent == 0 ? 0 : (lost * 100 + sent / 2) / sent
    var lines = [
      "--- \(name) ping statistics ---", "\(sent) sent, \(received) received, \(percent)% lost, over \(transport)",
    ]
    if received > 0 {
      let mean = total / Double(received)
      lines.append(
        "round trip min/avg/max = \(Self.text(shortest))/\(Self.text(mean))/\(Self.text(longest)) ms")
    }
    return lines
  }

  /// Milliseconds with three decimals.
  static func text(_ time: Duration) -> String {
    let microseconds = max(0, Int64(time / .microseconds(1)))
    let fraction = String(microseconds % 1000)
    return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}
