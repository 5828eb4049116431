import PiconetWire
import Testing

@testable import PiconetEngine

/// The end of a stream from either side in every order, with its number used again at once.
@Suite("Streams in every order")
struct StreamOrdersTests {
  /// The writer: o(pen), w(rite to the last), f(inish the last), c(ancel the last). The reader: r(ead what has come),
  /// c(ancel the last that was opened).
  static let scripts = [
    "owf|r", "owf|c", "owf|rc", "owf|cr", "owc|r", "owc|c", "owfc|r", "owfc|c", "owfc|rc", "of|c", "oc|c", "oc|r",
    "ow|c", "oww|cc", "owwf|r", "owfowf|rr", "owfowf|c", "ocowf|c", "ocowf|r", "owfowc|c", "owcowf|cr", "ofcof|c",
  ]

  private func perform(_ letter: Character, _ stream: StreamID, _ id: UInt64) -> (Side) -> Void {
    let far = node(9)
    switch letter {
    case "o": return { $0.command(.openStream(stream, to: far, name: "s\(stream.rawValue)"), id: id) }
    case "w": return { $0.take(.streamWritten(stream, bytes(1_500))) }
    case "f": return { $0.command(.finishStream(stream), id: id) }
    default: return { $0.command(.cancelStream(stream, .cancelled, detail: "w"), id: id) }
    }
  }

  private func answer(_ letter: Character, _ id: UInt64) -> (Side) -> Void {
    { side in
      switch letter {
      case "r":
        var waiting: [StreamID: Int] = [:]
        for case .streamReceived(let stream, let bytes) in side.log.events {
          waiting[stream, default: 0] += bytes.count
        }
        for case .streamEnded(let stream, .finished) in side.log.events { waiting[stream, default: 0] += 0 }
        // What was read before counts once: the engine takes no more as read than has come.
        for (stream, count) in waiting.sorted(by: { $0.key < $1.key }) {
          side.take(.streamConsumed(stream, byteCount: count))
        }
      default:
        let opened = side.log.events.compactMap { event -> StreamID? in
          if case .streamOpened(let stream, _, _) = event { return stream }
          return nil
        }
        side.command(.cancelStream(opened.last ?? StreamID(rawValue: .max), .notWanted, detail: "r"), id: id)
      }
    }
  }

  private func world(_ script: String, limit: Int) -> TwoSided {
    let limits = configuration {
      $0.frameLimit = 1_024
      $0.streamLimit = limit
    }
    let two = TwoSided(limits, limits).connected()
    let parts = script.split(separator: "|").map { Array($0) }
    var stream: UInt64 = 0
    two.scripts[0] = parts[0].enumerated().map { place, letter in
      if letter == "o" { stream += 1 }
      return perform(letter, StreamID(rawValue: stream), UInt64(place + 1))
    }
    two.scripts[1] = parts[1].enumerated().map { answer($1, UInt64($0 + 1)) }
    return two
  }

  private func fault(_ two: TwoSided, _ script: String) -> String? {
    if two.isBreached { return "a rule was broken" }
    guard two.sides[0].census.members == 1, two.sides[1].census.members == 1 else { return "they are not connected" }
    let (writer, reader) = (two.sides[0], two.sides[1])
    guard let out = writer.engine.associations[reader.node]?.streams.outgoing,
      let into = reader.engine.associations[writer.node]?.streams.incoming
    else { return "no association" }
    // What is open on one side is open on the other, in the same way.
    guard out.keys.sorted() == into.keys.sorted() else { return "open are \(out.keys) and \(into.keys)" }
    for (number, stream) in out {
      guard let phase = into[number]?.phase else { return "\(number) is open on one side" }
      switch (stream.phase, phase) {
      case (.open, .open), (.ended, .ended): break
      default: return "\(number) is \(stream.phase) there and \(phase) here"
      }
      if stream.sent != into[number]?.received { return "\(number) has lost bytes" }
    }
    return faultOfWriter(writer, out, Array(script.split(separator: "|")[0])) ?? faultOfReader(reader, writer, into)
  }

  private func faultOfWriter(_ writer: Side, _ out: [UInt64: StreamSender], _ letters: [Character]) -> String? {
    var stream: UInt64 = 0
    for (place, letter) in letters.enumerated() {
      if letter == "o" { stream += 1 }
      let replies = writer.log.replies(to: UInt64(place + 1))
      let isOpen = out.values.contains { $0.id.rawValue == stream }
      switch letter {
      case "f": guard replies.count == (isOpen ? 0 : 1) else { return "f\(stream) has \(replies)" }
      case "w": break
      default: guard replies.count == 1 else { return "\(letter)\(stream) has \(replies)" }
      }
      let stops = writer.log.events.count { event in
        if case .streamStopped(StreamID(rawValue: stream), _) = event { return true }
        return false
      }
      if stops > 1 { return "\(stream) was stopped \(stops) times" }
      if letter == "f", replies == [.done], stops != 0 { return "\(stream) was stopped and read to its end" }
    }
    return nil
  }

  private func faultOfReader(_ reader: Side, _ writer: Side, _ into: [UInt64: StreamReceiver]) -> String? {
    for case .streamOpened(let stream, _, _) in reader.log.events {
      let ends = reader.log.events.compactMap { event -> StreamEnd? in
        if case .streamEnded(stream, let end) = event { return end }
        return nil
      }
      let isOpen = into.values.contains { $0.id == stream && $0.phase == .open }
      // A writer may give up a stream that it has ended and that is not read yet.
      let isTwice = ends.count == 2 && ends[0] == .finished && ends[1] == .cancelled(Ending(.cancelled, .peer, "w"))
      guard ends.count == (isOpen ? 0 : 1) || isTwice else { return "\(stream) ended so: \(ends)" }
    }
    return nil
  }

  @Test("both sides see one end, and numbers are taken again in safety", arguments: scripts)
  func outcomes(script: String) {
    let hasSeveral = script.filter { $0 == "o" }.count > 1
    for limit in hasSeveral ? [1, 64] : [64] {
      #expect(TwoSided.inEveryOrder(of: { world(script, limit: limit) }, fault: { fault($0, script) }) >= 1)
    }
  }
}
