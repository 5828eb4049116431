import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Two that keep to the rules, with more under way than may be kept")
struct CrowdedTests {
  /// Two members: the first one may keep little, the second one takes much.
  private func world(_ random: inout SeededRandom) -> TwoSided {
    let small = configuration {
      $0.messageLimit = 4_000
      $0.messageWindow = 8_000
      $0.frameLimit = 1_024
      $0.transmitWindow = 8_192
      $0.transferLimit = 200
      $0.streamLimit = 200
    }
    var large = small
    large.messageWindow = 8 << 20
    let two = TwoSided(small, large).connected()
    for index in 0...1 {
      let far = two.sides[1 - index].node
      for number in 0..<(index == 0 ? 900 : 300) as Range<UInt64> {
        let kind = Int.random(in: 0...5, using: &random)
        two.scripts[index].append(Self.action(index == 0 ? kind : kind % 3 + 1, number, to: far))
      }
      two.reactions[index] = Self.reaction
    }
    return two
  }

  private static func action(_ kind: Int, _ number: UInt64, to far: NodeID) -> (Side) -> Void {
    let transfer = TransferID(rawValue: 1 + number)
    let stream = StreamID(rawValue: 1 + number)
    switch kind {
    case 1:
      return {
        $0.command(.offer(transfer, to: far, ResourceOffer(name: bytes(700).map { $0 }, size: 1)), id: 5_000 + number)
      }
    case 2:
      return { side in
        side.command(.openStream(stream, to: far, name: "read"))
        side.take(.streamWritten(stream, bytes(600)))
        side.command(.finishStream(stream), id: 5_000 + number)
      }
    case 3:
      return { side in
        side.command(.openStream(stream, to: far, name: "given up"))
        side.command(.cancelStream(stream, .cancelled, detail: String(repeating: "d", count: 255)))
      }
    default: return { $0.take(.messageQueued(far, bytes(4_000), .reliable)) }
    }
  }

  private static func reaction(_ side: Side, _ event: Event) -> Fact? {
    switch event {
    case .offerReceived(let id, _, _):
      let detail = String(repeating: "n", count: 255)
      return .commanded(CommandID(rawValue: 1), .declineOffer(id, .notWanted, detail: detail))
    case .streamReceived(let id, let bytes): return .streamConsumed(id, byteCount: bytes.count)
    case .messagesReceived(let far, let messages, .reliable, _):
      return .messagesConsumed(far, byteCount: messages.reduce(0) { $0 + $1.count + WireLimits.messageCost })
    default: return nil
    }
  }

  @Test("send everything in the end, and neither breaks a rule", arguments: 0..<6 as Range<UInt64>)
  func everythingArrives(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let two = world(&random)
    var most = 0
    // What the second one says comes late, including its acknowledgements.
    while let choice = two.choices.filter({ $0.side == 1 || $0.source == 0 }).randomElement(using: &random) {
      two.perform(choice)
      most = max(most, two.sides[0].census.keptBytes)
    }
    two.run(&random)
    let limit = two.sides[0].engine.associations[two.sides[1].node]?.keeping.own ?? .max
    #expect(most >= limit, "\(most) of \(limit) bytes: it was never crowded")
    #expect(!two.isBreached)
    #expect(two.sides.allSatisfy { $0.census.members == 1 })
    for side in two.sides {
      #expect(side.census.streams == 0 && side.census.transfersOutgoing == 0 && side.census.queuedBytes == 0)
      #expect(side.census.keptBytes < 100_000)
    }
    let arrived = two.sides[1].log.events.reduce(0) { sum, event in
      if case .messagesReceived(_, let messages, .reliable, _) = event { return sum + messages.count }
      return sum
    }
    #expect(arrived > 300)
  }
}
