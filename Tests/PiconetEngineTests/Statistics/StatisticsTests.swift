import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Statistics of an association")
struct StatisticsTests {
  private func statistics(_ side: Side, of far: Side) throws -> AssociationStatistics {
    try #require(side.statistics(of: far.node))
  }

  @Test("what one side has sent, the other has received")
  func bothSidesAgree() throws {
    let two = TwoSided().connected()
    let (near, far) = (two.sides[0], two.sides[1])
    let before = try (statistics(near, of: far), statistics(far, of: near))
    for size in [0, 1, 63, 64, 20_000, 60_000] {
      near.take(.messageQueued(far.node, bytes(size), .reliable))
      near.take(.messageQueued(far.node, bytes(min(size, 1_000)), .unreliable))
    }
    let offer = ResourceOffer(name: [1], size: 100_000)
    two.reactions[1] = { side, event in
      guard case .offerReceived(let id, _, _) = event else { return nil }
      return .commanded(CommandID(rawValue: 77), .acceptOffer(id, offset: 0))
    }
    near.command(.offer(TransferID(rawValue: 1), to: far.node, offer), id: 5)
    two.settle()
    let (sent, received) = try (statistics(near, of: far), statistics(far, of: near))
    #expect(sent.sent.messages == received.received.messages)
    #expect(sent.sent.messages.frames == 4 + 2 + 4)
    #expect(sent.sent.unreliable == received.received.unreliable)
    #expect(sent.sent.unreliable.frames == 6)
    #expect(sent.sent.chunks == received.received.chunks)
    #expect(sent.sent.chunks.bytes > 100_000)
    #expect(sent.sent.bytes - before.0.sent.bytes == received.received.bytes - before.1.received.bytes)
    #expect(received.sent.bytes - before.1.sent.bytes == sent.received.bytes - before.0.received.bytes)
    #expect(sent.sent.bytes > 180_000)
  }

  @Test("what waits, and credit both ways")
  func queues() throws {
    let one = OneSided(configuration { $0.messageWindow = 200_000 }).connected { $0.limits.messageWindow = 10_000 }
    var now = try #require(one.side.statistics(of: one.far))
    #expect(now.sendCredit == 10_000 && now.receiveCredit == 200_000 && now.queuedBytes == 0)
    one.side.take(.messageQueued(one.far, bytes(4_000), .reliable))
    one.side.take(.messageQueued(one.far, bytes(7_000), .reliable))
    one.receive(.message(bytes(968)))
    now = try #require(one.side.statistics(of: one.far))
    #expect(now.sendCredit == 10_000 - 4_032)
    #expect(now.queuedBytes == 7_032)
    #expect(now.receiveCredit == 199_000)
    #expect(now.link == someTraits)
    one.side.wait(.seconds(3))
    now = try #require(one.side.statistics(of: one.far))
    #expect(now.age == one.side.now - seconds(1))
  }

  @Test("unreliable messages that the link can't take are counted")
  func dropped() throws {
    let one = OneSided().connected()
    one.side.takesAll = false
    for _ in 0..<40 { one.side.take(.messageQueued(one.far, bytes(16_000), .unreliable)) }
    let now = try #require(one.side.statistics(of: one.far))
    #expect(now.unreliableDropped > 0)
    #expect(now.unreliableDropped + now.sent.unreliable.frames == 40)
    #expect(now.linkBytes > 200_000)
  }

  @Test("there are none of a stranger")
  func strangers() {
    let one = OneSided()
    #expect(one.side.statistics(of: one.far) == nil)
  }
}
