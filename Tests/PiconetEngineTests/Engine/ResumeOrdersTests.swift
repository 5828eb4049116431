import PiconetWire
import Testing

@testable import PiconetEngine

/// A link that dies at every moment of what two members say, followed by everything in every order.
@Suite("Resuming in every order")
struct ResumeOrdersTests {
  /// Two members; each sends messages, and the link is lost at some moment.
  private func world(messages: [Int], told: [Int]) -> TwoSided {
    let two = TwoSided().connected()
    for side in 0...1 {
      let far = two.sides[1 - side].node
      two.scripts[side] = (0..<messages[side]).map { number in
        { $0.take(.messageQueued(far, bytes(3, of: UInt8(number)), .reliable)) }
      }
    }
    two.scripts[told[0]].append { [unowned two] _ in two.cutAll(told: told) }
    return two
  }

  private func fault(_ two: TwoSided, _ messages: [Int]) -> String? {
    rest(two)
    let came = two.sides.map { side in
      side.log.events.flatMap { event -> [Bytes] in
        if case .messagesReceived(_, let messages, _, _) = event { messages } else { [] }
      }
    }
    for index in 0...1 where came[index] != (0..<messages[1 - index]).map({ bytes(3, of: UInt8($0)) }) {
      return "\(index) got \(came[index].map { $0.first ?? 255 })"
    }
    return linkFault(two)
  }

  /// A side that has to ask or to wait does so: one that was not told takes ten seconds to notice.
  private func rest(_ two: TwoSided) {
    for _ in 0..<7 {
      for side in two.sides { side.wait(.seconds(2)) }
      two.settle()
    }
  }

  /// Both are members over one link, and were told so.
  private func linkFault(_ two: TwoSided) -> String? {
    if two.isBreached { return "a rule was broken" }
    for index in 0...1 {
      let side = two.sides[index]
      guard side.census.members == 1, side.census.links == 1, side.census.dials == 0 else {
        return "\(index): \(side.census)"
      }
      var isSuspended = false
      for event in side.log.events {
        switch event {
        case .suspended:
          if isSuspended { return "\(index) is suspended twice" }
          isSuspended = true
        case .resumed: isSuspended = false
        case .disconnected: return "\(index) is disconnected"
        default: break
        }
      }
      if isSuspended { return "\(index) stays suspended" }
    }
    let associations = two.sides.compactMap { $0.engine.associations.values.first }
    return associations[0].link?.id == associations[1].link?.id ? nil : "two links"
  }

  @Test(
    "a link lost between any two events loses, doubles and reorders nothing",
    arguments: [[0, 1], [1, 0], [0], [1]])
  func everyOrder(told: [Int]) {
    for messages in [[2, 0], [0, 2], [1, 1]] {
      let orders = TwoSided.inEveryOrder(limit: 20_000, of: { world(messages: messages, told: told) }) {
        fault($0, messages)
      }
      #expect(orders >= 1)
    }
  }

  // MARK: Streams and transfers

  private static let stream = StreamID(rawValue: 1)
  private static let transfer = TransferID(rawValue: 1)

  /// The writer's steps: a stream of two pieces and its end.
  private func writing(to far: NodeID) -> [(Side) -> Void] {
    [
      { $0.command(.openStream(Self.stream, to: far, name: "s"), id: 70) },
      { $0.take(.streamWritten(Self.stream, bytes(3, of: 1))) },
      {
        $0.take(.streamWritten(Self.stream, bytes(2, of: 2)))
        $0.command(.finishStream(Self.stream), id: 71)
      },
    ]
  }

  private func streamWorld(writer: Int, told: [Int]) -> TwoSided {
    let two = TwoSided().connected()
    two.scripts[writer] = writing(to: two.sides[1 - writer].node)
    two.scripts[told[0]].append { [unowned two] _ in two.cutAll(told: told) }
    two.reactions[1 - writer] = { _, event in
      if case .streamReceived(let stream, let bytes) = event {
        return .streamConsumed(stream, byteCount: bytes.count)
      }
      return nil
    }
    return two
  }

