import Piconet

/// What the connection to a peer was like, in words. What was queued or not acknowledged when it was looked at last has
/// arrived or was given up since: that is not among them.
struct ConnectionFigures: Sendable {
  private let statistics: MemberStatistics

  init(_ statistics: MemberStatistics) { self.statistics = statistics }

  var lines: [String] {
    let (sent, received) = (statistics.sent, statistics.received)
    let dropped = statistics.unreliableDropped + statistics.unreliableLate
    return [
      "connection: \(statistics.transport.map { "\($0)" } ?? "no link now"), " + roundTrip,
      "sent \(Self.traffic(sent)); received \(Self.traffic(received)); sent again "
        + "\(Self.traffic(frames: statistics.retransmitted.frames, statistics.retransmitted.bytes)); dropped \(dropped)",
    ]
  }

  private var roundTrip: String {
    guard let roundTrip = statistics.roundTrip else { return "round trip not measured" }
    return "round trip min/avg/last = "
      + [roundTrip.shortest, roundTrip.smoothed, roundTrip.last].map { PingStatistics.text($0) }.joined(separator: "/")
      + " ms"
  }

  private static func traffic(_ count: MemberStatistics.Traffic) -> String {
    traffic(frames: count.frames, count.bytes)
  }

  private static func traffic(frames: UInt64, _ bytes: UInt64) -> String {
    "\(HumanFigures.bytes(Int64(clamping: bytes))) in \(frames) frame\(frames == 1 ? "" : "s")"
  }
}
