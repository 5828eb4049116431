import Piconet

/// What is known about the connection to a peer, in words.
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
      "queued \(Self.bytes(statistics.queuedBytes + statistics.linkBytes)), not acknowledged "
        + "\(Self.traffic(frames: statistics.unacknowledgedFrames, UInt64(clamping: statistics.unacknowledgedBytes))); "
        + "credit \(HumanFigures.bytes(Int64(clamping: statistics.sendCredit))) to send, "
        + "\(HumanFigures.bytes(Int64(clamping: statistics.receiveCredit))) to receive",
    ]
  }

  private var roundTrip: String {
    guard let roundTrip = statistics.roundTrip else { return "round trip not measured" }
    return "round trip min/avg/last = "
      + [roundTrip.shortest, roundTrip.smoothed, roundTrip.last].map { PingStatistics.text($0) }.joined(separator: "/")
      + " ms"
  }

  private static func bytes(_ count: Int) -> String { HumanFigures.bytes(Int64(clamping: count)) }

  private static func traffic(_ count: MemberStatistics.Traffic) -> String {
    traffic(frames: count.frames, count.bytes)
  }

  private static func traffic(frames: UInt64, _ bytes: UInt64) -> String {
    "\(HumanFigures.bytes(Int64(clamping: bytes))) in \(frames) frame\(frames == 1 ? "" : "s")"
  }
}
