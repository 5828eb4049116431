import PiconetWire
import Testing

@testable import PiconetEngine

/// A link that dies at every moment of what two members say, and every order of what follows.
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
    // Whoever has to ask or to wait does so: a side that was not told takes ten seconds to notice.
    for _ in 0..<7 {
      for side in two.sides { side.wait(.seconds(2)) }
      two.settle()
    }
    if two.isBreached { return "a rule was broken" }
    for index in 0...1 {
      let side = two.sides[index]
      guard side.census.members == 1, side.census.links == 1, side.census.dials == 0 else {
        return "\(index): \(side.census)"
      }
      let came = side.log.events.flatMap { event -> [Bytes] in
        if case .messagesReceived(_, let messages, _) = event { messages } else { [] }
      }
      guard came == (0..<messages[1 - index]).map({ bytes(3, of: UInt8($0)) }) else {
        return "\(index) got \(came.map { $0.first ?? 255 })"
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
    return associations[0].link == associations[1].link ? nil : "two links"
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
}
