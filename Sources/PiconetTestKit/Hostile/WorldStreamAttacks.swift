import PiconetEngine
import PiconetWire

/// Attacks of a hostile node on streams, its own and others'.
extension World {
  /// Returns the frames of one round of an attack.
  func streamFrames(_ session: HostileNode.Session, _ node: HostileNode) -> [Frame] {
    let payload = node.dice.bytes(node.dice.number(1...900))[...]
    let own = UInt64(session.rounds)
    switch session.attack {
    case .streamsOutOfOrder:
      let first: [Frame] = [.openStream(stream: own, name: "x"), .streamData(stream: own, payload)]
      return node.dice.pick([
        // Before it is open, after its end, opened twice, ended twice, opened again before the remote side's last word,
        // after a reset.
        [.streamData(stream: own, payload)], [.endStream(stream: own)],
        first + [.endStream(stream: own), .streamData(stream: own, payload)],
        first + [.openStream(stream: own, name: "y")],
        first + [.endStream(stream: own), .endStream(stream: own)],
        first + [.endStream(stream: own), .openStream(stream: own, name: "early")],
        first + [.resetStream(stream: own, .cancelled, detail: "x"), .streamData(stream: own, payload)],
      ])
    case .foreignStreams:
      // Numbers of other peers' streams.
      let foreign = UInt64(node.dice.number(0...3))
      return [
        node.dice.pick([
          .streamDone(stream: foreign), .stopStream(stream: foreign, .notWanted, detail: "not mine"),
          .streamCredit(stream: foreign, limit: 1 << 50), .resetStream(stream: foreign, .cancelled, detail: ""),
          .endStream(stream: foreign), .streamData(stream: foreign, payload),
        ])
      ]
    case .streamCreditOverflow:
      return session.streams.flatMap { stream -> [Frame] in
        [.streamCredit(stream: stream, limit: VariableInteger.max), .streamCredit(stream: stream, limit: 0)]
          + node.dice.pick([
            [], [.streamDone(stream: stream)],
            [.stopStream(stream: stream, .cancelled, detail: ""), .stopStream(stream: stream, .cancelled, detail: "")],
          ])
      }
    default:
      // Streams are opened, filled and given up endlessly. Their remains must not pile up.
      return (0..<30).flatMap { number -> [Frame] in
        [
          .openStream(stream: UInt64(number), name: "churn"), .streamData(stream: UInt64(number), payload.prefix(50)),
          .resetStream(stream: UInt64(number), .cancelled, detail: "again"),
        ]
      }
    }
  }
}