  private func streamFault(_ two: TwoSided, writer: Int) -> String? {
    rest(two)
    let (sender, reader) = (two.sides[writer], two.sides[1 - writer])
    let came = reader.log.events.flatMap { event -> Bytes in
      if case .streamReceived(_, let bytes) = event { bytes } else { [] }
    }
    if came != [1, 1, 1, 2, 2] { return "the reader got \(came)" }
    let ends = reader.log.events.compactMap { if case .streamEnded(_, let end) = $0 { end } else { nil } }
    if ends != [.finished] { return "the reader was told \(ends)" }
    if sender.log.replies(to: 71) != [.done] { return "the writer was told \(sender.log.replies(to: 71))" }
    if two.sides.contains(where: { $0.census.streams != 0 }) { return "a stream is left" }
    return linkFault(two)
  }

  @Test(
    "a link lost between any two events of a stream changes nothing of it", arguments: [[0, 1], [1, 0], [0], [1]])
  func streams(told: [Int]) {
    for writer in 0...1 {
      let orders = TwoSided.inEveryOrder(limit: 20_000, of: { streamWorld(writer: writer, told: told) }) {
        streamFault($0, writer: writer)
      }
      #expect(orders >= 1)
    }
  }

  /// A file of two chunks; its sender lets it rest and go on if asked to.
  private func transferWorld(sender: Int, told: [Int], rests: Bool) -> TwoSided {
    let small = configuration {
      $0.frameLimit = 1_024
      $0.readSize = 1_024
      $0.transferWindow = 2_048
    }
    let two = TwoSided(small, small).connected()
    let far = two.sides[1 - sender].node
    two.scripts[sender] = [
      { $0.command(.offer(Self.transfer, to: far, ResourceOffer(name: [1], size: 1_500)), id: 80) }
    ]
    if rests {
      for isPaused in [true, false] {
        two.scripts[sender].append { $0.command(.pauseTransfer(Self.transfer, isPaused), id: isPaused ? 81 : 82) }
      }
    }
    two.scripts[told[0]].append { [unowned two] _ in two.cutAll(told: told) }
    two.reactions[1 - sender] = { _, event in
      guard case .offerReceived(let transfer, _, _) = event else { return nil }
      return .commanded(CommandID(rawValue: 85), .acceptOffer(transfer, offset: 0))
    }
    return two
  }

  private func transferFault(_ two: TwoSided, sender: Int) -> String? {
    rest(two)
    let (from, to) = (two.sides[sender], two.sides[1 - sender])
    if from.log.replies(to: 80) != [.stored(name: Array("stored".utf8))] {
      return "the sender was told \(from.log.replies(to: 80))"
    }
    let ends = to.log.events.compactMap { event -> Ending?? in
      if case .transferEnded(_, let ending) = event { .some(ending) } else { nil }
    }
    if ends != [nil] { return "the receiver was told \(ends)" }
    let stored = to.log.effects.reduce(0) { sum, effect in
      if case .storeChunk(_, let bytes) = effect { sum + bytes.count } else { sum }
    }
    if stored != 1_500 { return "the receiver stored \(stored) bytes" }
    if two.sides.contains(where: { $0.census.transfersIncoming + $0.census.transfersOutgoing != 0 }) {
      return "a transfer is left"
    }
    return linkFault(two)
  }

  @Test(
    "a link lost between any two events of a transfer leaves one file of its bytes",
    arguments: [[0, 1], [1, 0], [0], [1]], [false, true])
  func transfers(told: [Int], rests: Bool) {
    for sender in 0...1 {
      let orders = TwoSided.inEveryOrder(
        limit: 40_000, of: { transferWorld(sender: sender, told: told, rests: rests) }
      ) { transferFault($0, sender: sender) }
      #expect(orders >= 1)
    }
  }
}
