import PiconetEngine
import Testing

@testable import PiconetBluetooth

@Suite struct UnsentBoundTests {
  private let configuration = UnsentBound.Configuration()

  /// The bound of a queue that drains so many bytes of payload a second, and is refilled whenever half of the bound is
  /// left.
  private func settled(payloadRate: Double, cost: Double, turns: Int = 60, lateness: Double = 0) -> UnsentBound {
    var bound = UnsentBound(configuration)
    var now = Instant(nanoseconds: 1)
    for _ in 0..<turns {
      bound.wrote(10_000, cost: Int(10_000 * cost))
      let full = bound.limit
      bound.stalled(unsent: full, at: now)
      let seconds = Double(full) / 2 / (payloadRate * cost) + lateness
      now = now + .nanoseconds(Int64(seconds * 1e9))
      _ = bound.resumed(unsent: max(full - Int(seconds * payloadRate * cost), 0), at: now)
    }
    return bound
  }

  @Test(arguments: [(50_000.0, 2.3), (250_000, 2.3), (250_000, 5), (1_000_000, 1.2)])
  func aboutAHundredMillisecondsMayWait(rate: Double, cost: Double) {
    let bound = settled(payloadRate: rate, cost: cost)
    let payload = Double(bound.limit) / bound.costPerByte
    #expect((0.08...0.13).contains(payload / rate), "\(payload / rate) s")
  }

  @Test func aSlowLinkKeepsTwoPackets() {
    let bound = settled(payloadRate: 1000, cost: 2.3)
    #expect((2000...2400).contains(Int(Double(bound.limit) / bound.costPerByte)))
  }

  @Test func aFastLinkKeepsNoMoreThanTheMost() {
    let bound = settled(payloadRate: 100_000_000, cost: 2.3)
    #expect(Int(Double(bound.limit) / bound.costPerByte) <= configuration.most)
  }

  @Test func aQueueThatRunsDryIsGivenMore() {
    let prompt = settled(payloadRate: 250_000, cost: 2.3)
    let late = settled(payloadRate: 250_000, cost: 2.3, lateness: 0.15)
    #expect(late.limit > prompt.limit * 3 / 2)
  }

  @Test(arguments: [4 << 10, 50 << 10, 400 << 10]) func thereIsRoomForAWriteWheneverTheSocketIsWritable(limit: Int) {
    var bound = UnsentBound(configuration)
    bound.wrote(10_000, cost: 20_000)
    let write = bound.largestWrite(32_668, limit: limit)
    // poll(2) reports a socket as writable below half of the limit.
    if bound.cost(of: write) <= limit / 2 {
      #expect(bound.allows(write, unsent: limit / 2 - 1, limit: limit))
    } else {
      #expect(write == PacketArithmetic.largestWrite(mtu: 1017))
    }
    #expect((write + PacketArithmetic.basicHeader) % PacketArithmetic.largestPacket == 0)
    #expect(bound.allows(write, unsent: 0, limit: limit))
    #expect(!bound.allows(write, unsent: limit, limit: limit))
  }

  @Test func aWriteIsNeverLargerThanTheLinkTakes() {
    let bound = UnsentBound(configuration)
    #expect(bound.largestWrite(672, limit: 1 << 20) == 672)
    #expect(bound.largestWrite(672, limit: 100) == 672)
    #expect(bound.largestWrite(32_668, limit: 4 << 20) == 32_668)
  }

  @Test func aWriteThatTheKernelHadNoRoomForBecomesSmaller() {
    var bound = UnsentBound(configuration)
    let limit = bound.limit
    let write = bound.largestWrite(32_668, limit: limit)
    bound.refused(write, unsent: 0, limit: limit)
    #expect(bound.largestWrite(32_668, limit: limit) <= write / 2)
  }

  @Test func aShortMessageSaysNothingOfWhatBulkCosts() {
    var bound = UnsentBound(configuration)
    bound.wrote(64, cost: 768)
    #expect(bound.costPerByte == configuration.initialCost)
  }

  @Test func aPauseOfTheWriterIsNoRate() {
    var bound = UnsentBound(configuration)
    #expect(bound.resumed(unsent: 0, at: Instant(nanoseconds: 5)) == false)
    #expect(bound.rate == nil)
  }
}
